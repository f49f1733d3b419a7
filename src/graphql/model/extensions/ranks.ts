/** Ranks of text searches, as fields of rows and entries of orders (extension `reads`). They take no name of another member. */
import { columnFix, validName } from '../comments/comment-fix.ts';
import type { Column, Model, Table } from '../model.ts';
import { describeTable, hasExtension, type ModelContext, noteOmission, tablePath } from '../model-context.ts';
import { isSearchable } from '../tables/columns.ts';
import { orderEntries, rowOf } from './added-entries.ts';

type Rank = readonly [name: string, column: Column];

/** Entries of an order by rank, with their columns. Column names are taken, by the order by value. */
export function rankEntries(table: Table): readonly Rank[] {
  const ranks = ranksOf(table);
  const taken = ranks.length === 0 ? null : orderEntries(table);
  return ranks.filter(([name]) => taken?.has(name) !== true);
}

/** Fields of a row with a rank, with their columns. */
export function rankedColumns(table: Table, routines: Model['routines']): readonly Rank[] {
  const ranks = ranksOf(table);
  const taken = ranks.length === 0 ? null : fieldsOf(table, routines);
  return ranks.filter(([name]) => taken?.has(name) !== true);
}

function ranksOf({ columns }: Table): readonly Rank[] {
  return columns.flatMap((column) =>
    column.readable && column.fieldName !== null && isSearchable(column.type)
      ? [[`${column.fieldName}Rank`, column] as const]
      : [],
  );
}

function fieldsOf({ columns, relationships, computedFields }: Table, routines: Model['routines']): ReadonlySet<string> {
  const readable = columns.filter((column) => column.readable);
  const computed = computedFields.flatMap((oid) => routines.get(oid) ?? []);
  return new Set([...readable, ...relationships, ...computed].flatMap(({ fieldName }) => fieldName ?? []));
}

/** Records those without a free name. */
export function noteRanks(context: ModelContext, table: Table, routines: Model['routines']): void {
  if (context.omissions === null || !hasExtension(context, table, 'reads')) return;
  const [entries, fields] = [rankEntries(table), rankedColumns(table, routines)];
  for (const [name, column] of ranksOf(table)) {
    const lacks = (ranks: readonly Rank[]) => ranks.every(([other]) => other !== name);
    const note = (missing: string) =>
      noteOmission(context, () => {
        const row = rowOf(context, table);
        const reason = `${describeTable(context, row)} has no ${missing} of that name.`;
        const fix = columnFix(context, row, column.name, { name: validName(`${column.name}_search`) });
        return { kind: 'name', object: tablePath(context, row), names: [name], reason, fix };
      });
    const rank = `rank of the column "${column.name}"`;
    if (lacks(entries)) note(`order by its ${rank}: the order has another entry`);
    if (lacks(fields)) note(`field for the ${rank}: it has another field`);
  }
}
