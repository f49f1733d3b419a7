/** Records names of extensions that others have already, with the comment that makes them free. */
import type { Table } from '../model.ts';
import { describeTable, type ModelContext, noteOmission, tablePath, takenBy } from '../model-context.ts';
import { otherTableName } from '../tables/tables.ts';
import { rowOf } from './added-entries.ts';

/** A name that a table lacks. */
interface TakenName {
  readonly name: string;
  /** Who has it, as a phrase. */
  readonly holder: string;
  /** What the table lacks; the name in quotes unless told. */
  readonly what?: string;
}

/** Records it. */
export function noteTakenName(
  context: ModelContext,
  table: Table,
  { name, holder, what = `"${name}"` }: TakenName,
): void {
  noteOmission(context, () => {
    const row = rowOf(context, table);
    const reason = takenBy(holder, describeTable(context, row), what);
    return { kind: 'name', object: tablePath(context, row), names: [name], reason, fix: otherTableName(context, row) };
  });
}
