/** Rate limits: requests per IP address, messages in total. The counts are in the database, shared by all processes. */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import type { SendLimit } from '../../config/auth/auth-delivery-fields.ts';
import { parseDurationSeconds } from '../../config/auth/go-duration.ts';
import { hashRecipient } from '../../email/outbox/deliveries.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import { type Time, toTimestamp } from '../../shared/times.ts';
import { AuthError, type AuthErrorCode } from '../model/auth-error.ts';

/** How many uses are allowed. */
export type Allowance =
  /** `burst` at once, refilled at `perMs` per millisecond. */
  { readonly kind: 'bucket'; readonly burst: number; readonly perMs: number } | WindowAllowance;

/** `limit` per window; the first use starts a window. */
interface WindowAllowance {
  readonly kind: 'window';
  readonly limit: number;
  readonly windowMs: number;
}

/** The part of a window that one client network (`networkOf`) may use. */
interface NetworkShare {
  readonly network: string;
  readonly limit: number;
}

/** An endpoint's limit per IP address. Null: no limit, which the configuration writes as 0. */
export function requestAllowance(perInterval: number, intervalSeconds: number, burst: number = 30): Allowance | null {
  return perInterval <= 0 ? null : { kind: 'bucket', burst, perMs: perInterval / (intervalSeconds * 1000) };
}

/** The limit on messages: a number is a limit per hour, `n/duration` a bucket of n. 0 allows none. */
export function sendAllowance(limit: SendLimit): Allowance {
  if (typeof limit === 'number') return { kind: 'window', limit, windowMs: 3_600_000 };
  const [count = '', duration = ''] = limit.split('/');
  const windowMs = parseDurationSeconds(duration) * 1000;
  return { kind: 'bucket', burst: Number(count), perMs: Number(count) / windowMs };
}

/** Counts uses under names. */
export interface RateLimiter {
  /**
   * Takes one use of a name's allowance.
   *
   * @param name What is counted, for example `otp:192.0.2.1`; names are compared by about their first 190 characters.
   * @returns Null if allowed; otherwise the milliseconds until the next use is.
   * @throws DatabaseError
   */
  take(name: string, allowance: Allowance): Promise<number | null>;
  /** As `take`, if the network has some of its share left. @returns The uses in the window so far, or the wait. */
  takeShare(name: string, window: WindowAllowance, share: NetworkShare): Promise<Taken>;
  /** Takes back a use of a share. @throws DatabaseError */
  giveBack(name: string, network: string): Promise<void>;
}

/** A use that was allowed, or the milliseconds until the next one is, and the uses of the network in the window. */
type Taken = { readonly used: number } | { readonly waitMs: number; readonly ofNetwork: number };

/** Longest name of a count, in characters. */
const maxNameLength = 200;

/** @param database Outside the request's transaction, a failed request counts, too. @param now In milliseconds. */
export function createRateLimiter(database: Queryable, now: () => Time): RateLimiter {
  // Separate counts, because the two kinds count in opposite directions.
  const rowOf = (kind: Allowance['kind'], name: string) => `${kind}:${name}`.slice(0, maxNameLength);
  return {
    async take(name, allowance) {
      const taken = await takeUse(database, rowOf(allowance.kind, name), { allowance, now: now(), share: null });
      return 'waitMs' in taken ? taken.waitMs : null;
    },
    takeShare: (name, allowance, share) => takeUse(database, rowOf('window', name), { allowance, now: now(), share }),
    async giveBack(name, network) {
      await database.query(giveBackToWindow, [rowOf('window', name), network]);
    },
  };
}

/** Refuses a request if its IP address sent too many. @throws AuthError `over_request_rate_limit` */
export async function assertRequestAllowed(
  limiter: RateLimiter,
  name: string,
  allowance: Allowance | null,
): Promise<void> {
  const waitMs = allowance === null ? null : await limiter.take(name, allowance);
  if (waitMs !== null) throw tooManyRequests(waitMs);
}

/** Refuses a message after too many. @throws AuthError `over_email_send_rate_limit`, `over_sms_send_rate_limit` */
export async function assertSendAllowed(limiter: RateLimiter, kind: 'email' | 'sms', limit: SendLimit): Promise<void> {
  const allowance = sendAllowance(limit);
  if (allowsNone(allowance)) throw new AuthError(sendCodes[kind]);
  const waitMs = await limiter.take(`sent:${kind}`, allowance);
  if (waitMs !== null) throw tooMany(sendCodes[kind], waitMs);
}

function allowsNone(allowance: Allowance): boolean {
  return allowance.kind === 'window' ? allowance.limit <= 0 : allowance.burst <= 0;
}

/** An address in the name of a count: hashed, because names have a limited length, and to store no address. */
export function countedRecipient(address: string): string {
  return hashRecipient(address).toString('hex');
}

/**
 * Counts a security notification apart from other emails, so that these cannot use up its limits. The first one in an
 * hour to an address is always sent, because accounts of an attacker's own can use up the limit of the project.
 *
 * @param changes Counts in the transaction of the change: one that is rolled back has not notified.
 * @param limiter Counts for the project, outside the transaction, which others would wait for.
 * @returns The limit that is used up; null: the notification may be sent.
 */
export async function takeNotification(
  { changes, limiter }: { readonly changes: RateLimiter; readonly limiter: RateLimiter },
  address: string,
  limits: Pick<AuthConfig, 'rate_limit_email_recipient' | 'rate_limit_email_sent'>,
): Promise<'rate_limit_email_recipient' | 'rate_limit_email_sent' | null> {
  const allowance = sendAllowance(limits.rate_limit_email_sent);
  if (allowsNone(allowance)) return 'rate_limit_email_sent';
  const take = async (name: string, limit: number) =>
    limit <= 0 || (await changes.take(`${name}:${countedRecipient(address)}`, sendAllowance(limit))) === null;
  if (!(await take('notified', limits.rate_limit_email_recipient))) return 'rate_limit_email_recipient';
  const isFirst = await take('notified_first', 1);
  const waitMs = await limiter.take('sent:notification', allowance);
  return isFirst || waitMs === null ? null : 'rate_limit_email_sent';
}

/**
 * Refuses a second request for an address within the configured time, whether or not the first one sent something. So
 * the answer does not tell whether the address has an account.
 *
 * @param name Requests of the same name share a count.
 * @throws AuthError as `findTooFrequent`.
 */
export async function assertFirstRequest(
  limiter: RateLimiter,
  { kind, name, address }: { readonly kind: 'email' | 'sms'; readonly name: string; readonly address: string },
  frequencySeconds: number,
): Promise<void> {
  if (frequencySeconds <= 0) return;
  const allowance = { kind: 'window', limit: 1, windowMs: frequencySeconds * 1000 } as const;
  const waitMs = await limiter.take(`asked:${name}:${hashRecipient(address).toString('hex')}`, allowance);
  if (waitMs !== null) throw tooFrequent(kind, waitMs);
}

/**
 * The error for a second message of a kind to the same user within the configured time. Null if it may be sent.
 *
 * @param sentAt When the last one was sent; null for never.
 */
export function findTooFrequent(
  kind: 'email' | 'sms',
  sentAt: Time | null,
  frequencySeconds: number,
  now: Time,
): AuthError | null {
  const remainingMs = sentAt === null ? 0 : sentAt + frequencySeconds * 1000 - now;
  return frequencySeconds <= 0 || remainingMs <= 0 ? null : tooFrequent(kind, remainingMs);
}

/** With the remaining seconds, rounded down. */
function tooFrequent(kind: 'email' | 'sms', waitMs: number): AuthError {
  const message = `For security purposes, you can only request this after ${Math.floor(waitMs / 1000)} seconds.`;
  return tooMany(sendCodes[kind], waitMs, message);
}

const sendCodes = { email: 'over_email_send_rate_limit', sms: 'over_sms_send_rate_limit' } as const;

/** The error for a text message that has to wait. */
export function tooManyTexts(waitMs: number): AuthError {
  return tooMany(sendCodes.sms, waitMs);
}

/** The error for a request that has to wait. */
export function tooManyRequests(waitMs: number): AuthError {
  return tooMany('over_request_rate_limit', waitMs);
}

function tooMany(code: AuthErrorCode, waitMs: number, message: string | null = null): AuthError {
  return new AuthError(code, message, { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) });
}

// Both statements: $1 name, $2 now, $3 size of the bucket or window's limit, $4 tokens per millisecond or window in ms.
// The clocks of processes may differ, so a row's time never goes backwards. A bucket's row holds the tokens left.
const takeFromBucket = `insert into auth.pgreflect_rate_limits as l (name, tokens, updated_at)
  values ($1, $3::float8 - 1, $2::timestamptz)
  on conflict (name) do update set
    tokens = least($3::float8, l.tokens
      + greatest(0, extract(epoch from $2::timestamptz - l.updated_at)::float8 * 1000) * $4::float8) - 1,
    updated_at = greatest(l.updated_at, $2::timestamptz)
  where least($3::float8, l.tokens
    + greatest(0, extract(epoch from $2::timestamptz - l.updated_at)::float8 * 1000) * $4::float8) >= 1
  returning l.tokens`;

// A window's row holds the tokens taken, so a changed limit applies immediately. $5 network, $6 its limit. The counts of
// networks are in the same row: one lock, and no more of them than uses in a window.
const isOver = 'extract(epoch from $2::timestamptz - l.updated_at)::float8 * 1000 >= $4::float8';
const shareOf = (network: string) => `coalesce((l.shares ->> ${network}::text)::float8, 0)`;
const takeFromWindow = `insert into auth.pgreflect_rate_limits as l (name, tokens, updated_at, shares)
  select $1, 1, $2::timestamptz, pg_catalog.jsonb_build_object($5::text, 1) where least($3::float8, $6::float8) >= 1
  on conflict (name) do update set
    tokens = case when ${isOver} then 0 else l.tokens end + 1,
    updated_at = case when ${isOver} then $2::timestamptz else l.updated_at end,
    shares = case when ${isOver} then excluded.shares
      else l.shares || pg_catalog.jsonb_build_object($5::text, ${shareOf('$5')} + 1) end
  where ${isOver} or (l.tokens + 1 <= $3::float8 and ${shareOf('$5')} + 1 <= $6::float8)
  returning l.tokens`;

const giveBackToWindow = `update auth.pgreflect_rate_limits l set
    tokens = greatest(l.tokens - 1, 0),
    shares = l.shares || pg_catalog.jsonb_build_object($2::text, greatest(${shareOf('$2')} - 1, 0))
  where l.name = $1`;

interface Use {
  readonly allowance: Allowance;
  readonly now: Time;
  /** Null: all networks are one. */
  readonly share: NetworkShare | null;
}

async function takeUse(database: Queryable, name: string, { allowance, now, share }: Use): Promise<Taken> {
  const [text, size, pace] =
    allowance.kind === 'bucket'
      ? [takeFromBucket, allowance.burst, allowance.perMs]
      : [takeFromWindow, allowance.limit, allowance.windowMs];
  const shared = allowance.kind === 'bucket' ? [] : [share?.network ?? '', share?.limit ?? size];
  const [taken] = await database.query(text, [name, toTimestamp(now), size, pace, ...shared]);
  if (taken !== undefined) return { used: Number(taken.tokens) };
  const [row] = await database.query(
    `select l.tokens, (extract(epoch from l.updated_at) * 1000)::float8 as updated_at, ${shareOf('$2')} as share
    from auth.pgreflect_rate_limits l where l.name = $1`,
    [name, share?.network ?? ''],
  );
  const ofNetwork = Number(row?.share ?? 0);
  const sinceMs = now - Number(row?.updated_at ?? now);
  if (allowance.kind === 'window') return { ofNetwork, waitMs: Math.max(1, allowance.windowMs - sinceMs) };
  const waitMs = (1 - Number(row?.tokens ?? 0)) / allowance.perMs - Math.max(0, sinceMs);
  return { ofNetwork, waitMs: Math.max(1, waitMs) };
}
