/** Addresses of the page Data: `data/Product?order=-price&filter=[["stock","gt","0"]]&as=service&row=7`. */
import type { Direction } from '../../components/data-table.tsx';
import type { Caller } from '../../shared/caller.ts';
import { usePlace } from '../../shared/router.ts';

/** A condition: a path of fields such as `price` or `reviews.some.rating`, an operator of the filter, and its operand as text. */
export interface Condition {
  readonly path: string;
  readonly operator: string;
  readonly value: string;
}

/** An order. */
export interface Order {
  readonly column: string;
  readonly direction: Direction;
}

/** Where the page is. */
export interface DataPlace {
  readonly table: string | null;
  readonly order: Order | null;
  readonly filter: readonly Condition[];
  readonly caller: Caller;
  /** Key of the open row; `newRow` for one to insert. */
  readonly row: string | null;
  /** Whether the first page is shown as it changes. */
  readonly isLive: boolean;
}

/** An address; null: it does not say the caller. */
export type AskedPlace = Omit<DataPlace, 'caller'> & { readonly caller: Caller | null };

/** A cell whose field gets the keyboard; another object for each time. */
export interface CellOpening {
  readonly column: string;
  /** The key that began to edit it, which takes the place of its value; null: none. */
  readonly typed: string | null;
}

/** The key of a row that is not there yet: no key is empty. */
export const newRow = '';

/** Hook: what the address says. */
export function useAskedPlace(): AskedPlace {
  const { segments, query } = usePlace();
  const order = query.get('order');
  const as = query.get('as');
  return {
    table: segments[1] ?? null,
    order: order !== null && /^-?\w+$/.test(order) ? readOrder(order) : null,
    filter: readFilter(query.get('filter')),
    caller: as === null ? null : callerOf(as),
    row: query.get('row'),
    isLive: query.has('live'),
  };
}

/** The address. */
export function placeOf({ table, order, filter, caller, row, isLive }: DataPlace): string {
  const query = new URLSearchParams();
  if (order !== null) query.set('order', `${order.direction === 'descending' ? '-' : ''}${order.column}`);
  if (filter.length > 0)
    query.set('filter', JSON.stringify(filter.map(({ path, operator, value }) => [path, operator, value])));
  query.set('as', nameOf(caller));
  if (isLive) query.set('live', '1');
  if (row !== null) query.set('row', row);
  return `data${table === null ? '' : `/${encodeURIComponent(table)}`}?${query}`;
}

/** The address of a table as it is at first, for the same caller. @param more A row or the conditions of related ones. */
export function placeOfTable(
  place: DataPlace,
  table: string | null,
  more: Partial<Pick<DataPlace, 'filter' | 'row'>> = {},
): string {
  return placeOf({ ...place, table, order: null, filter: [], row: null, isLive: false, ...more });
}

function readOrder(text: string): Order {
  return text.startsWith('-')
    ? { column: text.slice(1), direction: 'descending' }
    : { column: text, direction: 'ascending' };
}

/** What an address edited by hand has beside conditions is left out, also what others wrote to be copied as a part of a query. */
function readFilter(text: string | null): readonly Condition[] {
  let given: unknown;
  try {
    given = JSON.parse(text ?? '[]');
  } catch {
    return [];
  }
  if (!Array.isArray(given)) return [];
  return given.flatMap((entry) => {
    if (!Array.isArray(entry) || entry.some((part) => typeof part !== 'string')) return [];
    const [path = '', operator = '', value = ''] = entry as readonly string[];
    return /^\w+(\.\w+)*$/.test(path) && /^\w+$/.test(operator) ? { path, operator, value } : [];
  });
}

function callerOf(as: string): Caller {
  if (as === 'anon' || as === 'authenticated' || as === 'service') return { kind: as };
  return { kind: 'user', userId: as === 'user' ? null : as };
}

function nameOf(caller: Caller): string {
  return caller.kind === 'user' ? (caller.userId ?? 'user') : caller.kind;
}
