/**
 * Finds users by state, provider and any part of what names them, in an order, from a position on.
 *
 * Every list begins where the one before ended, so a deep page costs what the first does. A search without an index
 * examines a limited number of rows and says where it stopped, so no search makes the database work for long.
 */
import type { Queryable } from '../../postgres/system/queryable.ts';
import { type Time, toTimestamp } from '../../shared/times.ts';
import { isUuid, nilUuid } from '../../shared/uuid.ts';
import type { User } from '../model/user.ts';
import { selectUser } from './users.ts';

/** The state of a user is the first of these that applies; `unconfirmed` otherwise. */
export const userStates = ['deleted', 'banned', 'anonymous', 'confirmed', 'invited', 'unconfirmed'] as const;

/** One of them. */
type UserState = (typeof userStates)[number];

/** What users are ordered by. */
export const userOrders = ['created_at', 'last_sign_in_at', 'email'] as const;

/** One of them. */
export type UserOrder = (typeof userOrders)[number];

/** A place in a list: behind the user with this value of the order, null for none, and this id. */
export interface UserPosition {
  readonly value: string | null;
  readonly id: string;
}

/** Which users. */
export interface UserFilter {
  readonly audience: string;
  readonly now: Time;
  /** Null: all. */
  readonly state: UserState | null;
  /** Null: all. */
  readonly provider: string | null;
  /** A part of an address, a number, a name or an id; null: all. */
  readonly search: string | null;
}

/** Which part of the list. */
export interface UserRange {
  readonly order: UserOrder;
  readonly isDescending: boolean;
  readonly size: number;
  /** Null: from the start; `start`: the same without those that match as a whole. */
  readonly after: UserPosition | 'start' | null;
}

/** Users, and where to go on; null at the end. */
export interface FoundUsers {
  readonly users: readonly User[];
  readonly next: UserRange['after'];
}

/** How many users a filter lets through, at least about. */
export interface UserCount {
  readonly total: number;
  readonly isEstimate: boolean;
}

/** Rows that one search examines. */
const maxExamined = 25_000;

/** Users that are counted; more are estimated. */
const maxCounted = 10_000;

/** `$2` is the time. Written so that the planner knows how many there are, and finds the partial indexes. */
const isBanned = 'u.banned_until is not null and u.banned_until > $2::timestamptz';
const isFree = '(u.banned_until is null or u.banned_until <= $2::timestamptz) and u.deleted_at is null';

const conditions: Readonly<Record<UserState, string>> = {
  deleted: 'u.deleted_at is not null',
  banned: `${isBanned} and u.deleted_at is null`,
  anonymous: `u.is_anonymous and ${isFree}`,
  confirmed: `u.confirmed_at is not null and not u.is_anonymous and ${isFree}`,
  invited: `u.confirmed_at is null and u.invited_at is not null and not u.is_anonymous and ${isFree}`,
  unconfirmed: `u.confirmed_at is null and u.invited_at is null and not u.is_anonymous and ${isFree}`,
};

interface OrderFacts {
  readonly column: string;
  /** The value as text that the column's type reads. */
  readonly text: string;
  readonly type: string;
  /** The direction that has users without a value at the end, as the index has it. */
  readonly endsWithNull: 'asc' | 'desc';
}

const time = (column: string): OrderFacts => ({
  column,
  text: `pg_catalog.to_json(${column}) #>> '{}'`,
  type: 'timestamptz',
  endsWithNull: 'desc',
});

const orders: Readonly<Record<UserOrder, OrderFacts>> = {
  created_at: time('u.created_at'),
  last_sign_in_at: time('u.last_sign_in_at'),
  email: { column: 'u.email', text: 'u.email::text', type: 'varchar', endsWithNull: 'asc' },
};

/** A filter, with what is known of its provider, of which the planner of a prepared statement knows nothing. */
interface Narrowed extends UserFilter {
  /** Few users have an identity of it. */
  readonly isRare: boolean;
  /** So many have one that users are examined in their order until enough of them do. */
  readonly isCommon: boolean;
}

/** Users of a provider up to which they are read before their order, and not the other way round. */
const maxRare = 10_000;

async function narrow(database: Queryable, filter: UserFilter): Promise<Narrowed> {
  if (filter.provider === null) return { ...filter, isRare: false, isCommon: false };
  const text = `select pg_catalog.count(*)::int4 as count
    from (select from auth.identities i where i.provider = $1 limit ${maxRare + 1}) x`;
  const [row] = await database.query(text, [filter.provider]);
  const isRare = (row?.count as number) <= maxRare;
  return { ...filter, isRare, isCommon: !isRare };
}

/** A list of conditions with their values. */
class Conditions {
  readonly values: unknown[] = [];
  readonly texts: string[] = [];

  /** A common provider is no condition here, see `hasProvider`. */
  constructor({ audience, now, state, provider, isRare }: Narrowed) {
    this.values.push(audience, toTimestamp(now));
    // The time is used by some states alone, and PostgreSQL wants to know the type of every parameter.
    this.texts.push(`u.instance_id = '${nilUuid}' and u.aud = $1 and $2::timestamptz is not null`);
    if (state !== null) this.texts.push(conditions[state]);
    // The planner takes the array for a short one, so its users are looked up by id.
    if (isRare) {
      const identities = `select i.user_id from auth.identities i where i.provider = ${this.add(provider)}`;
      this.texts.push(`u.id = any (array(${identities}))`);
    }
  }

  /** @returns Its place in the statement. */
  add(value: unknown): string {
    return `$${this.values.push(value)}`;
  }

  get text(): string {
    return this.texts.join(' and ');
  }
}

/** The offset keeps the planner from reading the identities of all users for the few that are examined. */
function hasProvider(c: Conditions, { provider }: Narrowed): string {
  return `exists (select from auth.identities i where i.provider = ${c.add(provider)} and i.user_id = u.id offset 0)`;
}

/** Finds users, and counts those of the filter for a first page. @throws DatabaseError, of class 22 for a position that no list has. */
export async function findUsers(
  database: Queryable,
  given: UserFilter,
  range: UserRange,
): Promise<FoundUsers & { readonly count: UserCount | null }> {
  const filter = await narrow(database, given);
  // A search would examine all users to count them.
  if (range.after !== null || filter.search !== null)
    return { ...(await findPage(database, filter, range)), count: null };
  if (!filter.isCommon || filter.state === null) {
    const [found, count] = await Promise.all([findPage(database, filter, range), countUsers(database, filter)]);
    return { ...found, count };
  }
  // What was examined for the page says in most cases how many there are, or that they are too many to be counted.
  const found = await findPage(database, filter, range);
  const { length } = found.users;
  if (found.next === null) return { ...found, count: { total: length, isEstimate: false } };
  return { ...found, count: length < range.size ? null : await countAmong(database, filter) };
}

async function findPage(database: Queryable, filter: Narrowed, range: UserRange): Promise<FoundUsers> {
  const exact = filter.search === null ? [] : await findExact(database, filter, filter.search);
  // Whoever asks for a whole address does not wait for those that have it as a part.
  if (exact.length > 0 && range.after === null) return { users: await loadUsers(database, exact), next: 'start' };
  const { ids, next } = await findOthers(database, { filter, range, exact });
  return { users: await loadUsers(database, ids), next };
}

/** The users whose whole address, number or id the text is, by indexes. They come first. */
async function findExact(database: Queryable, filter: Narrowed, search: string): Promise<readonly string[]> {
  const c = new Conditions(filter);
  if (filter.isCommon) c.texts.push(hasProvider(c, filter));
  const address = c.add(search.toLowerCase());
  const [phone, id] = [digitsOf(search), isUuid(search) ? search : null];
  const matches = [
    `pg_catalog.lower(u.email::text) = ${address}`,
    ...(phone === null ? [] : [`u.phone = ${c.add(phone)}`]),
    ...(id === null ? [] : [`u.id = ${c.add(id)}::uuid`]),
  ];
  const selects = matches.map((match) => `(select u.id from auth.users u where ${c.text} and ${match} limit 10)`);
  return (await database.query(selects.join(' union '), c.values)).map((row) => row.id as string);
}

interface Asked {
  readonly filter: Narrowed;
  readonly range: UserRange;
  readonly exact: readonly string[];
}

/** Users in their order, without those that match exactly. */
async function findOthers(database: Queryable, asked: Asked) {
  const { range } = asked;
  const found: UserPosition[] = [];
  const upTo = (next: UserPosition | null) => ({ ids: found.slice(0, range.size).map(({ id }) => id), next });
  const { order, isDescending, size } = range;
  const after = range.after === 'start' ? null : range.after;
  const endsWithNull = isDescending === (orders[order].endsWithNull === 'desc');
  const parts = endsWithNull ? (['values', 'nulls'] as const) : (['nulls', 'values'] as const);
  const first = after === null ? 0 : parts.indexOf(after.value === null ? 'nulls' : 'values');
  for (const [index, part] of parts.entries()) {
    if (index < first) continue;
    const position = index === first ? after : null;
    const wanted = size + 1 - found.length;
    const rows = await searchPart(database, asked, { part, position, wanted });
    found.push(...rows.filter(({ isFound }) => isFound));
    if (found.length > size) return upTo(found[size - 1] ?? null);
    const last = rows.at(-1);
    if (last?.isLast) return upTo({ id: last.id, value: last.value });
  }
  return upTo(null);
}

interface Part {
  /** Users with a value of the order, or without. */
  readonly part: 'values' | 'nulls';
  readonly position: UserPosition | null;
}

/** The rows that are examined, in their order. */
function examined(filter: Narrowed, { order, isDescending }: UserRange, { part, position }: Part) {
  const c = new Conditions(filter);
  const { column, type, endsWithNull } = orders[order];
  const direction = isDescending ? 'desc' : 'asc';
  const nulls = direction === endsWithNull ? 'last' : 'first';
  c.texts.push(`${column} is ${part === 'nulls' ? '' : 'not '}null`);
  if (position !== null) {
    const [than, id] = [isDescending ? '<' : '>', `${c.add(position.id)}::uuid`];
    c.texts.push(
      position.value === null
        ? `u.id ${than} ${id}`
        : `(${column}, u.id) ${than} (${c.add(position.value)}::${type}, ${id})`,
    );
  }
  return { c, orderBy: `order by ${column} ${direction} nulls ${nulls}, u.id ${direction}` };
}

interface ExaminedRow extends UserPosition {
  readonly isFound: boolean;
  /** The search stops here. */
  readonly isLast: boolean;
}

async function searchPart(
  database: Queryable,
  { filter, range, exact }: Asked,
  part: Part & { readonly wanted: number },
): Promise<readonly ExaminedRow[]> {
  const { c, orderBy } = examined(filter, range, part);
  const columns = `u.id, ${orders[range.order].text} as value`;
  const rows = (limit: number, more = '') =>
    `select ${columns}${more} from auth.users u where ${c.text} ${orderBy} limit ${limit}`;
  if (filter.search === null && !filter.isCommon) {
    const found = await database.query(rows(part.wanted, ', true as "isFound", false as "isLast"'), c.values);
    return found as unknown as readonly ExaminedRow[];
  }
  // The limit within keeps their order, and ends the scan as soon as enough are found.
  const window = rows(maxExamined, filter.search === null ? '' : ', u.email, u.phone, u.raw_user_meta_data');
  const others = exact.length === 0 ? '' : ` and u.id <> all (${c.add(exact)}::uuid[])`;
  const statement = `select u.id, u.value, u."isFound", u.place = ${maxExamined} as "isLast" from (
      select u.id, u.value, coalesce(${matching(c, filter)}${others}, false) as "isFound",
        pg_catalog.row_number() over () as place
      from (${window}) u
    ) u where u."isFound" or u.place = ${maxExamined} limit ${part.wanted}`;
  return (await database.query(statement, c.values)) as unknown as readonly ExaminedRow[];
}

function matching(c: Conditions, filter: Narrowed): string {
  const { search, isCommon } = filter;
  const named = search === null ? [] : [`(${naming(c, search)})`];
  return [...named, ...(isCommon ? [hasProvider(c, filter)] : [])].join(' and ');
}

function naming(c: Conditions, search: string): string {
  const part = c.add(search.toLowerCase());
  const has = (text: string, found = part) => `pg_catalog.strpos(${text}, ${found}) > 0`;
  const digits = digitsOf(search);
  const name = (key: string) => has(`pg_catalog.lower(u.raw_user_meta_data ->> '${key}')`);
  return [
    has('pg_catalog.lower(u.email::text)'),
    name('full_name'),
    name('name'),
    ...(digits === null ? [] : [has('u.phone', c.add(digits))]),
    ...(/^[0-9a-f-]+$/i.test(search) ? [has('u.id::text')] : []),
  ].join(' or ');
}

/** The digits of a number as people write it; null for other text. */
function digitsOf(search: string): string | null {
  const digits = search.replaceAll(/[+()/.\s-]/g, '');
  return /^\d+$/.test(digits) ? digits : null;
}

async function loadUsers(database: Queryable, ids: readonly string[]): Promise<readonly User[]> {
  if (ids.length === 0) return [];
  const rows = (await database.query(`${selectUser} where u.id = any ($1::uuid[])`, [ids])) as unknown as User[];
  const byId = new Map(rows.map((user) => [user.id, user]));
  // One may have been deleted meanwhile.
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** Counts the users of a filter: those with a state and a common provider are `countAmong` others. */
async function countUsers(database: Queryable, filter: Narrowed): Promise<UserCount> {
  if (filter.isCommon) {
    const identities = 'select from auth.identities i where i.provider = $1';
    return { total: Math.max(maxCounted, await planned(database, identities, [filter.provider])), isEstimate: true };
  }
  const { text, values } = new Conditions(filter);
  const users = `from auth.users u where ${text}`;
  const counting = `select pg_catalog.count(*)::int4 as total from (select ${users} limit ${maxCounted + 1}) x`;
  const [counted] = await database.query(counting, values);
  const total = counted?.total as number;
  if (total <= maxCounted) return { total, isEstimate: false };
  return { total: Math.max(total, await planned(database, `select ${users}`, values)), isEstimate: true };
}

/** Counts those of a common provider among the users of a state; null where too many would be examined. */
async function countAmong(database: Queryable, filter: Narrowed): Promise<UserCount | null> {
  const c = new Conditions(filter);
  const users = `from auth.users u where ${c.text}`;
  const count = (select: string) => `select pg_catalog.count(*)::int4 as total from (${select}) u`;
  const [among] = await database.query(count(`select ${users} limit ${maxExamined + 1}`), c.values);
  if ((among?.total as number) > maxExamined) return null;
  const [counted] = await database.query(count(`select ${users} and ${hasProvider(c, filter)}`), c.values);
  return { total: counted?.total as number, isEstimate: false };
}

/** How many rows the planner expects. */
async function planned(database: Queryable, select: string, values: readonly unknown[]): Promise<number> {
  const [row] = await database.query(`explain (format json) ${select}`, values);
  const [plan] = (row?.['QUERY PLAN'] ?? []) as readonly { readonly Plan: { readonly 'Plan Rows': number } }[];
  return plan?.Plan['Plan Rows'] ?? 0;
}
