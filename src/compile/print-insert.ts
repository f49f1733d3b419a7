/**
 * Prints the rows that an insert writes (graphql.md 10.2). All of them travel as one parameter, a JSON array (slot.ts, `rows`),
 * so that their number is no part of the text: `c0` is a value as text, `p0` tells that the object has it, `g` is the group.
 * A single object that stands in the document is a row of parameters.
 *
 * An object that lacks a key gets the column's default. `insert … select` knows no `default`, so the default is printed; a
 * view's column without one takes the default of the table below, which only leaving the column out brings about: then
 * objects that lack different columns are separate inserts of one statement.
 */
import type { Column, Table } from '../model/model.ts';
import type { InsertColumn, WriteChange } from './plan.ts';
import { directRow, type HandedOnRow, list, type Names } from './print-row.ts';
import { tableName } from './printer.ts';
import type { Slot } from './slot.ts';
import { builtin, defaultOf, empty, ident, integer, join, param, type Sql, sql, typeName } from './sql.ts';

type InsertChange = Extract<WriteChange, { kind: 'insert' }>;

/** Common table expressions; the last of them, named after `written`, is the written rows in the order of the objects. */
export function printInserts(names: Names, table: Table, change: InsertChange, written: HandedOnRow): Sql {
  const values = onlyRow(change);
  if (values !== null) {
    const target = names.next('t');
    const returning = list(written.selectList(directRow(target, table)));
    return sql`${ident(written.alias)} as (${printRowInsert(table, values, target)} returning ${returning})`;
  }
  const [only, ...others] = change.groups;
  if (only === undefined || others.length === 0) {
    const insert = printInsert(names, table, { change, columns: only ?? [], group: null }, written);
    return sql`${ident(written.alias)} as (${insert})`;
  }
  const groups = change.groups.map((columns, group) => {
    const name = names.next('x');
    return { name, group, insert: printInsert(names, table, { change, columns, group }, written) };
  });
  const inserts = groups.map(({ name, insert }) => sql`${ident(name)} as (${insert}), `);
  // The k-th row that comes out of a group is the k-th object that went in; without triggers that suppress rows that is so.
  const place = names.next('p');
  const source = names.next('r');
  const placed = sql`select ${ident(source, 'g')} as "g", ${ident(source, 'n')} as "n", pg_catalog.row_number() over (partition by ${ident(source, 'g')} order by ${ident(source, 'n')}) as "k" from ${printObjects(change, source)}`;
  const all = names.next('u');
  const parts = groups.map(
    ({ name, group }) =>
      sql`select ${integer(group)} as "g", pg_catalog.row_number() over () as "k", ${list(written.passList(name))} from ${ident(name)}`,
  );
  const rows = sql`select ${list(written.passList(all))} from (${join(parts, sql` union all `)}) as ${ident(all)} left join ${ident(place)} on ${ident(place, 'g')} = ${ident(all, 'g')} and ${ident(place, 'k')} = ${ident(all, 'k')} order by ${ident(place, 'n')}`;
  return sql`${join(inserts, empty)}${ident(place)} as (${placed}), ${ident(written.alias)} as (${rows})`;
}

/** A value of an object that is inserted. */
export interface InsertedValue {
  readonly column: Column;
  readonly slot: Slot;
}

/** The values of an object that is the only one and stands in the document: all there is to know is known. Else null. */
export function onlyRow({ rows, columns }: InsertChange): readonly InsertedValue[] | null {
  if (rows.kind !== 'row_list' || rows.rows.length !== 1) return null;
  const values = columns.flatMap(({ column, fieldName }) => {
    const slot = rows.rows[0]?.get(fieldName);
    return slot === undefined ? [] : [{ column, slot }];
  });
  return values.length === 0 ? null : values;
}

/** An insert of one row into the table, which is then `alias`, up to its `returning`. */
export function printRowInsert(table: Table, values: readonly InsertedValue[], alias: string): Sql {
  const into = list(values.map(({ column }) => ident(column.name)));
  const given = list(values.map(({ column, slot }) => param(slot, column.cast)));
  return sql`insert into ${tableName(table)} as ${ident(alias)} (${into}) values (${given})`;
}

interface GroupInsert {
  readonly change: InsertChange;
  /** Indexes into the columns of the change. */
  readonly columns: readonly number[];
  /** Null where all objects are inserted alike. */
  readonly group: number | null;
}

function printInsert(names: Names, table: Table, insert: GroupInsert, written: HandedOnRow): Sql {
  const { change, columns, group } = insert;
  const target = names.next('t');
  const source = names.next('r');
  const row = directRow(target, table);
  const named = columns.map((index) => ({ index, column: change.columns[index]! }));
  const into = named.length === 0 ? sql`` : sql` (${list(named.map(({ column }) => ident(column.column.name)))})`;
  const values = named.map(({ index, column }) => printInserted(source, { column, index, grouped: group !== null }));
  const select = values.length === 0 ? sql`select` : sql`select ${list(values)}`;
  const filter = group === null ? sql`` : sql` where ${ident(source, 'g')} = ${integer(group)}`;
  const rows = sql`${select} from ${printObjects(change, source)}${filter} order by ${ident(source, 'n')}`;
  const returning = list(written.selectList(row));
  return sql`insert into ${tableName(table)} as ${ident(target)}${into} ${rows} returning ${returning}`;
}

/** The objects as a from item: `c0`, `p0`, …, `g` where there are groups, and their position `n`. */
function printObjects(change: InsertChange, alias: string): Sql {
  const fields = change.columns.flatMap(({ partial }, index) => [
    { name: `c${index}`, type: builtin.text },
    ...(partial ? [{ name: `p${index}`, type: builtin.bool }] : []),
  ]);
  if (change.groups.length > 1) fields.push({ name: 'g', type: builtin.int8 });
  const definitions = list(fields.map(({ name, type }) => sql`${ident(name)} ${typeName(type)}`));
  const names = list(fields.map(({ name }) => ident(name)));
  const recordset = sql`pg_catalog.json_to_recordset(${param(change.rows, builtin.json)}) as (${definitions})`;
  return sql`rows from (${recordset}) with ordinality as ${ident(alias)}(${names}, "n")`;
}

function printInserted(
  alias: string,
  { column: { column, partial }, index, grouped }: { column: InsertColumn; index: number; grouped: boolean },
): Sql {
  const value = sql`${ident(alias, `c${index}`)}::${typeName(column.cast)}`;
  if (!partial || (grouped && column.defaultExpression === null)) return value;
  const fallback =
    column.defaultExpression === null
      ? sql`null`
      : // The default was coerced by assignment (`time default now()`), which a `case` would not do. Its length is left
        // to the assignment: an explicit cast to `varchar(3)` would cut.
        sql`${defaultOf(column)}::${typeName({ ...column.cast, modifier: null })}`;
  return sql`case when ${ident(alias, `p${index}`)} then ${value} else ${fallback} end`;
}
