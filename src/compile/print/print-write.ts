/**
 * Prints an insert, update or delete with what it returns as one statement (graphql.md 10).
 *
 *     with x as (update … returning …) select … from (select count(*) from x) as n
 *
 * Everything but the written rows is read as it was before the statement. Every column the role may select is returned,
 * asked for or not, so a row that policies hide from the role makes the write fail.
 */
import type { Table } from '../../model/model.ts';
import { runsVolatile } from '../plan/inspect-plan.ts';
import type { WriteChange, WritePlan } from '../plan/plan.ts';
import { printCondition, where } from './print-condition.ts';
import { printInserts } from './print-insert.ts';
import { printEntries, printObject, printObjectQuery } from './print-object.ts';
import { directRow, list, type Names, SubqueryRow } from './print-row.ts';
import { type Printer, printMembers, tableName } from './printer.ts';
import { builtin, ident, param, type Sql, sql } from './sql.ts';

type InsertChange = Extract<WriteChange, { kind: 'insert' }>;

/** The payload as json, `select`ed from the common table expressions that write. */
export function printWrite(printer: Printer, plan: WritePlan): { readonly expressions: Sql; readonly select: Sql } {
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
      ? printInserts(names, plan.table, plan.change, written)
      : sql`${ident(written.alias)} as (${printChange(names, plan.table, plan.change, written)})`;
  const select = sql`select ${payload}`;
  if (!isCounted(plan)) return { expressions: changes, select };
  const count = sql`select pg_catalog.count(*) as "n" from ${ident(written.alias)}`;
  return { expressions: changes, select: sql`${select} from (${count}) as ${ident(counted)}` };
}

// Counting also makes the rows complete before anything of them is read, which volatile functions can tell. Groups of objects are
// counted because what nothing reads is written at the end, the last group first.
function isCounted({ change, entries }: WritePlan): boolean {
  if (change.kind !== 'insert' || change.groups.length > 1) return true;
  return entries.some(
    (entry) => entry.kind === 'affected_count' || (entry.kind === 'records' && runsVolatile(entry.object)),
  );
}

// The failing cast must contain a column, or the planner computes it before it looks at the condition.
function guardCount(change: WriteChange, count: Sql, payload: Sql): Sql {
  if (change.kind === 'insert') return payload;
  const marker = sql`('pgreflect:at_most:' operator(pg_catalog.||) ${count})::pg_catalog.int4`;
  const limit = param(change.atMost, builtin.int8);
  return sql`case when ${count} operator(pg_catalog.>) ${limit} then pg_catalog.to_json(${marker}) else ${payload} end`;
}

function printChange(
  names: Names,
  table: Table,
  change: Exclude<WriteChange, InsertChange>,
  written: SubqueryRow,
): Sql {
  const alias = names.next('t');
  return sql`${printChangeOf(table, change, alias)} returning ${list(written.selectList(directRow(alias, table)))}`;
}

/** An update or delete of the table, which is then `alias`, up to its `returning`. */
export function printChangeOf(table: Table, change: Exclude<WriteChange, InsertChange>, alias: string): Sql {
  const target = sql`${tableName(table)} as ${ident(alias)}`;
  const filter = where(change.filter === null ? null : printCondition(change.filter, directRow(alias, table)));
  if (change.kind === 'delete') return sql`delete from ${target}${filter}`;
  const set = change.set.map(({ column, slot }) => sql`${ident(column.name)} = ${param(slot, column.cast)}`);
  return sql`update ${target} set ${list(set)}${filter}`;
}
