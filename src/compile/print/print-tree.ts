/**
 * Prints a write with those of related rows (docs/nested-writes.md): a statement for each step, then one that makes the
 * answer, so that policies and triggers of a later step see the rows of the earlier.
 *
 * A step keeps the keys of its rows in a setting of the transaction, as JSON arrays of texts in the order of the
 * objects. A suppressed row would give its related rows the key of another one, so the number of rows must be that of
 * the objects. Failures are casts of a text to a number, which execute/answer/public-error.ts recognizes.
 *
 * Keys are computed before they are compared: PostgreSQL uses no index of the table for a condition that computes them.
 */
import { invariant } from '../../shared/invariant.ts';
import type { WriteChange, WritePlan } from '../plan/plan.ts';
import { keyColumns } from '../plan/plan-order.ts';
import type { WriteStep, WriteTree } from '../plan/write-tree.ts';
import { printEntries, printObject, printObjectQuery } from '../sql/print-object.ts';
import { printJoined } from '../sql/print-operator.ts';
import { directRow, list, type Names, SubqueryRow } from '../sql/print-row.ts';
import { type Printer, printMembers, tableName } from '../sql/printer.ts';
import { builtin, ident, integer, join, param, type Sql, sql, typeName } from '../sql/sql.ts';
import { printInsert, printInserts, printKeptKeys } from './print-insert.ts';

/** The statement of a step. */
export function printStep(names: Names, step: WriteStep<WriteChange>, number: number): Sql {
  const { table, change, keys } = step;
  invariant(change.kind === 'insert', 'related rows are inserted');
  if (keys.length === 0 && change.groups.length === 1) return printInsert(names, table, change, names.next('t'));
  const written = new SubqueryRow(names.next('x'));
  const texts = keys.map((column) => sql`${written.column(column)}::pg_catalog.text`);
  const inserts = printInserts(names, table, change, written);
  const rows = sql`from ${ident(written.alias)}`;
  // Counted, because an unread expression is executed at the end, the last group first.
  if (keys.length === 0) return sql`with ${inserts} select pg_catalog.count(*) ${rows}`;
  const kept = ident(names.next('n'));
  const all = sql`select pg_catalog.count(*) as "c", pg_catalog.json_agg(pg_catalog.json_build_array(${list(texts)})) as "k" ${rows}`;
  const setting = param({ kind: 'kept_keys', step: number }, builtin.text);
  const count = param(step.count, builtin.int8);
  const marker = sql`('pgreflect:suppressed:' operator(pg_catalog.||) "c")::pg_catalog.int4::pg_catalog.text`;
  const set = sql`pg_catalog.set_config(${setting}, "k"::pg_catalog.text, true)`;
  const guarded = sql`case when "c" operator(pg_catalog.<>) ${count} then ${marker} else ${set} end`;
  return sql`with ${inserts}, ${kept} as (${all}) select pg_catalog.num_nulls(${guarded}) from ${kept}`;
}

/** The payload as json, selected from the rows that the root step has written, as they are now. */
export function printTreeAnswer(
  printer: Printer,
  plan: WritePlan,
  tree: WriteTree<WriteChange>,
): { readonly expressions: Sql; readonly select: Sql } {
  const { names } = printer;
  const { table } = plan;
  const { keys } = tree.steps[tree.root]!;
  const [written, given, target] = [new SubqueryRow(names.next('x')), names.next('k'), names.next('t')];
  const counted = names.next('n');
  const key = keyColumns(table);
  for (const column of key) written.column(column);
  const members = printEntries(plan.entries, (entry) => {
    if (entry.kind === 'affected_count') return ident(counted, 'n');
    const object = printObject(names, printMembers(printer, entry.object, written));
    const rows = sql`${ident(written.alias)} cross join ${object.from}`;
    return sql`(select coalesce(pg_catalog.json_agg(${object.value}), '[]'::pg_catalog.json) from ${rows})`;
  });
  const element = names.next('e');
  const texts = key.map((column, index) => {
    const text = sql`${ident(element, 'v')} operator(pg_catalog.->>) ${integer(keys.indexOf(column))}`;
    return sql`(${text})::${typeName(column.cast)} as ${ident(`k${index}`)}`;
  });
  const elements = sql`pg_catalog.jsonb_array_elements(${printKeptKeys(tree.root)}) with ordinality as ${ident(element)}("v", "n")`;
  const keyRows = sql`${ident(given)} as materialized (select ${list(texts)}, ${ident(element, 'n')} from ${elements})`;
  const row = directRow(target, table);
  const joined = key.map((column, index) =>
    printJoined(row.column(column), column.cast, ident(given, `k${index}`), column.cast),
  );
  const from = sql`${ident(given)} join ${tableName(table)} as ${ident(target)} on ${join(joined, sql` and `)}`;
  const rows = sql`${ident(written.alias)} as materialized (select ${list(written.selectList(row))} from ${from} order by ${ident(given, 'n')})`;
  const counts = sql`(select pg_catalog.count(*) as "n", (select pg_catalog.count(*) from ${ident(written.alias)}) as "v" from ${ident(given)}) as ${ident(counted)}`;
  const marker = sql`('pgreflect:hidden:' operator(pg_catalog.||) ${ident(counted, 'v')})::pg_catalog.int4`;
  const isHidden = sql`${ident(counted, 'v')} operator(pg_catalog.<>) ${ident(counted, 'n')}`;
  const payload = sql`case when ${isHidden} then pg_catalog.to_json(${marker}) else ${printObjectQuery(names, members)} end`;
  return { expressions: sql`${keyRows}, ${rows}`, select: sql`select ${payload} from ${counts}` };
}
