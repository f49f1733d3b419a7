/**
 * Order, cursors and pages over raw rows (docs/pagination.md).
 */
import { LooseCursor, type Value } from './canonical.ts';
import type { Document, Field } from './document.ts';
import { decodeArray, encodeArray, FieldError } from './encoded.ts';
import { compareColumn } from './evaluate-filter.ts';
import { effectiveOrder, type OrderKey } from './evaluate-order.ts';
import type { Entity, ExpectedModel } from './expected-model.ts';
import type { Oracle } from './oracle.ts';
import type { Row } from './reader.ts';

/** What the arguments of a connection ask for. */
export interface PageRequest {
  readonly order: readonly OrderKey[];
  /** Of rows that are equal in so many keys of the order only the first counts. */
  readonly distinct: number;
  readonly isBackward: boolean;
  /** Nulls that come last come after a cursor with a value. */
  readonly isExact: boolean;
  readonly cursor: readonly (string | null)[] | null;
  readonly offset: number;
  readonly limit: number;
}

/** A page, and what is known around it. */
export interface Page {
  readonly rows: readonly Row[];
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
}

/**
 * Reads the pagination arguments.
 * @throws FieldError with pg_graphql's message for a combination that is not legal.
 */
export function readPageRequest(
  { document, model }: { readonly document: Document; readonly model: ExpectedModel },
  entity: Entity,
  field: Field,
): PageRequest {
  const { order, distinct } = effectiveOrder(
    model,
    entity,
    document.argument(field, 'orderBy'),
    document.argument(field, 'distinctOn'),
  );
  const [first, last, offset] = ['first', 'last', 'offset'].map((name) => {
    const input = document.argument(field, name);
    const number = typeof input === 'string' ? Number(input) : null;
    if (number !== null && number < 0) throw new FieldError(`\`${name}\` must be an unsigned integer`);
    return number;
  }) as [number | null, number | null, number | null];
  const [before, after] = ['before', 'after'].map((name) => {
    const input = document.argument(field, name);
    return typeof input === 'string' ? decodeCursor(input) : null;
  }) as [(string | null)[] | null, (string | null)[] | null];
  const given = { first, last, before, after, offset };
  for (const [names, message] of refusals) {
    if (names.every((name) => given[name] !== null)) throw new FieldError(message);
  }
  const cursor = before ?? after;
  const isLonger = hasDigest(order);
  if (cursor !== null && (isLonger ? cursor.length !== order.length + 1 : cursor.length > order.length))
    throw new FieldError(null);
  return {
    order,
    distinct,
    isBackward: last !== null || before !== null,
    isExact: entity.isExact || order.some(({ from }) => from !== null),
    cursor: cursor?.slice(0, distinct > 0 ? distinct : order.length) ?? null,
    offset: offset ?? 0,
    limit: Math.min(entity.maxRows, first ?? last ?? entity.maxRows),
  };
}

const refusals: readonly (readonly [
  names: readonly ('first' | 'last' | 'before' | 'after' | 'offset')[],
  message: string,
])[] = [
  [['first', 'last'], 'only one of "first" and "last" may be provided'],
  [['before', 'after'], 'only one of "before" and "after" may be provided'],
  [['first', 'before'], '"first" may only be used with "after"'],
  [['last', 'after'], '"last" may only be used with "before"'],
  [['offset', 'last'], '"offset" may only be used with "first" and "after"'],
  [['offset', 'before'], '"offset" may only be used with "first" and "after"'],
];

/** Whether cursors of the order tell the arguments that it has. */
export function hasDigest(order: readonly OrderKey[]): boolean {
  return order.some(({ from }) => from?.expression !== undefined);
}

/** The cursor of a row, as an answer has it. */
export function cursorValue(order: readonly OrderKey[], row: Row): Value {
  const text = cursorOf(order, row);
  const isLoose = order.some(({ from }) => from?.computation === 'min' || from?.computation === 'max');
  return isLoose || hasDigest(order) ? new LooseCursor(text, hasDigest(order)) : text;
}

/** The cursor of a row, without a digest. */
export function cursorOf(order: readonly OrderKey[], row: Row): string {
  return encodeArray(order.map(({ column }) => row.cells.get(column.name)?.jsonb ?? 'null'));
}

/** The rows in order: the first key that differs decides. */
function sortRows(order: readonly OrderKey[], rows: readonly Row[]): Row[] {
  return [...rows].sort((a, b) => {
    for (const { column, isDescending, nullsFirst } of order) {
      const [one, other] = [a, b].map((row) => row.cells.get(column.name));
      if (!one || !other) throw new Error(`${column.name} was not read.`);
      if (one.text === null && other.text === null) continue;
      if (one.text === null || other.text === null) return (one.text === null) === nullsFirst ? -1 : 1;
      if (one.rank !== other.rank) return one.rank < other.rank === isDescending ? 1 : -1;
    }
    return 0;
  });
}

/** The rows that count: of those that are equal in the distinct keys, the first. */
export function firstOfEach({ order, distinct }: PageRequest, rows: readonly Row[]): readonly Row[] {
  if (distinct === 0) return rows;
  const groups = Map.groupBy(sortRows(order, rows), ({ cells }) =>
    JSON.stringify(
      order.slice(0, distinct).map(({ column }) => {
        const cell = cells.get(column.name);
        return cell?.text === null ? null : cell?.rank;
      }),
    ),
  );
  return [...groups.values()].map(([first]) => first!);
}

/** Cuts a page out of all rows that match. */
export async function cutPage(
  oracle: Oracle,
  { order, isBackward, isExact, cursor, offset, limit }: PageRequest,
  rows: readonly Row[],
): Promise<Page> {
  const all = sortRows(order, rows);
  const direction = isBackward ? order.map(reverse) : order;
  const within = cursor === null ? all : await rowsBeyond(oracle, { order: direction, isExact }, cursor, all);
  if (isBackward) {
    const page = within.slice(Math.max(0, within.length - limit));
    const hasNextPage = page.length > 0 && !page.includes(all.at(-1) as Row);
    return { rows: page, hasNextPage, hasPreviousPage: within.length > limit };
  }
  const rest = within.slice(offset);
  const page = rest.slice(0, limit);
  return {
    rows: page,
    hasNextPage: rest.length > limit,
    hasPreviousPage: page.length > 0 && !page.includes(all[0] as Row),
  };
}

async function rowsBeyond(
  oracle: Oracle,
  { order, isExact }: { readonly order: readonly OrderKey[]; readonly isExact: boolean },
  cursor: readonly (string | null)[],
  rows: readonly Row[],
): Promise<Row[]> {
  const steps: { isEqual(row: Row): boolean; isBeyond(row: Row): boolean }[] = [];
  for (const [index, element] of cursor.entries()) {
    const { column, isDescending, nullsFirst } = order[index] as OrderKey;
    const isNull = (row: Row) => row.cells.get(column.name)?.text === null;
    if (element === null) {
      steps.push({ isEqual: isNull, isBeyond: (row) => nullsFirst && !isNull(row) });
      continue;
    }
    const isEqual = await compareColumn(oracle, column, 'eq', element)(rows);
    const isBeyond = await compareColumn(oracle, column, isDescending ? 'lt' : 'gt', element)(rows);
    const follows = (row: Row) => isExact && !nullsFirst && isNull(row);
    steps.push({ isEqual: (row) => isEqual(row) === true, isBeyond: (row) => isBeyond(row) === true || follows(row) });
  }
  return rows.filter((row) => {
    const first = steps.find(({ isEqual }) => !isEqual(row));
    return first?.isBeyond(row) ?? false;
  });
}

function reverse({ isDescending, nullsFirst, ...key }: OrderKey): OrderKey {
  return { ...key, isDescending: !isDescending, nullsFirst: !nullsFirst };
}

function decodeCursor(text: string): readonly (string | null)[] {
  return decodeArray(text);
}
