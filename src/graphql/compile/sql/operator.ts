/**
 * Prints operators with their schema. The request's search path has schemas in which others may create operators; one
 * that matches better than the built-in would run their code as the caller.
 *
 * Only PostgreSQL creates in `pg_catalog`. An operator of another schema takes exactly its own type: domains are cast
 * to their base type, so nothing in that schema matches better.
 */
import { comparedAs, type SqlType } from '../../model/model.ts';
import { ident, operatorIn, type Sql, sql } from './sql.ts';

/** How two values of one type are compared. */
export type Comparing = 'eq' | 'lt' | 'lte' | 'gt' | 'gte';
/** How a value is compared with a pattern. */
export type Matching = 'like' | 'ilike' | 'regex' | 'iregex';

const builtIn = {
  eq: sql`operator(pg_catalog.=)`,
  lt: sql`operator(pg_catalog.<)`,
  lte: sql`operator(pg_catalog.<=)`,
  gt: sql`operator(pg_catalog.>)`,
  gte: sql`operator(pg_catalog.>=)`,
  like: sql`operator(pg_catalog.~~)`,
  ilike: sql`operator(pg_catalog.~~*)`,
  regex: sql`operator(pg_catalog.~)`,
  iregex: sql`operator(pg_catalog.~*)`,
} satisfies Record<Comparing | Matching, Sql>;

/** `left < right`, both of the type. */
export function printCompared(type: SqlType, how: Comparing, left: Sql, right: Sql): Sql {
  return sql`${printOperand(type, left)} ${operatorOf(type, how)} ${printOperand(type, right)}`;
}

/** The type of a value that is compared with a key: with the modifier, it would be cut to the length of the column. */
export function keyType(cast: SqlType): SqlType {
  return { ...comparedAs(cast), modifier: null };
}

/** Whether the value is in a list, an array of the type. */
export function printIsAny(type: SqlType, left: Sql, array: Sql): Sql {
  const { own } = type;
  const list =
    own?.isDomain && type.base === null ? sql`${array}::${ident(own.type.namespace, own.type.name)}[]` : array;
  return sql`${printOperand(type, left)} ${operatorOf(type, 'eq')} any (${list})`;
}

/** `left like pattern`; the pattern is text. */
export function printMatched(type: SqlType, how: Matching, left: Sql, pattern: Sql): Sql {
  return sql`${printOperand(type, left)} ${operatorOf(type, how)} ${pattern}`;
}

/** Equality of two columns; different types are compared as PostgreSQL's common type. */
export function printJoined(left: Sql, leftType: SqlType, right: Sql, rightType: SqlType): Sql {
  const [one, other] = [leftType.own?.type, rightType.own?.type];
  const isSame = one?.namespace === other?.namespace && one?.name === other?.name;
  if (!isSame || !leftType.own) {
    const sides = [
      leftType.own ? left : printOperand(leftType, left),
      rightType.own ? right : printOperand(rightType, right),
    ] as const;
    return sql`${sides[0]} ${builtIn.eq} ${sides[1]}`;
  }
  return sql`${printOperand(leftType, left)} ${operatorOf(leftType, 'eq')} ${printOperand(rightType, right)}`;
}

/** `(a, b) < (x, y)`, for types with a built-in order. */
export function printRowsCompared(how: Comparing, left: Sql, right: Sql): Sql {
  return sql`(${left}) ${builtIn[how]} (${right})`;
}

/** Whether values of the type are compared by operators of `pg_catalog`. */
export function hasBuiltInOperators({ own }: SqlType): boolean {
  return own === null;
}

/** The value as an operand: operators of enums and ranges do not mix a domain with its base type. */
export function printOperand({ own, base }: SqlType, value: Sql): Sql {
  const type = own?.isDomain ? own.type : base;
  // Without its modifier, so that an index still matches.
  return type ? sql`${value}::${ident(type.namespace, type.name)}` : value;
}

function operatorOf({ own }: SqlType, operation: Comparing | Matching): Sql {
  const name = own?.names[operation];
  return own == null || name === undefined ? builtIn[operation] : operatorIn(own.type.namespace, name);
}
