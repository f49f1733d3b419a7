/**
 * Prints orders and cursors over the current row.
 */
import type { SqlType, Table } from '../../model/model.ts';
import type { CursorPlan, OrderTerm } from '../plan/plan.ts';
import { keyColumns } from '../plan/plan-order.ts';
import type { Slot } from '../plan/slot.ts';
import { printSlot } from './print-condition.ts';
import { printExpression, typeOf } from './print-expression.ts';
import { type Comparing, isBuiltIn, printCompared, printOperand, printRowsCompared } from './print-operator.ts';
import { list, type Row } from './print-row.ts';
import { join, type Sql, sql } from './sql.ts';

/** The order of a scan; reversed for a backward one. */
export function scanOrder(order: readonly OrderTerm[], backward: boolean): readonly OrderTerm[] {
  if (!backward) return order;
  return order.map((term) => ({ ...term, descending: !term.descending, nullsFirst: !term.nullsFirst }));
}

/** The values of the terms of an order over a row. */
export function printSortKeys(order: readonly OrderTerm[], row: Row): readonly Sql[] {
  return order.map(({ expression }) => printExpression(expression, row));
}

/**
 * ` order by …`. Where there are no nulls their place is the one that indexes have unless told otherwise: PostgreSQL takes an
 * index for an order only where both put them in the same place.
 *
 * @param isStored The rows are those of a table, which keeps its columns free of nulls.
 */
export function printOrder(order: readonly OrderTerm[], sortKeys: readonly Sql[], isStored: boolean): Sql {
  const terms = order.map(({ expression, descending, nullsFirst }, index) => {
    const direction = descending ? sql` desc` : sql` asc`;
    const hasNoNulls = isStored && expression.kind === 'column' && expression.column.hasNoNulls;
    const isFirst = hasNoNulls ? descending : nullsFirst;
    const nulls = isFirst ? sql` nulls first` : sql` nulls last`;
    return sql`${sortKeys[index]!}${direction}${nulls}`;
  });
  return sql` order by ${list(terms)}`;
}

/**
 * The rows strictly after a cursor in the order of the scan.
 *
 * Where all elements are values and all terms run the same way that is SQL's row comparison, which an index on the order
 * answers with one range; it has one operator for all, so their types must be built in. It also loses the rows with nulls that the rule loses.
 */
export function printAfter(cursor: CursorPlan, order: readonly OrderTerm[], sortKeys: readonly Sql[]): Sql {
  const terms = cursor.elements.map((slot, index): Place => {
    const term = order[index]!;
    return { slot, term, key: sortKeys[index]!, type: typeOf(term.expression) };
  });
  const [first] = terms;
  if (first === undefined) return sql`false`;
  const same = terms.every(({ slot, term }) => slot !== null && term.descending === first.term.descending);
  if (same && (terms.length === 1 || terms.every(({ type }) => isBuiltIn(type)))) return printRowComparison(terms);
  const branches = terms.flatMap((last, index) => {
    const beyond = printBeyond(last);
    if (beyond === null) return [];
    const equal = terms.slice(0, index).map(printEqual);
    return [sql`(${join([...equal, beyond], sql` and `)})`];
  });
  const any = branches.length === 0 ? sql`false` : sql`(${join(branches, sql` or `)})`;
  // Implied by every branch; gives the planner a range on the first key.
  return first.slot === null ? any : sql`(${printStep(first.term.descending ? 'lte' : 'gte', first)} and ${any})`;
}

/** A sort key and its value at the cursor, null where that is null. */
interface Place {
  readonly key: Sql;
  readonly type: SqlType;
  readonly slot: Slot | null;
  readonly term: OrderTerm;
}

function printRowComparison(places: readonly Place[]): Sql {
  const first = places[0]!;
  if (places.length === 1) return sql`(${printStep(beyondOf(first), first)})`;
  const left = list(places.map(({ type, key }) => printOperand(type, key)));
  const right = list(places.map(({ type, slot }) => printSlot(type, slot!)));
  return sql`(${printRowsCompared(beyondOf(first), left, right)})`;
}

function printEqual(place: Place): Sql {
  return place.slot === null ? sql`${place.key} is null` : printStep('eq', place);
}

function printBeyond(place: Place): Sql | null {
  if (place.slot === null) return place.term.nullsFirst ? sql`${place.key} is not null` : null;
  return printStep(beyondOf(place), place);
}

function beyondOf({ term }: Place): Comparing {
  return term.descending ? 'lt' : 'gt';
}

function printStep(how: Comparing, { key, type, slot }: Place): Sql {
  return printCompared(type, how, key, printSlot(type, slot!));
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
