/**
 * Prints orders and cursors over the current row.
 */
import type { SqlType, Table } from '../../model/model.ts';
import type { Slot } from '../input/slot.ts';
import type { CursorPlan, OrderExpression, OrderTerm } from '../plan/plan.ts';
import { keyColumns } from '../plan/plan-order.ts';
import { printSlot } from '../sql/condition.ts';
import { typeOf } from '../sql/expression.ts';
import {
  type Comparing,
  hasBuiltInOperators,
  printCompared,
  printOperand,
  printRowsCompared,
} from '../sql/operator.ts';
import { list, type Part, type Row, type RowSet } from '../sql/row.ts';
import { join, type Sql, sql } from '../sql/sql.ts';

/**
 * ` order by …`. Values without nulls use the null position of default indexes: PostgreSQL uses an index for an order
 * only if both positions agree.
 *
 * @param rows Of a table: its constraints keep columns free of nulls.
 */
export function printOrder(
  order: readonly OrderTerm[],
  sortKeys: readonly Sql[],
  { rows, part }: { readonly rows: Rows; readonly part: Part },
): Sql {
  const terms = order.map(({ expression, descending, nullsFirst }, index) => {
    const direction = descending ? sql` desc` : sql` asc`;
    const isAlike = index === 0 && part !== 'all';
    const isFirst = rows.isStored && takesEither(expression, isAlike, rows.table) ? descending : nullsFirst;
    const nulls = isFirst ? sql` nulls first` : sql` nulls last`;
    return sql`${sortKeys[index]!}${direction}${nulls}`;
  });
  // The first value is null in all rows. Only an index of the rows themselves may begin with it.
  const isConstant = part === 'missing' || (part === 'nulls' && order[0]!.expression.kind === 'related');
  return sql` order by ${list(isConstant ? terms.slice(1) : terms)}`;
}

type Rows = Pick<RowSet, 'table' | 'isStored'>;

/**
 * Whether the position of nulls decides nothing, and no index has an unusual one.
 *
 * @param isAlike All rows have a value, or none has.
 */
export function takesEither(expression: OrderExpression, isAlike: boolean, table: Table): boolean {
  switch (expression.kind) {
    case 'related': {
      const { relationship, table: target } = expression.related;
      return (isAlike || relationship.required) && takesEither(expression.expression, isAlike, target);
    }
    case 'column':
      return isAlike ? expression.column.defaultNullOrder : expression.column.hasNoNulls;
    case 'computed':
      return isAlike && table.defaultNullOrder;
    default:
      return false;
  }
}

/**
 * The rows strictly after a cursor in scan order.
 *
 * If all elements are values, all terms have one direction and no nulls follow, it is SQL's row comparison, which an
 * index on the order answers with one range. That uses one operator for all terms, so their types must be built in.
 *
 * @param nullsFollow For each term, whether rows with a null count as after rows with a value.
 */
export function printAfter(
  cursor: CursorPlan,
  order: readonly OrderTerm[],
  sortKeys: readonly Sql[],
  nullsFollow: readonly boolean[],
): Sql {
  const keys = cursor.elements.map((slot, index): CursorKey => {
    const term = order[index]!;
    const type = typeOf(term.expression);
    return { slot, term, key: sortKeys[index]!, type, nullsFollow: slot !== null && nullsFollow[index]! };
  });
  const [first] = keys;
  if (first === undefined) return sql`false`;
  if (isOneRange(keys)) return printRowComparison(keys);
  const branches = keys.flatMap((last, index) => {
    const beyond = printBeyond(last, index > 0);
    if (beyond === null) return [];
    const equal = keys.slice(0, index).map(printEqual);
    return [sql`(${join([...equal, beyond], sql` and `)})`];
  });
  const any = branches.length === 0 ? sql`false` : sql`(${join(branches, sql` or `)})`;
  if (first.slot === null) return any;
  // Every branch implies it; it gives the planner a range on the first key.
  const bounded = sql`(${printStep(first.term.descending ? 'lte' : 'gte', first)} and ${any})`;
  return first.nullsFollow ? sql`(${bounded} or ${first.key} is null)` : bounded;
}

/** A sort key and its value at the cursor, null for null. */
interface CursorKey {
  readonly key: Sql;
  readonly type: SqlType;
  readonly slot: Slot | null;
  readonly term: OrderTerm;
  readonly nullsFollow: boolean;
}

// PostgreSQL does not infer that a row comparison implies values, which it must know to start with another table's.
function isOneRange(keys: readonly CursorKey[]): boolean {
  const [first] = keys;
  const isSame = ({ slot, term, nullsFollow }: CursorKey) =>
    slot !== null && term.descending === first!.term.descending && !nullsFollow && term.expression.kind === 'column';
  return keys.every(isSame) && (keys.length === 1 || keys.every(({ type }) => hasBuiltInOperators(type)));
}

function printRowComparison(keys: readonly CursorKey[]): Sql {
  const first = keys[0]!;
  if (keys.length === 1) return sql`(${printStep(beyondOf(first), first)})`;
  const left = list(keys.map(({ type, key }) => printOperand(type, key)));
  const right = list(keys.map(({ type, slot }) => printSlot(type, slot!)));
  return sql`(${printRowsCompared(beyondOf(first), left, right)})`;
}

function printEqual(at: CursorKey): Sql {
  return at.slot === null ? sql`${at.key} is null` : printStep('eq', at);
}

function printBeyond(at: CursorKey, withNulls: boolean): Sql | null {
  if (at.slot === null) return at.term.nullsFirst ? sql`${at.key} is not null` : null;
  const step = printStep(beyondOf(at), at);
  return withNulls && at.nullsFollow ? sql`(${step} or ${at.key} is null)` : step;
}

function beyondOf({ term }: CursorKey): Comparing {
  return term.descending ? 'lt' : 'gt';
}

function printStep(how: Comparing, { key, type, slot }: CursorKey): Sql {
  return printCompared(type, how, key, printSlot(type, slot!));
}

/** The value that an order leads to, and the related table that has it; null: the rows' own. */
export function lastOf(expression: OrderExpression): {
  readonly expression: Exclude<OrderExpression, { kind: 'related' }>;
  readonly table: Table | null;
} {
  if (expression.kind !== 'related') return { expression, table: null };
  const last = lastOf(expression.expression);
  return last.table === null ? { ...last, table: expression.related.table } : last;
}

/** Whether the value may be null. Routine results count as rows that the table could hold. */
export function mayBeNull(expression: OrderExpression): boolean {
  switch (expression.kind) {
    case 'column':
      return !expression.column.notNull;
    case 'aggregate':
    case 'rank':
    case 'computed':
      return true;
    case 'related': {
      const { required, cardinality } = expression.related.relationship;
      return (cardinality === 'one' && !required) || mayBeNull(expression.expression);
    }
    default:
      return false;
  }
}

/**
 * Whether two rows have different keys; two nulls are equal. Keys are compared as records, which need no operator
 * look-up by name; a key that is never null, directly.
 *
 * @param other Prints the second row's key, given how to read the key of a row.
 */
export function printOtherKey({ table, isStored }: Rows, left: Row, other: (key: (row: Row) => Sql) => Sql): Sql {
  const keys = keyColumns(table);
  const [only] = keys;
  if (only !== undefined && keys.length === 1 && only.notNull && isStored) {
    const equal = printCompared(
      only.cast,
      'eq',
      left.column(only),
      other((row) => row.column(only)),
    );
    return sql`coalesce(not ${equal}, true)`;
  }
  const recordOf = (row: Row) => sql`row(${list(keys.map((column) => row.column(column)))})::pg_catalog.record`;
  return sql`coalesce(${recordOf(left)} operator(pg_catalog.<>) ${other(recordOf)}, true)`;
}
