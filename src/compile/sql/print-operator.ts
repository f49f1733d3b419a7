/**
 * Prints operators, each with its schema. A request runs under a search path with schemas in which others may create, and an
 * operator that fits its operands better than the built-in one would run their code as the caller.
 *
 * In `pg_catalog` nobody else creates. An operator of another schema takes exactly its own type: domains are cast to what they
 * stand on, so that nothing of the same schema fits better.
 */
import type { SqlType } from '../../model/model.ts';
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

/** Whether the value is one of a list, which is an array of the type. */
export function printIsAny(type: SqlType, left: Sql, array: Sql): Sql {
  const { own } = type;
  const list =
    own?.isDomain && type.base === null ? sql`${array}::${ident(own.type.namespace, own.type.name)}[]` : array;
  return sql`${printOperand(type, left)} ${operatorOf(type, 'eq')} any (${list})`;
}

/** `left like pattern`; the pattern is a text. */
export function printMatched(type: SqlType, how: Matching, left: Sql, pattern: Sql): Sql {
  return sql`${printOperand(type, left)} ${operatorOf(type, how)} ${pattern}`;
}

/** Equality of two columns; those of different types meet as what PostgreSQL has for both. */
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

/** `(a, b) < (x, y)`, for types of which all have a built-in order. */
export function printRowsCompared(how: Comparing, left: Sql, right: Sql): Sql {
  return sql`(${left}) ${builtIn[how]} (${right})`;
}

/** Whether values of the type are compared by what `pg_catalog` has. */
export function isBuiltIn({ own }: SqlType): boolean {
  return own === null;
}

/** The value as what operators of its type take: those of enums and ranges do not take a domain beside what it stands on. */
export function printOperand({ own, base }: SqlType, value: Sql): Sql {
  const type = own?.isDomain ? own.type : base;
  // Without its modifier, so that it stays the column to an index.
  return type ? sql`${value}::${ident(type.namespace, type.name)}` : value;
}

function operatorOf({ own }: SqlType, operation: Comparing | Matching): Sql {
  const name = own?.names[operation];
  return own == null || name === undefined ? builtIn[operation] : operatorIn(own.type.namespace, name);
}
