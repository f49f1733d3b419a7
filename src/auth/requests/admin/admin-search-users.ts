/** Users in an order, from a cursor on, by state, provider and any part of what names them. */
import { DatabaseError } from '../../../postgres/database-error.ts';
import { isStorable } from '../../../shared/json.ts';
import { about, oneOf, optional } from '../../../shared/schema.ts';
import { isUuid } from '../../../shared/uuid.ts';
import { AuthError } from '../../model/auth-error.ts';
import type { User } from '../../model/user.ts';
import { type AuthContext, nowOf } from '../../steps/auth-context.ts';
import { parsePage } from '../../steps/page.ts';
import {
  findUsers,
  type UserFilter,
  type UserOrder,
  type UserPosition,
  type UserRange,
  userOrders,
  userStates,
} from '../../store/find-users.ts';

const directions = ['desc', 'asc'] as const;
const orderings = userOrders.flatMap((order) => directions.map((direction) => `${order}.${direction}` as const));

/** Parameters that Supabase Auth does not have; one of them makes the list a search. */
export const searchParameters = {
  order: optional(about(oneOf(...orderings), 'Default: `created_at.desc`.')),
  state: optional(about(oneOf(...userStates), 'The first of these that applies is the state of a user.')),
  provider: 'Users with an identity of it.',
  search: 'Any part of an address, a number, a name or the id.',
  cursor: 'The `next_cursor` of the answer before.',
};

/** What was found. */
export interface FoundPage {
  readonly users: readonly User[];
  readonly nextCursor: string | null;
  /** Null behind the first page, and for a search. */
  readonly total: number | null;
  readonly isEstimate: boolean;
}

/** Whether the request has one of the parameters. */
export function isSearch(query: URLSearchParams): boolean {
  return Object.keys(searchParameters).some((name) => query.has(name));
}

/** `GET /admin/users` with one of the parameters. */
export async function searchUsers(context: AuthContext, query: URLSearchParams): Promise<FoundPage> {
  for (const name of ['page', 'sort', 'filter']) {
    if (query.has(name)) throw refuse(`${name} cannot be combined with ${Object.keys(searchParameters).join(', ')}`);
  }
  const { services, audience } = context;
  const ordering = choice(query, 'order', orderings) ?? 'created_at.desc';
  const [order, direction] = ordering.split('.') as [UserOrder, (typeof directions)[number]];
  const cursor = query.get('cursor');
  const range: UserRange = {
    order,
    isDescending: direction === 'desc',
    size: parsePage(query).size,
    after: cursor ? readCursor(cursor, ordering) : null,
  };
  const filter: UserFilter = {
    audience,
    now: nowOf(context),
    state: choice(query, 'state', userStates),
    provider: words(query, 'provider'),
    search: words(query, 'search'),
  };
  const { count, ...found } = await findUsers(services.database, filter, range).catch((error) => {
    // The position is text that the column's type does not read.
    const isUnread = error instanceof DatabaseError && error.sqlstate?.startsWith('22') && range.after !== null;
    throw isUnread ? badCursor() : error;
  });
  const nextCursor = found.next === null ? null : printCursor(found.next, ordering);
  return { users: found.users, nextCursor, total: count?.total ?? null, isEstimate: count?.isEstimate ?? false };
}

function choice<const T extends string>(query: URLSearchParams, name: string, among: readonly T[]): T | null {
  const given = query.get(name);
  if (!given) return null;
  const known = among.find((word) => word === given);
  if (known === undefined) throw refuse(`${name} must be one of ${among.join(', ')}`);
  return known;
}

function words(query: URLSearchParams, name: string): string | null {
  const given = query.get(name)?.trim();
  if (!given) return null;
  if (given.length > 255 || !isStorable(given)) throw refuse(`${name} must be a text of at most 255 characters`);
  return given;
}

function printCursor(next: UserPosition | 'start', ordering: string): string {
  const place = next === 'start' ? [] : [next.value, next.id];
  return Buffer.from(JSON.stringify([ordering, ...place])).toString('base64url');
}

function readCursor(cursor: string, ordering: string): UserPosition | 'start' {
  let read: unknown;
  try {
    read = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    throw badCursor();
  }
  const [given, value, id] = Array.isArray(read) ? read : [];
  if (given === ordering && value === undefined) return 'start';
  const isValue = value === null || (typeof value === 'string' && value.length < 1000 && isStorable(value));
  if (given !== ordering || !isValue || typeof id !== 'string' || !isUuid(id)) throw badCursor();
  return { value, id };
}

function badCursor(): AuthError {
  return refuse('cursor must be the next_cursor of an answer with the same order');
}

function refuse(reason: string): AuthError {
  return new AuthError('validation_failed', `Bad Search Parameters: ${reason}`);
}
