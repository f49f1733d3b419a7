/**
 * Prints the rows of an insert. Each column is one array with an element per object, so the text is the same for any
 * number: `c0` is a value as text, `p0` tells whether the object sets it, `a0` is the number of the row of another
 * step whose key it gets. A single object in the document is a row of parameters.
 *
 * An object without a key gets the column's default. `insert … select` has no `default`, so the column is left out. If
 * objects lack different columns with defaults, each is a row of parameters: `values ($1, default), (default, $2)`.
 */

import { invariant } from '../../../../shared/invariant.ts';
import type { EarlyDefault } from '../../../model/extensions/early-defaults.ts';
import type { Column, SqlType, Table } from '../../../model/model.ts';
import type { Slot } from '../../input/slot.ts';
import type { InsertChange } from '../../plan/plan.ts';
import type { KeptAssignment } from '../../plan/write/assignment.ts';
import type { ForeseenKeys, InsertColumn, InsertLink } from '../../plan/write/nested-writes.ts';
import { printFailure, sentinels } from '../../sql/failure-sentinels.ts';
import { tableName } from '../../sql/printer.ts';
import { list, type Names } from '../../sql/row.ts';
import { builtin, empty, ident, integerLiteral, join, literal, param, type Sql, sql, typeName } from '../../sql/sql.ts';
import { type InsertTarget, printConflict } from './print-conflict.ts';

/**
 * The insert into the table, under `alias`, up to its `returning`. Rows are written and returned in object order:
 * functions are scanned in order, and an insert is never parallel.
 */
export function printInsert(names: Names, table: Table, change: InsertChange, alias: string): Sql {
  const { columns, rows, links, conflict } = change;
  const into = printTarget(
    { table, alias },
    columns.filter(({ isOmitted }) => !isOmitted),
  );
  const onConflict = printConflict(names, { table, alias }, conflict);
  if (rows !== null) return sql`${printRows(names, change, into, rows)}${onConflict}`;
  const row = onlyRow(change);
  if (row !== null) return sql`${into} values (${list(row)})${onConflict}`;
  const source = names.next('r');
  const values = columns.flatMap((column, index) => (column.isOmitted ? [] : printOfObject(change, index, source)));
  const select = values.length === 0 ? sql`select` : sql`select ${list(values)}`;
  const ordered = links.length > 0 ? sql` order by ${ident(source, 'n')}` : empty;
  return sql`${into} ${select} from ${printObjects(change, source)}${ordered}${onConflict}`;
}

/** A select that keeps the keys of the rows of step `step` before these are inserted, in the order of the objects. */
export function printForeseenKeys(names: Names, foreseen: ForeseenKeys, step: number): Sql {
  const source = names.next('r');
  const texts = foreseen.keys.map(({ column, given, isEvery }) => {
    const value = given === null ? null : printOfObject(foreseen, given, source);
    if (isEvery && value !== null) return sql`${value}::pg_catalog.text`;
    const made = sql`${printDefault(column.earlyDefault!)}::${typeName(column.cast)}`;
    const named = value && sql`case when ${ident(source, `p${given}`)} then ${value} else ${made} end`;
    return sql`(${named ?? made})::pg_catalog.text`;
  });
  const array = sql`coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(${list(texts)})), '[]')`;
  const setting = param({ kind: 'kept_keys', step }, builtin.text);
  const kept = sql`pg_catalog.set_config(${setting}, ${array}::pg_catalog.text, true)`;
  return sql`select pg_catalog.num_nulls(${kept}) from ${printObjects(foreseen, source)}`;
}

function printDefault({ kind, name }: EarlyDefault): Sql {
  if (kind === 'function') return sql`${ident('pg_catalog', name)}()`;
  return sql`pg_catalog.nextval(${literal(name)}::pg_catalog.regclass)`;
}

/** The value of a column of the objects. */
function printOfObject({ columns, links }: Objects, index: number, source: string): Sql {
  const column = columns[index]!;
  const place = (link: number) =>
    links[link]!.places === null ? sql`${ident(source, 'n')}::pg_catalog.int4` : ident(source, `a${link}`);
  return printValue(column, links, {
    value: printGiven(source, column, index),
    place,
    // The setting is read once for the statement.
    key: (link, key) => printKept(sql`(select ${printKeptKeys(links[link]!.step)})`, place(link), key),
  });
}

function printTarget({ table, alias }: InsertTarget, columns: readonly { readonly column: Column }[]): Sql {
  const named = columns.length === 0 ? empty : sql` (${list(columns.map(({ column }) => ident(column.name)))})`;
  return sql`insert into ${tableName(table)} as ${ident(alias)}${named}`;
}

/** The values of a single object in the document, which are fully known; otherwise null. */
function onlyRow({ columns }: InsertChange): readonly Sql[] | null {
  const row = columns.flatMap(({ column, values, named, kept }) => {
    const slot = values?.kind === 'array' && values.items.length === 1 ? values.items[0] : undefined;
    return slot === undefined || named !== null || kept.length > 0 ? [] : [param(slot, column.cast)];
  });
  return row.length === columns.length ? row : null;
}

/** The objects one by one: a select has no `default`. */
function printRows(names: Names, { columns, links }: InsertChange, into: Sql, rows: NonNullable<InsertChange['rows']>) {
  const given = links.map(() => names.next('l'));
  const lists = links.map(({ step, places }, link) => {
    invariant(places, 'rows have constant places');
    const read = sql`select ${param(places, builtin.int4, { array: true })} as "a", ${printKeptKeys(step)} as "k"`;
    return sql`${ident(given[link]!)} as materialized (${read})`;
  });
  const values = rows.map((cells, index) => {
    const place = (link: number) => sql`${ident(given[link]!, 'a')}[${integerLiteral(index + 1)}]`;
    const from = (link: number, expression: Sql) => sql`(select ${expression} from ${ident(given[link]!)})`;
    const row = cells.map((cell, at) => {
      if (cell === 'default') return sql`default`;
      const column = columns[at]!;
      return printValue(column, links, {
        value: cell.value && param(cell.value, column.column.cast),
        place: (link) => from(link, place(link)),
        key: (link, key) => from(link, printKept(ident(given[link]!, 'k'), place(link), key)),
      });
    });
    return sql`(${list(row)})`;
  });
  const withLists = lists.length === 0 ? empty : sql`with ${list(lists)} `;
  return sql`${withLists}${into} values ${list(values)}`;
}

/** What the objects of an insert set. */
type Objects = Pick<InsertChange, 'columns' | 'links'>;

interface ObjectField {
  readonly name: string;
  readonly slot: Slot;
  readonly type: SqlType;
  /** The type of the column. */
  readonly later?: SqlType;
}

function fieldsOf({ columns, links }: Objects): readonly ObjectField[] {
  return [
    ...columns.flatMap(({ column, values, named }, index): readonly ObjectField[] => [
      ...(values === null ? [] : [{ name: `c${index}`, slot: values, type: builtin.text, later: column.cast }]),
      ...(named === null ? [] : [{ name: `p${index}`, slot: named, type: builtin.bool }]),
    ]),
    ...links.flatMap(({ places }, index) =>
      places === null ? [] : [{ name: `a${index}`, slot: places, type: builtin.int4 }],
    ),
  ];
}

/** The objects as a from item: `c0`, `p0`, …, and beside those of other steps the position `n`. */
function printObjects(change: Objects, alias: string): Sql {
  const fields = fieldsOf(change);
  const lists = list(
    fields.map(({ slot, type, later }) => sql`pg_catalog.unnest(${param(slot, type, { array: true, later })})`),
  );
  const names = list(fields.map(({ name }) => ident(name)));
  return change.links.length > 0
    ? sql`rows from (${lists}) with ordinality as ${ident(alias)}(${names}, "n")`
    : sql`rows from (${lists}) as ${ident(alias)}(${names})`;
}

/** What may set a column of an object. */
interface ValueSources {
  /** Its own value; null if it has none. */
  readonly value: Sql | null;
  /** The number of the row of another step, and a key of that row. */
  readonly place: (link: number) => Sql;
  readonly key: (link: number, key: number) => Sql;
}

function printValue({ column, kept }: InsertColumn, links: readonly InsertLink[], from: ValueSources): Sql {
  const keys = kept.map(({ link, key }) => ({ link, value: sql`${from.key(link, key)}::${typeName(column.cast)}` }));
  const [first] = keys;
  if (first === undefined) return from.value ?? sql`null`;
  if (links[first.link]!.isEvery) return first.value;
  const cases = keys.map(({ link, value }) => sql`when ${from.place(link)} is not null then ${value}`);
  const otherwise = from.value === null ? empty : sql` else ${from.value}`;
  return sql`case ${join(cases, sql` `)}${otherwise} end`;
}

/** The value in the objects, null for none. */
function printGiven(source: string, { column, values, named }: InsertColumn, index: number): Sql | null {
  if (values === null) return null;
  const value = sql`${ident(source, `c${index}`)}::${typeName(column.cast)}`;
  // All objects set the same columns with defaults.
  if (named === null || column.hasDefault) return value;
  return sql`case when ${ident(source, `p${index}`)} then ${value} end`;
}

/**
 * A key of the row with this number. A missing one fails on purpose, by a cast that contains a column: the planner
 * evaluates no constant one first.
 */
export function printKept(rows: Sql, place: Sql, key: number): Sql {
  const index = sql`(${place} operator(pg_catalog.-) 1)`;
  const found = sql`${rows} operator(pg_catalog.->) ${index} operator(pg_catalog.->>) ${integerLiteral(key)}`;
  const failure = sql`${printFailure(sentinels.noKey, place)}::pg_catalog.text`;
  return sql`coalesce(${found}, ${failure})`;
}

/** The keys that a step has kept, as `jsonb`: an array of texts for each row. */
export function printKeptKeys(step: number): Sql {
  const setting = param({ kind: 'kept_keys', step }, builtin.text);
  return sql`pg_catalog.current_setting(${setting}, true)::pg_catalog.jsonb`;
}

/** The key of the only row that a step has kept. */
export function printOnlyKept(names: Names, { step, key, column }: KeptAssignment): Sql {
  const alias = names.next('k');
  const [rows, place] = [ident(alias, 'v'), ident(alias, 'n')];
  const value = sql`${printKept(rows, place, key)}::${typeName(column.cast)}`;
  // One row: an expression of constants would be evaluated while the statement is planned.
  return sql`(select ${value} from (select ${printKeptKeys(step)}, 1 offset 0) as ${ident(alias)}("v", "n"))`;
}
