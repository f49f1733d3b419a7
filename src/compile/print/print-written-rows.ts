/**
 * Prints a write whose rows are plainly selected as what one would write by hand: `update … where id = $1 returning id, title`. The
 * gateway makes the JSON. For inserts into tables, and for an update or delete by the whole key, by which `atMost` holds.
 *
 * Everything else is written by print-write.ts. These rows arrive before the commit and nothing limits them inside the
 * statement: an answer over `maxResponseBytes` is dropped, and the error says that the write is committed.
 */
import type { Table } from '../../model/model.ts';
import { pinsPrimaryKey } from '../plan/inspect-plan.ts';
import type { WriteChange, WritePlan } from '../plan/plan.ts';
import { type AnswerLayout, type AnswerPiece, layOutAll } from './answer-layout.ts';
import { printInsert } from './print-insert.ts';
import { directRow, type Names } from './print-row.ts';
import { printChangeOf } from './print-write.ts';
import type { Printer } from './printer.ts';
import {
  callsRoutine,
  isFlat,
  joinConstants,
  layOutRow,
  objectPieces,
  type RowContext,
  Selection,
} from './row-layout.ts';
import { type Sql, sql } from './sql.ts';

/** A statement and what becomes of its rows. */
export interface PrintedWrite {
  readonly statement: Sql;
  readonly layout: AnswerLayout;
}

/**
 * Prints the write; null where it is not of that kind.
 *
 * @param check Refuses other types of columns (print-type-check.ts); null: there is nothing to check.
 */
export function printWrittenRows(printer: Printer, plan: WritePlan, check: Sql | null): PrintedWrite | null {
  const { table, change, entries } = plan;
  const records = entries.filter((entry) => entry.kind === 'records');
  if (records.length > 1 || !records.every(({ object }) => isFlat(object) && !callsRoutine(object))) return null;
  const alias = printer.names.next('t');
  const write = printDirectly(printer.names, table, change, alias);
  if (write === null) return null;
  const selection = new Selection();
  const context: RowContext = { printer, row: directRow(alias, table), selection, isRow: null };
  const pieces = objectPieces(entries, (entry): AnswerPiece[] =>
    entry.kind === 'affected_count'
      ? [{ kind: 'count' }]
      : ['[', { kind: 'rows', row: joinConstants(layOutRow(context, entry.object)) }, ']'],
  );
  if (selection.count === 0) {
    // A row that policies hide from the role makes the write fail, if anything of it is returned.
    const visible = table.columns.find(({ selectable }) => selectable);
    if (visible === undefined) return null;
    selection.add(null, context.row.column(visible));
  }
  if (check !== null) selection.add(null, check);
  return {
    statement: sql`${write} returning ${selection.print()}`,
    layout: layOutAll(joinConstants<Exclude<AnswerPiece, string>>(pieces)),
  };
}

function printDirectly(names: Names, table: Table, change: WriteChange, alias: string): Sql | null {
  if (change.kind === 'insert') {
    const isPlain = table.kind === 'table' && !table.hasRules && change.groups.length === 1;
    return isPlain ? printInsert(names, table, change, alias) : null;
  }
  const allowsOne = change.atMost.kind === 'constant' && Number(change.atMost.value) >= 1;
  if (!allowsOne || !table.uniqueKey || !pinsPrimaryKey(table, change.filter)) return null;
  return printChangeOf(table, change, alias);
}
