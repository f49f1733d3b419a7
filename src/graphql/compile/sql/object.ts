/**
 * Prints a JSON object. The members are columns of a lateral subquery, which PostgreSQL flattens into a row
 * constructor: one conversion to JSON at the top makes the whole tree, without intermediate text.
 *
 * Column aliases over 63 bytes would be truncated silently, and a select list is limited to 1,664 columns. Objects
 * beyond that use `json_build_object`, 50 pairs per call, joined as text because `json` has no `||`.
 */
import type { Keyed, Typename } from '../plan/plan.ts';
import { everythingOf, list, type Names } from './row.ts';
import { ident, literal, type Sql, sql } from './sql.ts';

/** A response key and the expression of its value. */
export interface Member {
  readonly key: string;
  readonly value: Sql;
}

/** The members for entries; `__typename` is always the same. */
export function printEntries<E extends Keyed<{ readonly kind: string }>>(
  entries: readonly (E | Keyed<Typename>)[],
  print: (entry: Exclude<E, Typename>) => Sql,
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
export function printObject(names: Names, members: readonly Member[], condition: Sql = sql``): PrintedObject {
  const name = names.next('o');
  if (members.length <= maxColumns && members.every(({ key }) => key.length <= maxAliasBytes)) {
    const columns = members.map(({ key, value }) => sql`${value} as ${ident(key)}`);
    const select = columns.length === 0 ? sql`select` : sql`select ${list(columns)}`;
    const value = sql`${everythingOf(name)}::pg_catalog.record`;
    return {
      from: sql`lateral (${select}${condition}) as ${ident(name)}`,
      value,
      json: sql`pg_catalog.row_to_json(${value})`,
    };
  }
  const value = ident(name, 'j');
  return {
    from: sql`lateral (select ${buildInParts(members)} as "j"${condition}) as ${ident(name)}`,
    value,
    json: value,
  };
}

/** A complete scalar subquery that gives the object as json. */
export function printObjectQuery(names: Names, members: readonly Member[]): Sql {
  const object = printObject(names, members);
  return sql`(select ${object.json} from ${object.from})`;
}

function buildInParts(members: readonly Member[]): Sql {
  const parts: Sql[] = [];
  for (let start = 0; start < members.length; start += maxPairs) {
    const pairs = members.slice(start, start + maxPairs);
    parts.push(
      sql`pg_catalog.json_build_object(${list(pairs.map(({ key, value }) => sql`${literal(key)}, ${value}`))})`,
    );
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
