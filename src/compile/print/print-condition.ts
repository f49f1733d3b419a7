/**
 * Prints filters, join conditions, cursors and orders over the current row.
 */
import { type Column, comparedAs, type Relationship, type Table } from '../../model/model.ts';
import { unreachable } from '../../shared/invariant.ts';
import type { ComparisonOperator, Condition, CursorPlan, OrderTerm } from '../plan/plan.ts';
import { columnOf, keyColumns } from '../plan/plan-order.ts';
import type { Slot } from '../plan/slot.ts';
import {
  type Comparing,
  isBuiltIn,
  type Matching,
  printCompared,
  printIsAny,
  printJoined,
  printMatched,
  printOperand,
  printRowsCompared,
} from './print-operator.ts';
import { list, type Row } from './print-row.ts';
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
    case 'or': {
      const items = condition.items.map((item) => printCondition(item, row));
      return sql`(${join(items, condition.kind === 'and' ? sql` and ` : sql` or `)})`;
    }
    case 'not':
      return sql`(not ${printCondition(condition.item, row)})`;
    case 'null_test':
      return condition.negated
        ? sql`(${row.column(condition.column)} is not null)`
        : sql`(${row.column(condition.column)} is null)`;
    case 'key':
      return sql`(${printKey(condition.table, condition.slots, row)})`;
    case 'compare':
      return sql`(${comparisons[condition.operator]({ left: row.column(condition.column), ...condition })})`;
    default:
      return unreachable(condition);
  }
}

/** All primary key columns equal the slots. */
export function printKey(table: Table, slots: readonly Slot[], row: Row): Sql {
  const pairs = keyColumns(table).map((column, index) => {
    return printCompared(column.cast, 'eq', row.column(column), value(column, slots[index]!));
  });
  return join(pairs, sql` and `);
}

/** The rows of `relationship` that belong to `parent`, a row of `from`. */
export function printJoin(
  relationship: Relationship,
  from: { readonly table: Table; readonly row: Row },
  target: { readonly table: Table; readonly row: Row },
): Sql {
  const pairs = relationship.pairs.map(({ local, foreign }) => {
    const [left, right] = [columnOf(target.table, foreign), columnOf(from.table, local)];
    return printJoined(target.row.column(left), left.cast, from.row.column(right), right.cast);
  });
  return join(pairs, sql` and `);
}

function value(column: Column, slot: Slot): Sql {
  return param(slot, comparedAs(column.cast));
}

interface Comparison {
  readonly left: Sql;
  readonly column: Column;
  readonly slot: Slot;
}

const comparisons = {
  eq: (comparison) => compare('eq', comparison),
  // The planner makes the other operator of it, which the type may have or not.
  neq: (comparison) =>
    isBuiltIn(comparison.column.cast)
      ? sql`${comparison.left} operator(pg_catalog.<>) ${operand(comparison)}`
      : sql`not ${compare('eq', comparison)}`,
  lt: (comparison) => compare('lt', comparison),
  lte: (comparison) => compare('lte', comparison),
  gt: (comparison) => compare('gt', comparison),
  gte: (comparison) => compare('gte', comparison),
  in: ({ left, column: { cast }, slot }) => printIsAny(cast, left, param(slot, comparedAs(cast), { array: true })),
  // On char(n) trailing blanks of the operand do not count; the cast to text drops them on both sides.
  startsWith: ({ left, column, slot }) =>
    column.cast.blankPadded
      ? sql`pg_catalog.starts_with(${left}::pg_catalog.text, ${param(slot, builtin.bpchar)}::pg_catalog.text)`
      : sql`pg_catalog.starts_with(${left}::pg_catalog.text, ${param(slot, builtin.text)})`,
  like: (comparison) => match('like', comparison),
  ilike: (comparison) => match('ilike', comparison),
  regex: (comparison) => match('regex', comparison),
  iregex: (comparison) => match('iregex', comparison),
  contains: (comparison) => sql`${comparison.left} operator(pg_catalog.@>) ${operand(comparison)}`,
  containedBy: (comparison) => sql`${comparison.left} operator(pg_catalog.<@) ${operand(comparison)}`,
  overlaps: (comparison) => sql`${comparison.left} operator(pg_catalog.&&) ${operand(comparison)}`,
} satisfies Record<ComparisonOperator, (comparison: Comparison) => Sql>;

function operand({ column, slot }: Comparison): Sql {
  return value(column, slot);
}

function compare(how: Comparing, comparison: Comparison): Sql {
  return printCompared(comparison.column.cast, how, comparison.left, operand(comparison));
}

function match(how: Matching, { left, column, slot }: Comparison): Sql {
  return printMatched(column.cast, how, left, param(slot, builtin.text));
}

/** The order of a scan; reversed for a backward one. */
export function scanOrder(order: readonly OrderTerm[], backward: boolean): readonly OrderTerm[] {
  if (!backward) return order;
  return order.map((term) => ({ ...term, descending: !term.descending, nullsFirst: !term.nullsFirst }));
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
 * The rows strictly after a cursor in the order of the scan.
 *
 * Where all elements are values and all terms run the same way that is SQL's row comparison, which an index on the order
 * answers with one range; it has one operator for all, so their types must be built in. It also loses the rows with nulls that the rule loses.
 */
export function printAfter(cursor: CursorPlan, order: readonly OrderTerm[], row: Row): Sql {
  const terms = cursor.elements.map((slot, index) => ({ slot, term: order[index]! }));
  if (terms.length === 0) return sql`false`;
  const same = terms.every(({ slot, term }) => slot !== null && term.descending === terms[0]!.term.descending);
  if (same && (terms.length === 1 || terms.every(({ term }) => isBuiltIn(term.column.cast))))
    return printRowComparison(terms as readonly { slot: Slot; term: OrderTerm }[], row);
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
  const { term, slot } = terms[0]!;
  if (terms.length === 1) return sql`(${printStep(beyondOf(term), term, slot, row)})`;
  const left = list(terms.map((each) => printOperand(each.term.column.cast, row.column(each.term.column))));
  const right = list(terms.map((each) => value(each.term.column, each.slot)));
  return sql`(${printRowsCompared(beyondOf(term), left, right)})`;
}

// Implied by every branch; gives the planner a range on the first column.
function printBound({ slot, term }: { slot: Slot | null; term: OrderTerm }, row: Row): Sql | null {
  return slot === null ? null : printStep(term.descending ? 'lte' : 'gte', term, slot, row);
}

function printEqual(slot: Slot | null, term: OrderTerm, row: Row): Sql {
  return slot === null ? sql`${row.column(term.column)} is null` : printStep('eq', term, slot, row);
}

function printBeyond(slot: Slot | null, term: OrderTerm, row: Row): Sql | null {
  if (slot === null) return term.nullsFirst ? sql`${row.column(term.column)} is not null` : null;
  return printStep(beyondOf(term), term, slot, row);
}

function beyondOf({ descending }: OrderTerm): Comparing {
  return descending ? 'lt' : 'gt';
}

function printStep(how: Comparing, { column }: OrderTerm, slot: Slot, row: Row): Sql {
  return printCompared(column.cast, how, row.column(column), value(column, slot));
}

/**
 * Whether a row has another key than the one that `right` selects, null beside null being the same. Keys are compared as records,
 * which look for no operator by name; one that is never null by its own.
 *
 * @param right From the key of its row to the expression that has it.
 */
export function printOtherKey(
  { table, isStored }: { readonly table: Table; readonly isStored: boolean },
  left: Row,
  right: { readonly row: Row; readonly read: (key: Sql) => Sql },
): Sql {
  const keys = keyColumns(table);
  const [only] = keys;
  if (only !== undefined && keys.length === 1 && only.notNull && isStored) {
    const equal = printCompared(only.cast, 'eq', left.column(only), right.read(right.row.column(only)));
    return sql`coalesce(not ${equal}, true)`;
  }
  const recordOf = (row: Row) => sql`row(${list(keys.map((column) => row.column(column)))})::pg_catalog.record`;
  return sql`coalesce(${recordOf(left)} operator(pg_catalog.<>) ${right.read(recordOf(right.row))}, true)`;
}
