/**
 * Prints an insert, update or delete with its result as one statement (docs/mutations.md).
 *
 * Simple selections are written as by hand (`update … where id = $1 returning id, title`), and the gateway makes the
 * JSON: for inserts into tables, and an update or delete by the whole key, which implies `atMost`. All others are one
 * JSON text: `with x as (update … returning …) select … from (select count(*) from x) as n`. Only the written rows show
 * the new state. All columns that the role may select are returned, so the write fails on rows that policies hide.
 */

import type { Table } from '../../../model/model.ts';
import { pinsPrimaryKey, runsVolatile } from '../../plan/inspect-plan.ts';
import type { WriteChange, WritePlan } from '../../plan/plan.ts';
import { conjunction, printCondition, where } from '../../sql/condition.ts';
import { markers, printFailure } from '../../sql/failure-marker.ts';
import { printEntries, printObject, printObjectQuery } from '../../sql/object.ts';
import { type Printer, printMembers, tableName } from '../../sql/printer.ts';
import { directRow, list, type Names, SubqueryRow } from '../../sql/row.ts';
import { builtin, empty, ident, param, type Sql, sql } from '../../sql/sql.ts';
import { type AnswerLayout, layOutAll } from '../answer-layout.ts';
import { hasOneFlatRecords, type RowContext, Selection, writtenPieces } from '../row-layout.ts';
import { printAssignments } from './print-assignment.ts';
import { printInsert, printInserted } from './print-insert.ts';

/** A change of rows that are there. */
export type RowChange = Exclude<WriteChange, { kind: 'insert' }>;

/** The payload as json, selected from the writing common table expressions. */
export function printWrite(printer: Printer, plan: WritePlan): Sql {
  const { names } = printer;
  const written = new SubqueryRow(names.next('x'));
  for (const column of plan.table.columns.filter(({ selectable }) => selectable)) written.column(column);
  const counted = names.next('n');
  const members = printEntries(plan.entries, (entry) => {
    if (entry.kind === 'affected_count') return ident(counted, 'n');
    const object = printObject(names, printMembers(printer, entry.object, written));
    const rows = sql`${ident(written.alias)} cross join ${object.from}`;
    return sql`(select coalesce(pg_catalog.json_agg(${object.value}), '[]'::pg_catalog.json) from ${rows})`;
  });
  const payload = guardCount(plan.change, ident(counted, 'n'), printObjectQuery(names, members));
  const changes =
    plan.change.kind === 'insert'
      ? printInserted(names, plan.table, plan.change, written)
      : sql`${ident(written.alias)} as (${printReturning(names, plan.table, plan.change, written)})`;
  const select = sql`with ${changes} select ${payload}`;
  if (!isCounted(plan)) return select;
  const count = sql`select pg_catalog.count(*) as "n" from ${ident(written.alias)}`;
  return sql`${select} from (${count}) as ${ident(counted)}`;
}

// Counting also completes all rows before any is read, which volatile functions can observe.
function isCounted({ change, entries }: WritePlan): boolean {
  if (change.kind !== 'insert') return true;
  return entries.some(
    (entry) => entry.kind === 'affected_count' || (entry.kind === 'records' && runsVolatile(entry.object)),
  );
}

function guardCount(change: WriteChange, count: Sql, payload: Sql): Sql {
  if (change.kind === 'insert') return payload;
  const marker = printFailure(markers.atMost, count);
  const limit = param(change.atMost, builtin.int8);
  return sql`case when ${count} operator(pg_catalog.>) ${limit} then pg_catalog.to_json(${marker}) else ${payload} end`;
}

function printReturning(names: Names, table: Table, change: RowChange, written: SubqueryRow): Sql {
  const alias = names.next('t');
  return sql`${printChange(names, { table, change, alias })} returning ${list(written.selectList(directRow(alias, table)))}`;
}

/**
 * An update or delete of the table, under `alias`, up to its `returning`.
 *
 * @param joined Rows that it is limited to, and how they belong to those of the table; null: all.
 */
export function printChange(
  names: Names,
  { table, change, alias }: { readonly table: Table; readonly change: RowChange; readonly alias: string },
  joined: { readonly from: Sql; readonly condition: Sql } | null = null,
): Sql {
  const target = sql`${tableName(table)} as ${ident(alias)}`;
  const condition = change.filter === null ? null : printCondition(names, change.filter, directRow(alias, table));
  // Supabase preloads `safeupdate` for its login: that refuses a statement without `where`, as `pg_graphql` never sends.
  const filter = where(conjunction([joined?.condition ?? null, condition]) ?? sql`true`);
  if (change.kind === 'delete')
    return sql`delete from ${target}${joined ? sql` using ${joined.from}` : empty}${filter}`;
  const set = printAssignments(names, change.set, directRow(alias, table));
  return sql`update ${target} set ${set}${joined ? sql` from ${joined.from}` : empty}${filter}`;
}

/**
 * Prints the write of rows with a simple selection; null for others.
 *
 * @param check Refuses changed column types (print-type-check.ts); null: nothing to check.
 */
export function printWrittenRows(
  printer: Printer,
  plan: WritePlan,
  check: Sql | null,
): { readonly statement: Sql; readonly layout: AnswerLayout } | null {
  const { table, change, entries } = plan;
  if (!hasOneFlatRecords(entries)) return null;
  const alias = printer.names.next('t');
  const write = printDirectly(printer.names, table, change, alias);
  if (write === null) return null;
  const selection = new Selection();
  const context: RowContext = { printer, row: directRow(alias, table), selection, isRow: null };
  const pieces = writtenPieces(context, entries);
  if (selection.count === 0) {
    // If a column is returned, the write fails for a row that policies hide from the role.
    const visible = table.columns.find(({ selectable }) => selectable);
    if (visible === undefined) return null;
    selection.add(null, context.row.column(visible));
  }
  if (check !== null) selection.add(null, check);
  return {
    statement: sql`${write} returning ${selection.print()}`,
    layout: layOutAll(pieces),
  };
}

function printDirectly(names: Names, table: Table, change: WriteChange, alias: string): Sql | null {
  if (change.kind === 'insert') {
    const isPlain = table.kind === 'table' && !table.hasRules;
    return isPlain ? printInsert(names, table, change, alias) : null;
  }
  const allowsOne = change.atMost.kind === 'constant' && Number(change.atMost.value) >= 1;
  if (!allowsOne || !table.uniqueKey || !pinsPrimaryKey(table, change.filter)) return null;
  return printChange(names, { table, change, alias });
}
