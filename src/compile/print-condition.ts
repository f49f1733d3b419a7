/**
 * Prints filters, join conditions, cursors and orders over the current row.
 */
import type { Column, Relationship, Table } from '../model/model.ts';
import { unreachable } from '../shared/invariant.ts';
import type { ComparisonOperator, Condition, CursorPlan, OrderTerm } from './plan.ts';
import { columnOf, keyColumns } from './plan-order.ts';
import { list, type Row } from './print-row.ts';
import type { Slot } from './slot.ts';
import { builtin, join, param, type Sql, sql } from './sql.ts';

/** Conditions joined by `and`; null without any. */
export function conjunction(conditions: readonly (Sql | null)[]): Sql | null {
  const present = conditions.filter((condition) => condition !== null);
  return present.length === 0 ? null : join(present, sql` and `);
}

/** ` where …`, or nothing. */
export function where(condition: Sql | null): Sql {
  return condition === null ? sql`` : sql` where ${condition}`;
}

/** A filter over a row. */
export function printCondition(condition: Condition, row: Row): Sql {
  switch (condition.kind) {
    case 'and':
      return sql`(${join(
        condition.items.map((item) => printCondition(item, row)),
        sql` and `,
      )})`;
    case 'or':
      return sql`(${join(
        condition.items.map((item) => printCondition(item, row)),
        sql` or `,
      )})`;
    case 'not':
      return sql`(not ${printCondition(condition.item, row)})`;
    case 'null_test':
      return condition.negated
        ? sql`(${row.column(condition.column)} is not null)`
        : sql`(${row.column(condition.column)} is null)`;
    case 'key':
      return sql`(${printKey(condition.table, condition.slots, row)})`;
    case 'compare':
      return sql`(${printComparison(condition, row)})`;
    default:
      return unreachable(condition);
  }
}

/** All primary key columns equal the slots. */
export function printKey(table: Table, slots: readonly Slot[], row: Row): Sql {
  const pairs = keyColumns(table).map((column, index) => sql`${row.column(column)} = ${value(column, slots[index]!)}`);
  return join(pairs, sql` and `);
}

/** The rows of `relationship` that belong to `parent`, a row of `from`. */
export function printJoin(
  relationship: Relationship,
  from: { readonly table: Table; readonly row: Row },
  target: { readonly table: Table; readonly row: Row },
): Sql {
  const pairs = relationship.pairs.map(({ local, foreign }) => {
    const left = target.row.column(columnOf(target.table, foreign));
    return sql`${left} = ${from.row.column(columnOf(from.table, local))}`;
  });
  return join(pairs, sql` and `);
}

function value(column: Column, slot: Slot): Sql {
  return param(slot, column.cast);
}

function printComparison(condition: Extract<Condition, { kind: 'compare' }>, row: Row): Sql {
  const { column, slot } = condition;
  const left = row.column(column);
  return comparisons[condition.operator]({ left, column, slot });
}

interface Comparison {
  readonly left: Sql;
  readonly column: Column;
  readonly slot: Slot;
}

const text = (slot: Slot): Sql => param(slot, builtin.text);

const comparisons = {
  eq: ({ left, column, slot }) => sql`${left} = ${value(column, slot)}`,
  neq: ({ left, column, slot }) => sql`${left} <> ${value(column, slot)}`,
  lt: ({ left, column, slot }) => sql`${left} < ${value(column, slot)}`,
  lte: ({ left, column, slot }) => sql`${left} <= ${value(column, slot)}`,
  gt: ({ left, column, slot }) => sql`${left} > ${value(column, slot)}`,
  gte: ({ left, column, slot }) => sql`${left} >= ${value(column, slot)}`,
  in: ({ left, column, slot }) => sql`${left} = any (${param(slot, column.cast, { array: true })})`,
  // On char(n) trailing blanks of the operand do not count; the cast to text drops them on both sides.
  startsWith: ({ left, column, slot }) =>
    column.cast.blankPadded
      ? sql`pg_catalog.starts_with(${left}::pg_catalog.text, ${param(slot, builtin.bpchar)}::pg_catalog.text)`
      : sql`pg_catalog.starts_with(${left}::pg_catalog.text, ${text(slot)})`,
  like: ({ left, slot }) => sql`${left} like ${text(slot)}`,
  ilike: ({ left, slot }) => sql`${left} ilike ${text(slot)}`,
  regex: ({ left, slot }) => sql`${left} ~ ${text(slot)}`,
  iregex: ({ left, slot }) => sql`${left} ~* ${text(slot)}`,
  contains: ({ left, column, slot }) => sql`${left} @> ${value(column, slot)}`,
  containedBy: ({ left, column, slot }) => sql`${left} <@ ${value(column, slot)}`,
  overlaps: ({ left, column, slot }) => sql`${left} && ${value(column, slot)}`,
} satisfies Record<ComparisonOperator, (comparison: Comparison) => Sql>;

/** The order of a scan; reversed for a backward one. */
export function scanOrder(order: readonly OrderTerm[], backward: boolean): readonly OrderTerm[] {
  if (!backward) return order;
  return order.map(({ column, descending, nullsFirst }) => ({
    column,
    descending: !descending,
    nullsFirst: !nullsFirst,
  }));
}

/**
 * ` order by …`. Where there are no nulls their place is the one that indexes have unless told otherwise: PostgreSQL takes an
 * index for an order only where both put them in the same place.
 *
 * @param isStored The rows are those of a table, which keeps its columns free of nulls.
 */
export function printOrder(order: readonly OrderTerm[], row: Row, isStored: boolean): Sql {
  const terms = order.map(({ column, descending, nullsFirst }) => {
    const direction = descending ? sql` desc` : sql` asc`;
    const isFirst = isStored && column.hasNoNulls ? descending : nullsFirst;
    const nulls = isFirst ? sql` nulls first` : sql` nulls last`;
    return sql`${row.column(column)}${direction}${nulls}`;
  });
  return sql` order by ${list(terms)}`;
}

/**
 * The rows strictly after a cursor in the order of the scan (graphql.md 6.3).
 *
 * Where all elements are values and all terms run the same way that is SQL's row comparison, which an index on the order
 * answers with one range. It also loses the rows with nulls that the rule loses.
 */
export function printAfter(cursor: CursorPlan, order: readonly OrderTerm[], row: Row): Sql {
  const terms = cursor.elements.map((slot, index) => ({ slot, term: order[index]! }));
  if (terms.length === 0) return sql`false`;
  const same = terms.every(({ slot, term }) => slot !== null && term.descending === terms[0]!.term.descending);
  if (same) return printRowComparison(terms as readonly { slot: Slot; term: OrderTerm }[], row);
  const branches = terms.flatMap((last, index) => {
    const beyond = printBeyond(last.slot, last.term, row);
    if (beyond === null) return [];
    const equal = terms.slice(0, index).map(({ slot, term }) => printEqual(slot, term, row));
    return [sql`(${join([...equal, beyond], sql` and `)})`];
  });
  const any = branches.length === 0 ? sql`false` : sql`(${join(branches, sql` or `)})`;
  const bound = printBound(terms[0]!, row);
  return bound === null ? any : sql`(${bound} and ${any})`;
}

function printRowComparison(terms: readonly { slot: Slot; term: OrderTerm }[], row: Row): Sql {
  const left = list(terms.map(({ term }) => row.column(term.column)));
  const right = list(terms.map(({ slot, term }) => value(term.column, slot)));
  const operator = terms[0]!.term.descending ? sql`<` : sql`>`;
  return terms.length === 1 ? sql`(${left} ${operator} ${right})` : sql`((${left}) ${operator} (${right}))`;
}

// Implied by every branch; gives the planner a range on the first column.
function printBound({ slot, term }: { slot: Slot | null; term: OrderTerm }, row: Row): Sql | null {
  if (slot === null) return null;
  const operator = term.descending ? sql`<=` : sql`>=`;
  return sql`${row.column(term.column)} ${operator} ${value(term.column, slot)}`;
}

function printEqual(slot: Slot | null, term: OrderTerm, row: Row): Sql {
  const left = row.column(term.column);
  return slot === null ? sql`${left} is null` : sql`${left} = ${value(term.column, slot)}`;
}

function printBeyond(slot: Slot | null, term: OrderTerm, row: Row): Sql | null {
  const left = row.column(term.column);
  if (slot === null) return term.nullsFirst ? sql`${left} is not null` : null;
  return term.descending ? sql`${left} < ${value(term.column, slot)}` : sql`${left} > ${value(term.column, slot)}`;
}
