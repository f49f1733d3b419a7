/**
 * Prints a JSON object. The members are columns of a lateral subquery, which PostgreSQL flattens into a row
 * constructor: one conversion to JSON at the top makes the whole tree, without intermediate text.
 *
 * Column aliases over 63 bytes would be truncated silently, and a select list is limited to 1,664 columns. Objects
 * beyond that use `json_build_object`, 50 pairs per call, joined as text because `json` has no `||`.
 */
import type { Keyed, Typename } from '../plan/plan.ts';
import { type LongObjects, type MeasuredValue, measuresAll, type ObjectSize, printBounded } from './bounded-object.ts';
import { everythingOf, list, type Names } from './row.ts';
import { empty, ident, join, literal, Sql, sql } from './sql.ts';
import { madeAtOnce } from './value-bytes.ts';

/** The statement that objects are part of. */
export interface ObjectPrinter {
  readonly names: Names;
  readonly longObjects: LongObjects;
}

/**
 * The expression of a value, and what tells how many bytes it has: a column's text, or the value's own text or JSON when it is
 * made; or about how many.
 */
export interface SizedValue {
  readonly value: Sql;
  readonly of: SizedColumn | 'text' | 'json' | number;
}

interface SizedColumn {
  readonly column: number;
  readonly text: Sql;
}

/** A response key and its value. */
export interface Member {
  readonly key: string;
  readonly value: Sql | SizedValue;
}

/** The members for entries; `__typename` is always the same. */
export function printEntries<E extends Keyed<{ readonly kind: string }>>(
  entries: readonly (E | Keyed<Typename>)[],
  print: (entry: Exclude<E, Typename>) => Sql | SizedValue,
): readonly Member[] {
  return entries.map((entry) => ({
    key: entry.key,
    value: isTypename(entry) ? sql`${literal(entry.name)}::pg_catalog.text` : print(entry as Exclude<E, Typename>),
  }));
}

/** Whether an entry is `__typename`. */
export function isTypename(entry: { readonly kind: string }): entry is Typename {
  return entry.kind === 'typename';
}

/** An object that is usable with its `from` item in the from clause. */
export interface PrintedObject {
  /** `lateral (…) as o1`. */
  readonly from: Sql;
  /** The object as a record or json: for members of other objects and for `json_agg`. */
  readonly value: Sql;
  readonly json: Sql;
}

const maxAliasBytes = 63;
const maxColumns = 1600;
const maxPairs = 50;

/**
 * Prints an object of the members, in order; `{}` for none. With a `condition` (an SQL ` where …`), the from item is
 * empty and nothing is evaluated unless it holds.
 */
export function printObject(printer: ObjectPrinter, members: readonly Member[], condition: Sql = empty): PrintedObject {
  const { from, values, size } = measure(printer, members, condition);
  const name = printer.names.next('o');
  const bounded = (made: Sql) => (size === null ? made : printBounded(printer.longObjects, size, made));
  const select = (selected: Sql): Sql => {
    const item = sql`lateral (select${selected}${from === null ? condition : empty}) as ${ident(name)}`;
    return from === null ? item : sql`(${from} cross join ${item})`;
  };
  if (members.length <= maxColumns && members.every(({ key }) => key.length <= maxAliasBytes)) {
    const columns = members.map(({ key }, index) => sql`${values[index]!} as ${ident(key)}`);
    const value = sql`${everythingOf(name)}::pg_catalog.record`;
    return {
      from: select(columns.length === 0 ? empty : sql` ${list(columns)}`),
      value: bounded(value),
      json: bounded(sql`pg_catalog.row_to_json(${value})`),
    };
  }
  const value = ident(name, 'j');
  return { from: select(sql` ${bounded(buildInParts(members, values))} as "j"`), value, json: value };
}

interface Measured {
  /** The long values that had to be made, which `values` refer to; null: none. */
  readonly from: Sql | null;
  readonly values: readonly Sql[];
  /** Null: nothing needs to be measured. */
  readonly size: ObjectSize | null;
}

// What is no text is made as JSON, which nothing changes any more. `offset 0` keeps the planner from repeating them where they are used.
function measure({ names, longObjects }: ObjectPrinter, members: readonly Member[], condition: Sql): Measured {
  const sizes = new Sizes();
  const froms: Sql[] = [];
  let made: Sql[] = [];
  let where = condition;
  let alias = '';
  const finish = (): void => {
    if (made.length > 0) froms.push(sql`lateral (select ${list(made)}${where} offset 0) as ${ident(alias)}`);
    made = [];
  };
  const values = members.map(({ key, value }): Sql => {
    sizes.addFixed(key.length + 4);
    if (value instanceof Sql) return value;
    if (typeof value.of === 'number') {
      sizes.addFixed(value.of);
      return value.value;
    }
    if (typeof value.of === 'object') {
      sizes.addColumn(value.of);
      return value.value;
    }
    if (made.length === madeAtOnce) {
      finish();
      where = sql` where ${printBounded(longObjects, sizes.take(), sql`true`)}`;
    }
    if (made.length === 0) alias = names.next('v');
    const name = `v${made.length + 1}`;
    const reference = ident(alias, name);
    if (value.of === 'text') {
      made.push(sql`${value.value} as ${ident(name)}`);
      sizes.add({ value: reference, kind: 'text', count: 1 });
    } else {
      made.push(sql`pg_catalog.to_json(${value.value}) as ${ident(name)}`);
      sizes.add({ value: reference, kind: 'json', count: 1 });
    }
    return reference;
  });
  finish();
  const isMeasured = sizes.some || measuresAll(longObjects);
  return {
    from: froms.length === 0 ? null : join(froms, sql` cross join `),
    values,
    size: isMeasured ? sizes.take() : null,
  };
}

/** Collects the size of an object. */
class Sizes {
  // Braces, without the comma that `addFixed` counts after the last member.
  #fixed = 1;
  #values: MeasuredValue[] = [];
  readonly #columns = new Map<number, MeasuredValue>();

  get some(): boolean {
    return this.#values.length > 0 || this.#columns.size > 0;
  }

  addFixed(bytes: number): void {
    this.#fixed += bytes;
  }

  add(value: MeasuredValue): void {
    this.#values.push(value);
  }

  /** A column, which several keys may show. */
  addColumn({ column, text }: SizedColumn): void {
    const count = (this.#columns.get(column)?.count ?? 0) + 1;
    this.#columns.set(column, { value: text, kind: 'text', count });
  }

  /** The size, which begins anew. */
  take(): ObjectSize {
    const taken = { fixed: this.#fixed, values: [...this.#values, ...this.#columns.values()] };
    this.#fixed = 0;
    this.#values = [];
    this.#columns.clear();
    return taken;
  }
}

/** A complete scalar subquery that gives the object as json. */
export function printObjectQuery(printer: ObjectPrinter, members: readonly Member[]): Sql {
  const object = printObject(printer, members);
  return sql`(select ${object.json} from ${object.from})`;
}

function buildInParts(members: readonly Member[], values: readonly Sql[]): Sql {
  const pairs = members.map(({ key }, index) => sql`${literal(key)}, ${values[index]!}`);
  const parts: Sql[] = [];
  for (let start = 0; start < pairs.length; start += maxPairs) {
    parts.push(sql`pg_catalog.json_build_object(${list(pairs.slice(start, start + maxPairs))})`);
  }
  const [only, ...others] = parts;
  if (only === undefined) return sql`'{}'::pg_catalog.json`;
  if (others.length === 0) return only;
  const joined = others.reduce(
    (text, part) =>
      sql`pg_catalog.left(${text}, -1) operator(pg_catalog.||) ',' operator(pg_catalog.||) pg_catalog.substr(${part}::pg_catalog.text, 2)`,
    sql`${only}::pg_catalog.text`,
  );
  return sql`(${joined})::pg_catalog.json`;
}
