/**
 * Prints a run of a list of updates as one statement (docs/counters-and-lists.md): `update … from (the entries) …`.
 *
 * Each key and each change is one array with an element for each entry, so the text is the same for any number. Rows are
 * locked in the order of their keys, as far as PostgreSQL follows it, because two lists in opposite order would wait for
 * each other. The result has an element for each entry, separated by commas.
 */

import { comparedAs, type SqlType } from '../../../model/model.ts';
import { runsVolatile } from '../../plan/inspect-plan.ts';
import type { UpdateListPlan } from '../../plan/plan.ts';
import type { EachUpdate } from '../../plan/write/assignment.ts';
import { markers, printFailure } from '../../sql/failure-marker.ts';
import { printEntries, printObject, printObjectQuery } from '../../sql/print-object.ts';
import { printCompared } from '../../sql/print-operator.ts';
import { directRow, list, SubqueryRow } from '../../sql/print-row.ts';
import { type Printer, printMembers, tableName } from '../../sql/printer.ts';
import { builtin, empty, ident, join, param, type Sql, sql, typeName } from '../../sql/sql.ts';
import { printAssignments } from './print-assignment.ts';

/** The answers of the run's entries, selected from the writing common table expressions. */
export function printEach(
  printer: Printer,
  { table, entries }: UpdateListPlan,
  change: EachUpdate,
): { readonly expressions: Sql; readonly select: Sql } {
  const { names } = printer;
  const [source, target] = [names.next('r'), names.next('t')];
  const written = new SubqueryRow(names.next('x'));
  for (const column of table.columns.filter(({ selectable }) => selectable)) written.column(column);
  const isWritten = sql`${ident(written.alias, 'n')} is not null`;
  const members = printEntries(entries, (entry) => {
    if (entry.kind === 'affected_count') return sql`(${isWritten})::pg_catalog.int4`;
    // Volatile functions must not see a part of the changes.
    const isComplete = sql` and (select pg_catalog.count(*) from ${ident(written.alias)}) is not null`;
    const condition = sql` where ${isWritten}${runsVolatile(entry.object) ? isComplete : empty}`;
    const object = printObject(names, printMembers(printer, entry.object, written), condition);
    return sql`(select coalesce(pg_catalog.json_agg(${object.value}), '[]'::pg_catalog.json) from ${object.from})`;
  });
  const texts = sql`pg_catalog.string_agg(${printObjectQuery(names, members)}::pg_catalog.text, ',' order by ${ident(source, 'n')})`;
  const rows = sql`${ident(source)} left join ${ident(written.alias)} on ${ident(written.alias, 'n')} operator(pg_catalog.=) ${ident(source, 'n')}`;
  const changes = printAssignments(
    names,
    change.set,
    directRow(target, table),
    (_, index) => (type) => sql`${ident(source, `c${index}`)}::${typeName(type)}`,
  );
  // After the members, which ask for the whole row.
  const returned = [sql`${ident(source, 'n')} as "n"`, ...written.selectList(directRow(target, table))];
  const update = sql`update ${tableName(table)} as ${ident(target)} set ${changes} from ${ident(source)} where ${printKey(change, { source, target })} returning ${list(returned)}`;
  return {
    expressions: sql`${ident(source)} as (${printSource(change)}), ${ident(written.alias)} as (${update})`,
    select: sql`select ${guardRows(change, source, texts)} from ${rows}`,
  };
}

/** Names of the entries and of the table in the statement. */
interface Aliases {
  readonly source: string;
  readonly target: string;
}

/** The entries: `k0`, … are the key, `c0`, … the changes as text, `n` the position. */
function printSource({ keys, set }: EachUpdate): Sql {
  const lists = [
    ...keys.map(({ column, values }) => param(values, keyType(column.cast), { array: true })),
    ...set.map(({ slot }) => param(slot, builtin.text, { array: true })),
  ];
  const names = [...keys.map((_, index) => `k${index}`), ...set.map((_, index) => `c${index}`), 'n'];
  const unnested = list(lists.map((array) => sql`pg_catalog.unnest(${array})`));
  const order = list(keys.map((_, index) => ident('e', `k${index}`)));
  return sql`select ${list(names.map((name) => ident('e', name)))} from rows from (${unnested}) with ordinality as "e"(${list(names.map((name) => ident(name)))}) order by ${order}`;
}

function printKey({ keys }: EachUpdate, { source, target }: Aliases): Sql {
  const pairs = keys.map(({ column }, index) =>
    printCompared(keyType(column.cast), 'eq', ident(target, column.name), ident(source, `k${index}`)),
  );
  return join(pairs, sql` and `);
}

// With its modifier, a key would be cut to the length of the column.
function keyType(cast: SqlType): SqlType {
  return { ...comparedAs(cast), modifier: null };
}

// Keys of different text may be equal. PostgreSQL would take any one of their entries.
function guardRows({ keys }: EachUpdate, source: string, texts: Sql): Sql {
  const key = list(keys.map((_, index) => ident(source, `k${index}`)));
  const repeated = sql`pg_catalog.count(*) operator(pg_catalog.-) pg_catalog.count(distinct (${key}))`;
  const marker = sql`${printFailure(markers.sameRow, sql`(${repeated})`)}::pg_catalog.text`;
  return sql`case when ${repeated} operator(pg_catalog.>) 0 then ${marker} else ${texts} end`;
}
