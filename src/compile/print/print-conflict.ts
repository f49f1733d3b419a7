/**
 * Prints what an insert does with rows that are there already: `on conflict (…) do update set c = excluded.c where …`.
 */
import type { IndexExpression, IndexToken, IndexWord, Table } from '../../model/model.ts';
import { unreachable } from '../../shared/invariant.ts';
import type { ConflictPlan } from '../plan/plan.ts';
import { columnOf } from '../plan/plan-order.ts';
import { printCondition, where } from '../sql/print-condition.ts';
import { directRow, list, type Names } from '../sql/print-row.ts';
import { empty, ident, integer, join, literal, operatorIn, type Sql, sql } from '../sql/sql.ts';

/** The table of an insert. */
export interface InsertTarget {
  readonly table: Table;
  /** Its alias in the statement. */
  readonly alias: string;
}

/** The clause behind the rows of an insert; nothing without a plan. */
export function printConflict(names: Names, { table, alias }: InsertTarget, conflict: ConflictPlan | null): Sql {
  if (conflict === null) return empty;
  const { target, update, filter } = conflict;
  const keys = list(target.keys.map((key) => printKey(table, key)));
  const predicate = where(target.predicate && printTokens(table, target.predicate));
  const clause = sql` on conflict (${keys})${predicate}`;
  if (update.length === 0) return sql`${clause} do nothing`;
  const set = list(update.map(({ name }) => sql`${ident(name)} = ${ident('excluded', name)}`));
  const condition = where(filter && printCondition(names, filter, directRow(alias, table)));
  return sql`${clause} do update set ${set}${condition}`;
}

function printKey(table: Table, key: IndexExpression): Sql {
  const tokens = printTokens(table, key);
  return key.length === 1 && key[0]?.kind === 'column' ? tokens : sql`(${tokens})`;
}

function printTokens(table: Table, expression: IndexExpression): Sql {
  return join(
    expression.map((token) => printToken(table, token)),
    sql` `,
  );
}

function printToken(table: Table, token: IndexToken): Sql {
  switch (token.kind) {
    case 'column':
      return ident(columnOf(table, token.number).name);
    case 'text':
      return literal(token.text);
    case 'number':
      return integer(token.value);
    case 'function':
      return ident(token.namespace, token.name);
    case 'cast':
      return sql`::${ident(token.namespace, token.name)}`;
    case 'operator':
      return operatorIn(token.namespace, token.name);
    case 'word':
      return words[token.word];
    default:
      return unreachable(token);
  }
}

const words: Readonly<Record<IndexWord, Sql>> = {
  AND: sql`and`,
  OR: sql`or`,
  NOT: sql`not`,
  IS: sql`is`,
  NULL: sql`null`,
  TRUE: sql`true`,
  FALSE: sql`false`,
  UNKNOWN: sql`unknown`,
  ANY: sql`any`,
  ALL: sql`all`,
  ARRAY: sql`array`,
  COALESCE: sql`coalesce`,
  GREATEST: sql`greatest`,
  LEAST: sql`least`,
  AT: sql`at`,
  TIME: sql`time`,
  ZONE: sql`zone`,
  '(': sql`(`,
  ')': sql`)`,
  '[': sql`[`,
  ']': sql`]`,
  ',': sql`,`,
};
