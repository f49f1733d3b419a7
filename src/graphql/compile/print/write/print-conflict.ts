/**
 * Prints what an insert does with rows that are there already: `on conflict (…) do update set c = excluded.c where …`.
 *
 * A hidden row must not answer the caller's filter. PostgreSQL would let it: it evaluates `where` before the policies of
 * the existing row, and never the condition of a view. With `filter: {salary: {gt: 100}}`, updated or not would tell the
 * salary. So where rows can be hidden, `where` looks the row up as the role sees it; a row not found passes. `set` runs
 * after the policies. It fails by the sentinel if the role does not see the row, and evaluates the filter once more, on the
 * row as it is now, because another transaction may have changed it.
 */

import { invariant, unreachable } from '../../../../shared/invariant.ts';
import type { IndexExpression, IndexToken, IndexWord } from '../../../model/index-tokens.ts';
import type { Column, ConflictTarget, Table } from '../../../model/model.ts';
import type { ConflictPlan } from '../../plan/plan.ts';
import { columnOf } from '../../plan/plan-order.ts';
import { mayMeetHidden } from '../../plan/write/plan-conflict.ts';
import { printCondition, where } from '../../sql/condition.ts';
import { printFailure, sentinels } from '../../sql/failure-sentinels.ts';
import { printJoined } from '../../sql/operator.ts';
import { tableName } from '../../sql/printer.ts';
import { directRow, list, type Names } from '../../sql/row.ts';
import { empty, ident, integerLiteral, join, literal, operatorIn, type Sql, sql } from '../../sql/sql.ts';

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
  const condition = filter && printCondition(names, filter, directRow(alias, table));
  if (!mayMeetHidden(conflict)) return sql`${clause} do update set ${printSet(update)}${where(condition)}`;
  const again = names.next('t');
  const found = printFound({ table, alias }, target, again);
  const isFound = sql`exists (select${found})`;
  // Selected, so that it is evaluated on no other row: it may fail.
  const asked = filter && sql`pg_catalog.bool_or(${printCondition(names, filter, directRow(again, table))})`;
  const guarded = asked && sql`case when ${isFound} then (select ${asked}${found}) else true end`;
  const [first, ...others] = update;
  const value = ident('excluded', first!.name);
  const isOfView = target.hiddenBy === 'view';
  const fails = (sentinel: 'unseen' | 'unshown') =>
    sql`${printFailure(sentinels[sentinel], sql`(select pg_catalog.count(*)${found})`)} is null`;
  // The lock has the condition of a view evaluated on the changed row; the upsert holds it anyway.
  const isShown = isOfView ? sql`exists (select${found} for no key update)` : isFound;
  const isSame = condition === null ? isShown : sql`case when ${isShown} then ${condition} end`;
  // Another transaction has changed it meanwhile.
  const isChanged =
    isOfView && condition !== null ? sql`when ${isShown} then case when ${fails('unseen')} then ${value} end ` : empty;
  const refused = fails(isOfView ? 'unshown' : 'unseen');
  const refusing = sql`case when ${isSame} then ${value} ${isChanged}when ${refused} then ${value} end`;
  const set = list([sql`${ident(first!.name)} = ${refusing}`, ...others.map(printAssigned)]);
  return sql`${clause} do update set ${set}${where(guarded)}`;
}

/** ` from … where …` of the row that is there, as the role sees it. */
function printFound({ table, alias }: InsertTarget, { identity }: ConflictTarget, again: string): Sql {
  invariant(identity !== null && identity.length > 0, 'a target whose rows can be hidden has an identity');
  const [found, there] = [directRow(again, table), directRow(alias, table)];
  const pairs = identity.map((number) => {
    const column = columnOf(table, number);
    return printJoined(found.column(column), column.cast, there.column(column), column.cast);
  });
  return sql` from ${tableName(table)} as ${ident(again)} where ${join(pairs, sql` and `)}`;
}

function printSet(columns: readonly Column[]): Sql {
  return list(columns.map(printAssigned));
}

function printAssigned({ name }: Column): Sql {
  return sql`${ident(name)} = ${ident('excluded', name)}`;
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
      return integerLiteral(token.value);
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
