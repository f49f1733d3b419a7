/** Plans a connection: arguments, then edges, page info, total count and aggregates if selected. */
import { badInput } from '../../../shared/errors.ts';
import { invariant } from '../../../shared/invariant.ts';
import type { Column, Table } from '../../model/model.ts';
import type { Input } from '../input/input.ts';
import { spendAgain, spentSince } from '../input/plan-budget.ts';
import { countScans } from './inspect-plan.ts';
import type {
  AggregateEntry,
  ColumnAggregate,
  ConnectionEntry,
  ConnectionPlan,
  EdgeEntry,
  GroupKey,
  Keyed,
  LimitPlan,
  ObjectPlan,
  OrderTerm,
  PageFact,
  SetSource,
} from './plan.ts';
import { planFilter } from './plan-filter.ts';
import { planGroups, planKeys } from './plan-groups.ts';
import { addOrderCost, planOrder, readColumn } from './plan-order.ts';
import { planLimit, planPage } from './plan-page.ts';
import {
  descend,
  inputOf,
  inputsOf,
  type MergedFields,
  maybeInputOf,
  misplaced,
  type Nesting,
  objectTypeOf,
  type Planner,
  planFields,
} from './planner.ts';

type Unkeyed<T> = T extends Keyed<infer Value> ? Omit<Value, 'key'> : never;

/** Plans a connection field over the rows of `source`. */
export function planConnection(
  planner: Planner,
  source: SetSource,
  field: MergedFields,
  nesting: Nesting,
): ConnectionPlan {
  const { table } = source;
  const inputs = inputsOf(planner, field);
  const before = { ...planner.budget };
  // Rows without an orderable column have no such argument.
  const requested = planOrder(planner.budget, table, maybeInputOf(inputs, 'order_by'));
  const { order, distinct } = orderByDistinctFirst(table, maybeInputOf(inputs, 'distinct_on'), requested);
  const page = planPage(table, inputs, order);
  const below = descend(planner, nesting, page.limit);
  addOrderCost(planner, below, order);
  const filter = planFilter(planner, below, table, inputOf(inputs, 'filter'));
  const spent = spentSince(before, planner.budget);
  const entries = planBelow(planner, field, (entry) => planConnectionEntry(planner, source, entry, below));
  // How many relationships a filter may have does not depend on the selection.
  const scanned = spent.filter(([limit]) => limit !== 'relationFilters');
  spendAgain(planner.budget, scanned, Math.max(0, countScans({ entries, page }) - 1));
  return { source, filter, order, distinct, page, entries };
}

/** Plans the selection of merged fields on their object type. */
function planBelow<T>(planner: Planner, { definition, nodes }: MergedFields, plan: (fields: MergedFields) => T) {
  return planFields(planner, objectTypeOf(definition), nodes, plan);
}

function planConnectionEntry(
  planner: Planner,
  source: SetSource,
  field: MergedFields,
  nesting: Nesting,
): Unkeyed<ConnectionEntry> {
  const { kind } = field.origin;
  switch (kind) {
    case 'total_count':
      return { kind, atMost: planCountLimit(planner, field, nesting) };
    case 'edges':
      return { kind, entries: planBelow(planner, field, (edge) => planEdgeEntry(planner, source, edge, nesting)) };
    case 'nodes':
      return { kind, object: planRowObject(planner, source, field, nesting) };
    case 'page_info':
      return { kind, entries: planBelow(planner, field, planPageFact) };
    case 'aggregate':
      return {
        kind,
        entries: planBelow(planner, field, (entry) => planAggregateEntry(planner, source.table, entry, [])),
      };
    case 'groups': {
      const groups = planGroups(planner, source.table, inputsOf(planner, field), nesting);
      const entries = planBelow(planner, field, (entry) =>
        planAggregateEntry(planner, source.table, entry, groups.keys),
      );
      return { kind, groups: { ...groups, entries } };
    }
    default:
      throw misplaced(field);
  }
}

// Rows are counted once per parent.
function planCountLimit(planner: Planner, field: MergedFields, { pages }: Nesting): LimitPlan | null {
  const input = inputsOf(planner, field).find(({ origin }) => origin.kind === 'count_at_most')?.input;
  if (input === undefined || input.state() !== 'value') return null;
  if (input.isNegative()) throw badInput('`atMost` must be an unsigned integer');
  const limit = planLimit(input, maxInt);
  planner.costs.push([...pages.slice(0, -1), limit]);
  return limit;
}

const maxInt = 2 ** 31 - 1;

function planEdgeEntry(planner: Planner, source: SetSource, field: MergedFields, nesting: Nesting): Unkeyed<EdgeEntry> {
  if (field.origin.kind === 'cursor') return { kind: 'cursor' };
  return { kind: 'node', object: planRowObject(planner, source, field, nesting) };
}

function planRowObject(planner: Planner, { table }: SetSource, field: MergedFields, nesting: Nesting): ObjectPlan {
  const row = { type: objectTypeOf(field.definition), table, nesting };
  return planner.planObject(planner, row, field.nodes);
}

function planPageFact(field: MergedFields): { readonly kind: PageFact } {
  const { kind } = field.origin;
  switch (kind) {
    case 'start_cursor':
    case 'end_cursor':
    case 'has_next_page':
    case 'has_previous_page':
      return { kind };
    default:
      throw misplaced(field);
  }
}

/** @param keys Those of groups; none for all rows together. */
function planAggregateEntry(
  planner: Planner,
  table: Table,
  field: MergedFields,
  keys: readonly GroupKey[],
): Unkeyed<AggregateEntry> {
  if (field.origin.kind === 'group_keys') return planKeys(planner, keys, field, table);
  if (field.origin.kind === 'aggregate_count') {
    const column = maybeInputOf(inputsOf(planner, field), 'count_column');
    if (column?.state() !== 'value') return { kind: 'count' };
    return { kind: 'count_values', column: readColumn(table, column) };
  }
  const { origin: of } = field;
  const entries = planBelow(planner, field, ({ origin }): ColumnAggregate => {
    if (origin.kind === 'distinct_count') return { kind: 'distinct_count', column: origin.column };
    invariant(of.kind === 'aggregate_function' && origin.kind === 'aggregate_column', 'functions take columns');
    return { kind: 'aggregate', function: of.function, column: origin.column };
  });
  return { kind: 'function', entries };
}

/** An order that starts with the columns of `distinctOn`, so that the first of equal rows is defined (docs/filters.md). */
interface DistinctOrder {
  readonly order: readonly OrderTerm[];
  /** Number of these columns' terms. */
  readonly distinct: number;
}

/** The order with the columns in front; first those that the requested terms start with. */
function orderByDistinctFirst(table: Table, distinctOn: Input | null, order: readonly OrderTerm[]): DistinctOrder {
  const columns = distinctOn?.state() === 'value' ? planColumns(table, distinctOn) : new Set<Column>();
  const leading: OrderTerm[] = [];
  for (const term of order.slice(0, -table.primaryKey.length)) {
    const { expression } = term;
    if (expression.kind !== 'column' || !columns.delete(expression.column)) break;
    leading.push(term);
  }
  const added = [...columns].map(
    (column): OrderTerm => ({ expression: { kind: 'column', column }, descending: false, nullsFirst: false }),
  );
  const distinct = leading.length + added.length;
  return { order: [...leading, ...added, ...order.slice(leading.length)], distinct };
}

function planColumns(table: Table, distinctOn: Input): Set<Column> {
  return new Set([...distinctOn.items()].map((item) => readColumn(table, item)));
}
