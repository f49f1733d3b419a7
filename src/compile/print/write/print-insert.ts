/**
 * Prints the rows of an insert. Each column is one array with an element per object, so the text is the same for any
 * number: `c0` is a value as text, `p0` tells whether the object sets it, `a0` is the number of the row of another
 * step whose key it gets, `g` is the group. A single object in the document is a row of parameters.
 *
 * An object without a key gets the column's default. `insert … select` has no `default`, so the column is left out, and
 * objects that lack different columns with defaults are separate inserts of one statement.
 */

import type { Column, SqlType, Table } from '../../../model/model.ts';
import type { Slot } from '../../input/slot.ts';
import type { InsertChange } from '../../plan/plan.ts';
import type { InsertColumn, InsertLink } from '../../plan/write/nested-writes.ts';
import { markers, printFailure } from '../../sql/failure-marker.ts';
import { tableName } from '../../sql/printer.ts';
import { directRow, list, type Names, type SubqueryRow } from '../../sql/row.ts';
import { builtin, empty, ident, integer, join, param, type Sql, sql, typeName } from '../../sql/sql.ts';
import { type InsertTarget, printConflict } from './print-conflict.ts';

/** Common table expressions; the last one, named after `written`, has the written rows in the order of the objects. */
export function printInserts(names: Names, table: Table, change: InsertChange, written: SubqueryRow): Sql {
  const returned = (target: string) => list(orOne(written.selectList(directRow(target, table)), sql`1 as "one"`));
  const passed = (from: string) => list(orOne(written.passList(from), ident(from, 'one')));
  if (change.groups.length <= 1) {
    const target = names.next('t');
    return sql`${ident(written.alias)} as (${printInsert(names, table, change, target)} returning ${returned(target)})`;
  }
  // Evaluated once, and read by each insert.
  const objects = names.next('o');
  const groups = change.groups.map((columns, group) => {
    const [name, target] = [names.next('x'), names.next('t')];
    const insert = printGroup(names, { change, columns, group, objects }, { table, alias: target });
    return { name, group, insert: sql`${insert} returning ${returned(target)}` };
  });
  const inserts = groups.map(({ name, insert }) => sql`${ident(name)} as (${insert}), `);
  // The k-th returned row of a group is the k-th inserted object, unless triggers suppress rows. If rows that are there
  // stay as they are, each group is a run of objects: those of one run still come before those of the next.
  const place = names.next('p');
  const source = names.next('r');
  const placed = sql`select ${ident(source, 'g')} as "g", ${ident(source, 'n')} as "n", pg_catalog.row_number() over (partition by ${ident(source, 'g')} order by ${ident(source, 'n')}) as "k" from ${ident(objects)} as ${ident(source)}`;
  const all = names.next('u');
  const parts = groups.map(
    ({ name, group }) =>
      sql`select ${integer(group)} as "g", pg_catalog.row_number() over () as "k", ${passed(name)} from ${ident(name)}`,
  );
  const rows = sql`select ${passed(all)} from (${join(parts, sql` union all `)}) as ${ident(all)} left join ${ident(place)} on ${ident(place, 'g')} operator(pg_catalog.=) ${ident(all, 'g')} and ${ident(place, 'k')} operator(pg_catalog.=) ${ident(all, 'k')} order by ${ident(place, 'n')}`;
  const made = sql`select ${list(fieldsOf(change).map(({ name }) => ident(source, name)))}, ${ident(source, 'n')} from ${printObjects(change, source)}`;
  return sql`${ident(objects)} as materialized (${made}), ${join(inserts, empty)}${ident(place)} as (${placed}), ${ident(written.alias)} as (${rows})`;
}

/** No column of the table is read, or the role would need the right to see the rows. */
function orOne(columns: readonly Sql[], one: Sql): readonly Sql[] {
  return columns.length > 0 ? columns : [one];
}

/**
 * The insert of a single group into the table, under `alias`, up to its `returning`. Rows are written and returned in
 * object order: functions are scanned in order, and an insert is never parallel.
 */
export function printInsert(names: Names, table: Table, change: InsertChange, alias: string): Sql {
  const target = { table, alias };
  const onConflict = printConflict(names, target, change.conflict);
  const row = onlyRow(change);
  if (row !== null) {
    const given = list(row.map(({ column, slot }) => param(slot, column.cast)));
    return sql`${printTarget(target, row)} values (${given})${onConflict}`;
  }
  const source = names.next('r');
  const columns = change.groups[0] ?? [];
  const ordered = hasPlaces(change) ? sql` order by ${ident(source, 'n')}` : empty;
  return sql`${printSelected(change, columns, target, source)} from ${printObjects(change, source)}${ordered}${onConflict}`;
}

function printTarget({ table, alias }: InsertTarget, columns: readonly { readonly column: Column }[]): Sql {
  const named = columns.length === 0 ? empty : sql` (${list(columns.map(({ column }) => ident(column.name)))})`;
  return sql`insert into ${tableName(table)} as ${ident(alias)}${named}`;
}

/** The values of a single object in the document, which are fully known; otherwise null. */
function onlyRow({ columns }: InsertChange): readonly { readonly column: Column; readonly slot: Slot }[] | null {
  const row = columns.flatMap(({ column, values, named, kept }) => {
    const slot = values?.kind === 'array' && values.items.length === 1 ? values.items[0] : undefined;
    return slot === undefined || named !== null || kept.length > 0 ? [] : [{ column, slot }];
  });
  return row.length === columns.length ? row : null;
}

interface GroupInsert {
  readonly change: InsertChange;
  /** Indexes into the change's columns. */
  readonly columns: readonly number[];
  readonly group: number;
  /** Name of the common table expression with the objects. */
  readonly objects: string;
}

function printGroup(names: Names, { change, columns, group, objects }: GroupInsert, target: InsertTarget): Sql {
  const source = names.next('r');
  const insert = printSelected(change, columns, target, source);
  return sql`${insert} from ${ident(objects)} as ${ident(source)} where ${ident(source, 'g')} operator(pg_catalog.=) ${integer(group)} order by ${ident(source, 'n')}${printConflict(names, target, change.conflict)}`;
}

/** `insert into … select …`, with values from `source`. */
function printSelected(change: InsertChange, columns: readonly number[], target: InsertTarget, source: string): Sql {
  const named = columns.map((index) => ({ index, ...change.columns[index]! }));
  const values = named.map((column) => printInserted(change.links, source, column));
  const select = values.length === 0 ? sql`select` : sql`select ${list(values)}`;
  return sql`${printTarget(target, named)} ${select}`;
}

interface ObjectField {
  readonly name: string;
  readonly slot: Slot;
  readonly type: SqlType;
  /** The type of the column. */
  readonly later?: SqlType;
}

function fieldsOf({ columns, links, groupOf }: InsertChange): readonly ObjectField[] {
  return [
    ...columns.flatMap(({ column, values, named }, index): readonly ObjectField[] => [
      ...(values === null ? [] : [{ name: `c${index}`, slot: values, type: builtin.text, later: column.cast }]),
      ...(named === null ? [] : [{ name: `p${index}`, slot: named, type: builtin.bool }]),
    ]),
    ...links.map(({ places }, index) => ({ name: `a${index}`, slot: places, type: builtin.int4 })),
    ...(groupOf === null ? [] : [{ name: 'g', slot: groupOf, type: builtin.int8 }]),
  ];
}

function hasPlaces({ links, groupOf }: InsertChange): boolean {
  return links.length > 0 || groupOf !== null;
}

/** The objects as a from item: `c0`, `p0`, …, and with several groups `g` and the position `n`. */
function printObjects(change: InsertChange, alias: string): Sql {
  const fields = fieldsOf(change);
  const lists = list(
    fields.map(({ slot, type, later }) => sql`pg_catalog.unnest(${param(slot, type, { array: true, later })})`),
  );
  const names = list(fields.map(({ name }) => ident(name)));
  return hasPlaces(change)
    ? sql`rows from (${lists}) with ordinality as ${ident(alias)}(${names}, "n")`
    : sql`rows from (${lists}) as ${ident(alias)}(${names})`;
}

type IndexedColumn = InsertColumn & { readonly index: number };

function printInserted(links: readonly InsertLink[], source: string, inserted: IndexedColumn): Sql {
  const value = printGiven(source, inserted);
  const kept = inserted.kept.map(({ link, key }) => {
    const place = ident(source, `a${link}`);
    const { step, isEvery } = links[link]!;
    return { place, isEvery, value: sql`${printKey(step, place, key)}::${typeName(inserted.column.cast)}` };
  });
  const [first] = kept;
  if (first === undefined) return value ?? sql`null`;
  if (first.isEvery) return first.value;
  const cases = kept.map((each) => sql`when ${each.place} is not null then ${each.value}`);
  const otherwise = value === null ? empty : sql` else ${value}`;
  return sql`case ${join(cases, sql` `)}${otherwise} end`;
}

/** The value in the objects, null for none. */
function printGiven(source: string, { column, values, named, index }: IndexedColumn): Sql | null {
  if (values === null) return null;
  const value = sql`${ident(source, `c${index}`)}::${typeName(column.cast)}`;
  // All objects of a group set the same columns with defaults.
  if (named === null || column.hasDefault) return value;
  return sql`case when ${ident(source, `p${index}`)} then ${value} end`;
}

// The setting is read once for the statement. A missing key fails on purpose, by a cast that contains a column: the
// planner evaluates no constant one first.
function printKey(step: number, place: Sql, key: number): Sql {
  const rows = sql`(select ${printKeptKeys(step)})`;
  const index = sql`(${place} operator(pg_catalog.-) 1)`;
  const found = sql`${rows} operator(pg_catalog.->) ${index} operator(pg_catalog.->>) ${integer(key)}`;
  const marker = sql`${printFailure(markers.noKey, place)}::pg_catalog.text`;
  return sql`coalesce(${found}, ${marker})`;
}

/** The keys that a step has kept, as `jsonb`: an array of texts for each row. */
export function printKeptKeys(step: number): Sql {
  const setting = param({ kind: 'kept_keys', step }, builtin.text);
  return sql`pg_catalog.current_setting(${setting}, true)::pg_catalog.jsonb`;
}
