/**
 * Prints orders and cursors over the current row.
 */
import type { Table } from '../../model/model.ts';
import type { CursorPlan, OrderTerm } from '../plan/plan.ts';
import { keyColumns } from '../plan/plan-order.ts';
import type { Slot } from '../plan/slot.ts';
import { printSlot } from './print-condition.ts';
import { type Comparing, isBuiltIn, printCompared, printOperand, printRowsCompared } from './print-operator.ts';
import { list, type Row } from './print-row.ts';
import { join, type Sql, sql } from './sql.ts';

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
  const right = list(terms.map((each) => printSlot(each.term.column.cast, each.slot)));
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
  return printCompared(column.cast, how, row.column(column), printSlot(column.cast, slot));
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
