/**
 * Prints a write with those of related rows (docs/nested-writes.md): a statement for each step, so that policies and triggers
 * of a later step see the rows of the earlier, then one that makes the answer.
 *
 * A step keeps the keys of its rows in a setting of the transaction, as JSON arrays of texts in the order of the
 * objects. A suppressed row would give its related rows the key of another one, so the number of rows must be that of
 * the objects. Failures are casts of a text to a number, which graphql/execute/answer/public-error.ts recognizes.
 *
 * Keys are computed before they are compared: PostgreSQL uses no index of the table for a condition that computes them.
 */

import type { Column, Table } from '../../../model/model.ts';
import type { WriteChange } from '../../plan/plan.ts';
import { keyColumns } from '../../plan/plan-order.ts';
import type { ConnectRows, FindRows, NestedWrites, Within, WriteStep } from '../../plan/write/nested-writes.ts';
import { printFailure, sentinels } from '../../sql/failure-sentinels.ts';
import { keyType, printCompared, printJoined } from '../../sql/operator.ts';
import { tableName } from '../../sql/printer.ts';
import { directRow, list, Names, type Row, SubqueryRow } from '../../sql/row.ts';
import { builtin, empty, ident, integerLiteral, join, param, type Sql, sql, typeName } from '../../sql/sql.ts';
import { printForeseenKeys, printInsert, printKept, printKeptKeys } from './print-insert.ts';
import { type Joined, printWritten, type WrittenRows } from './print-write.ts';

/** The statements of a step: the last writes its rows. */
export function printStep(step: WriteStep<WriteChange>, number: number): readonly Sql[] {
  const { table, change, keys, foreseen } = step;
  const names = new Names();
  if (change.kind !== 'insert' || (keys.length > 0 && foreseen === null)) return [printKeeping(names, step, number)];
  const insert = printInsert(names, table, change, names.next('t'));
  return foreseen === null ? [insert] : [printForeseenKeys(new Names(), foreseen, number), insert];
}

/** A write that keeps the keys of its rows. */
function printKeeping(names: Names, step: WriteStep<WriteChange>, number: number): Sql {
  const { table, change, keys, within, except } = step;
  const written = new SubqueryRow(names.next('x'));
  const texts = keys.map((column) => sql`${written.column(column)}::pg_catalog.text`);
  const writes =
    change.kind === 'find'
      ? printFound(names, table, change, written)
      : change.kind === 'connect'
        ? printConnected(names, step, change, written)
        : printWritten(names, { table, change }, written, (row) => within && printLimited(names, within, except, row));
  const array = sql`pg_catalog.json_agg(pg_catalog.json_build_array(${list(texts)}))`;
  const arrays = keys.length === 0 ? empty : sql`, coalesce(${array}, '[]') as "k"`;
  const counted = sql`select pg_catalog.count(*) as "c"${arrays} from ${ident(written.alias)}`;
  const setting = param({ kind: 'kept_keys', step: number }, builtin.text);
  const set = keys.length === 0 ? sql`null` : sql`pg_catalog.set_config(${setting}, "k"::pg_catalog.text, true)`;
  const guards = guardsOf(step).map(
    ([condition, sentinel]) =>
      sql`when ${condition} then ${printFailure(sentinels[sentinel], sql`"c"`)}::pg_catalog.text`,
  );
  const guarded = guards.length === 0 ? set : sql`case ${join(guards, sql` `)} else ${set} end`;
  return sql`with ${writes} select pg_catalog.num_nulls(${guarded}, "c") from (${counted}) as ${ident(names.next('n'))}`;
}

type Guard = readonly [condition: Sql, sentinel: 'suppressed' | 'atMost' | 'notOne' | 'notLinked'];

/** Conditions on the number of written rows, with what they mean. */
function guardsOf({ change, count, keys }: WriteStep<WriteChange>): readonly Guard[] {
  const differs = count && sql`"c" operator(pg_catalog.<>) ${param(count, builtin.int8)}`;
  if (change.kind === 'insert') return differs && keys.length > 0 ? [[differs, 'suppressed']] : [];
  if (change.kind === 'find' || change.kind === 'connect') return differs ? [[differs, 'notLinked']] : [];
  const exceeds = sql`"c" operator(pg_catalog.>) ${param(change.atMost, builtin.int8)}`;
  return [[exceeds, 'atMost'], ...(differs ? [[differs, 'notOne'] as const] : [])];
}

/** Rows in the order of their names; of a name without a row, none. */
function printFound(names: Names, table: Table, { by }: FindRows, written: SubqueryRow): Sql {
  const [given, found] = [names.next('k'), new SubqueryRow(names.next('f'))];
  const columns = list(written.selectList(found));
  const key = by.map(({ column }) => column);
  const lookUp = printLookUp(names, table, { alias: given, key }, found);
  const from = sql`(${printNames(names, by)}) as ${ident(given)} cross join lateral (${lookUp}) as ${ident(found.alias)}`;
  return sql`${ident(written.alias)} as (select ${columns} from ${from} order by ${ident(given, 'n')})`;
}

/** A row that the role may not update is not found either. */
function printConnected(
  names: Names,
  { table, except }: WriteStep<WriteChange>,
  { by, link, set }: ConnectRows,
  written: SubqueryRow,
): Sql {
  const [given, target] = [names.next('k'), names.next('t')];
  const row = directRow(target, table);
  const changes = set.map(({ column }, index) => sql`${ident(column.name)} = ${ident(given, `s${index}`)}`);
  const joined = by.map(({ column: { name, cast } }, index) =>
    printCompared(keyType(cast), 'eq', ident(target, name), ident(given, `k${index}`)),
  );
  const columns = written.selectList(row);
  const returned = columns.length > 0 ? list(columns) : sql`1 as "one"`;
  const from = sql`(${printNames(names, by, { link, set })}) as ${ident(given)}`;
  return sql`${ident(written.alias)} as (update ${tableName(table)} as ${ident(target)} set ${list(changes)} from ${from} where ${join([...joined, ...printExcept(names, except, row)], sql` and `)} returning ${returned})`;
}

/** Named rows: their key as `k0`, …, the position `n`, and the kept keys that they get as `s0`, …. */
function printNames(names: Names, by: FindRows['by'], linked: Pick<ConnectRows, 'link' | 'set'> | null = null): Sql {
  const source = names.next('r');
  const lists = [
    ...by.map(({ values, column }) => param(values, builtin.text, { array: true, later: keyType(column.cast) })),
    ...(linked === null ? [] : [param(linked.link.places, builtin.int4, { array: true })]),
  ];
  const columns = [...by.map((_, index) => `c${index}`), ...(linked === null ? [] : ['a']), 'n'];
  const keys = by.map(
    ({ column }, index) =>
      sql`${ident(source, `c${index}`)}::${typeName(keyType(column.cast))} as ${ident(`k${index}`)}`,
  );
  const kept = linked?.set.map(({ column, key }, index) => {
    const rows = sql`(select ${printKeptKeys(linked.link.step)})`;
    return sql`${printKept(rows, ident(source, 'a'), key)}::${typeName(column.cast)} as ${ident(`s${index}`)}`;
  });
  const selected = list([...keys, ...(kept ?? []), ident(source, 'n')]);
  const unnested = list(lists.map((array) => sql`pg_catalog.unnest(${array})`));
  const aliases = list(columns.map((name) => ident(name)));
  // Two requests that change the same rows lock them in one order, as far as PostgreSQL follows it.
  const order = linked === null ? sql`offset 0` : sql`order by ${list(by.map((_, index) => ident(`k${index}`)))}`;
  return sql`select ${selected} from rows from (${unnested}) with ordinality as ${ident(source)}(${aliases}) ${order}`;
}

/** The related rows of those of another step, but for those that other steps have written. */
function printLimited(names: Names, within: Within, except: WriteStep<never>['except'], row: Row): Joined {
  const { from, condition } = printWithin(names, within, row);
  return { from, condition: join([condition, ...printExcept(names, except, row)], sql` and `) };
}

function printExcept(names: Names, except: WriteStep<never>['except'], row: Row): readonly Sql[] {
  return (except ?? []).map((each) => {
    const written = printWithin(names, each, row);
    return sql`not exists (select from ${written.from} where ${written.condition})`;
  });
}

function printWithin(names: Names, { step, pairs }: Within, row: Row): Joined {
  const [given, element] = [names.next('k'), names.next('e')];
  const keys = pairs.map(({ of, key }, index) => {
    const text = sql`${ident(element, 'v')} operator(pg_catalog.->>) ${integerLiteral(key)}`;
    return sql`(${text})::${typeName(of.cast)} as ${ident(`k${index}`)}`;
  });
  const elements = sql`pg_catalog.jsonb_array_elements(${printKeptKeys(step)}) as ${ident(element)}("v")`;
  const conditions = pairs.map(({ column, of }, index) =>
    printJoined(row.column(column), column.cast, ident(given, `k${index}`), of.cast),
  );
  return {
    from: sql`(select ${list(keys)} from ${elements} offset 0) as ${ident(given)}`,
    condition: join(conditions, sql` and `),
  };
}

/**
 * The rows that the root step has written, as they are now. It fails for a row that the role may not see: in `where`, for a
 * count of all before the first costs PostgreSQL a third of the statement.
 */
export function nestedRows(names: Names, table: Table, nested: NestedWrites<WriteChange>): WrittenRows {
  const [row, given, found] = [new SubqueryRow(names.next('x')), names.next('k'), new SubqueryRow(names.next('f'))];
  const key = keyColumns(table);
  return {
    row,
    guard: null,
    expressions: () => {
      const hidden = printFailure(sentinels.hidden, ident(given, 'n'));
      const guarded = sql`case when ${found.column(key[0]!)} is null then ${hidden} end is null`;
      const selected = list(row.selectList(found));
      const keys = sql`(${printRootKeys(names, key, nested)}) as ${ident(given)}`;
      const lookUp = sql`(${printLookUp(names, table, { alias: given, key }, found)}) as ${ident(found.alias)}`;
      const from = sql`${keys} left join lateral ${lookUp} on true`;
      return sql`${ident(row.alias)} as (select ${selected} from ${from} where ${guarded} order by ${ident(given, 'n')})`;
    },
  };
}

/** The keys that the root step has kept: `k0`, … and the position `n`. */
function printRootKeys(names: Names, key: readonly Column[], { steps, root }: NestedWrites<WriteChange>): Sql {
  const { keys } = steps[root]!;
  const element = names.next('e');
  const texts = key.map((column, index) => {
    const text = sql`${ident(element, 'v')} operator(pg_catalog.->>) ${integerLiteral(keys.indexOf(column))}`;
    return sql`(${text})::${typeName(column.cast)} as ${ident(`k${index}`)}`;
  });
  const elements = sql`pg_catalog.jsonb_array_elements(${printKeptKeys(root)}) with ordinality as ${ident(element)}("v", "n")`;
  return sql`select ${list(texts)}, ${ident(element, 'n')} from ${elements} offset 0`;
}

/**
 * The row of a key. Rows are looked up one by one: a join that is planned while the table is small would go on reading
 * all of it. `limit 1` keeps the planner from making it one, and finds one where the key is no longer unique.
 */
function printLookUp(
  names: Names,
  table: Table,
  given: { readonly alias: string; readonly key: readonly Column[] },
  found: SubqueryRow,
): Sql {
  const target = names.next('t');
  const row = directRow(target, table);
  const joined = given.key.map((column, index) =>
    printJoined(row.column(column), column.cast, ident(given.alias, `k${index}`), column.cast),
  );
  return sql`select ${list(found.selectList(row))} from ${tableName(table)} as ${ident(target)} where ${join(joined, sql` and `)} limit 1`;
}
