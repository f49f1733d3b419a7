/**
 * The arguments of connections, one row each. A new argument is a row here, its text (graphql/schema/describe-type.ts), its
 * plan (graphql/compile/plan/plan-connection.ts) and what is printed of it.
 *
 * No member of a row may be left out: one that is forgotten in cursors would mix pages of different rows.
 */

interface ArgumentRow {
  readonly name: string;
  /** A scalar; or filter, orders or columns of the table, which lacks the argument if it lacks the type. */
  readonly type: 'Int' | 'Cursor' | 'filter' | 'orders' | 'columns';
  /** Lists of rows without an order of their own have it, too. */
  readonly inLists: boolean;
  /** Only the extension `reads` adds it: an argument of a function with its name replaces it. */
  readonly isAdded: boolean;
  /**
   * Whether a cursor is refused where the argument has another value: never, because a cursor stands for a place in the
   * order of any rows; by the terms of the order that it makes, with their arguments; or by its value.
   */
  readonly entersCursor: 'never' | 'by_order' | 'by_value';
}

const places = { inLists: false, isAdded: false, entersCursor: 'never' } as const;

const rows = {
  first: { ...places, name: 'first', type: 'Int', inLists: true },
  last: { ...places, name: 'last', type: 'Int' },
  before: { ...places, name: 'before', type: 'Cursor' },
  after: { ...places, name: 'after', type: 'Cursor' },
  offset: { ...places, name: 'offset', type: 'Int', inLists: true },
  filter: { ...places, name: 'filter', type: 'filter' },
  order_by: { ...places, name: 'orderBy', type: 'orders', entersCursor: 'by_order' },
  distinct_on: { ...places, name: 'distinctOn', type: 'columns', isAdded: true, entersCursor: 'by_order' },
} as const satisfies Readonly<Record<string, ArgumentRow>>;

/** Kind of an argument. */
export type ConnectionArgument = keyof typeof rows;

/** All of them, in the order in which a schema shows them. */
export const connectionArguments: readonly (ArgumentRow & { readonly kind: ConnectionArgument })[] = Object.entries(
  rows,
).map(([kind, row]) => ({ kind: kind as ConnectionArgument, ...row }));
