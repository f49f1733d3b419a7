/**
 * The arguments of connections, one row each. A new argument is a row here, its plan (graphql/compile/plan: plan.ts, and
 * plan-connection.ts or plan-page.ts), and what is printed of it (graphql/compile/print/print-scan.ts).
 *
 * No member of a row may be left out: one that is forgotten in cursors would mix pages of different rows.
 */

interface ArgumentRow {
  readonly name: string;
  /** Where descriptions are on. */
  readonly description: string;
  /** A scalar; or filter, orders or columns of the table, which lacks the argument if it lacks the type. */
  readonly type: 'Int' | 'Cursor' | 'filter' | 'orders' | 'columns';
  /** Lists of rows without an order of their own have it, too. */
  readonly inLists: boolean;
  /**
   * What the extension `reads` adds with it: an argument of a function with its name replaces it. Null: it is one of
   * pg_graphql.
   */
  readonly addition: string | null;
  /**
   * Whether a cursor is refused where the argument has another value: never, because a cursor stands for a place in the
   * order of any rows; by the terms of the order that it makes, with their arguments; or by its value.
   */
  readonly entersCursor: 'never' | 'by_order' | 'by_value';
}

const places = { inLists: false, addition: null, entersCursor: 'never' } as const;

const rows = {
  first: { ...places, name: 'first', description: 'The first n rows.', type: 'Int', inLists: true },
  last: { ...places, name: 'last', description: 'The last n rows.', type: 'Int' },
  before: { ...places, name: 'before', description: 'Rows before this cursor.', type: 'Cursor' },
  after: { ...places, name: 'after', description: 'Rows after this cursor.', type: 'Cursor' },
  offset: { ...places, name: 'offset', description: 'Skip n rows.', type: 'Int', inLists: true },
  filter: { ...places, name: 'filter', description: 'Rows that match.', type: 'filter' },
  order_by: {
    ...places,
    name: 'orderBy',
    description: 'Order of the rows, before the primary key.',
    type: 'orders',
    entersCursor: 'by_order',
  },
  distinct_on: {
    ...places,
    name: 'distinctOn',
    description: 'Of rows that are equal in these columns, the first.',
    type: 'columns',
    addition: 'distinct',
    entersCursor: 'by_order',
  },
} as const satisfies Readonly<Record<string, ArgumentRow>>;

/** Kind of an argument. */
export type ConnectionArgument = keyof typeof rows;

/** What extensions add with arguments. */
export type ArgumentAddition = Exclude<(typeof rows)[ConnectionArgument]['addition'], null>;

/** All of them, in the order in which a schema shows them. */
export const connectionArguments: readonly (ArgumentRow & {
  readonly kind: ConnectionArgument;
  readonly addition: ArgumentAddition | null;
})[] = Object.entries(rows).map(([kind, row]) => ({ kind: kind as ConnectionArgument, ...row }));

/** What extensions add with arguments, in the same order. */
export const argumentAdditions = connectionArguments.flatMap(({ addition }) => addition ?? []);
