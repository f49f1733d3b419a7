/**
 * One-time tokens in the database: stored once, presented by link or by code, consumed exactly once.
 *
 * A token is in a column of the user and in a row of `auth.one_time_tokens`. Links are found by the row, codes by the
 * column. A request that presents a token locks the user until the end of its transaction, so only one of several
 * concurrent requests finds the token.
 */
import { randomUUID } from 'node:crypto';
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import { type Time, toTimestamp } from '../../shared/times.ts';
import { AuthError } from '../model/auth-error.ts';
import { isBanned, type User } from '../model/user.ts';
import { hashCode, matchesHash } from '../secrets/one-time-code.ts';
import type { StoreTransaction } from './transaction.ts';
import { selectUser, toUser, userColumns } from './users.ts';

/** The user's columns for each token type: the token, and when it was sent. */
const columns = {
  confirmation_token: ['confirmationToken', 'confirmationSentAt'],
  recovery_token: ['recoveryToken', 'recoverySentAt'],
  email_change_token_new: ['emailChangeTokenNew', 'emailChangeSentAt'],
  email_change_token_current: ['emailChangeTokenCurrent', 'emailChangeSentAt'],
  phone_change_token: ['phoneChangeToken', 'phoneChangeSentAt'],
  reauthentication_token: ['reauthenticationToken', 'reauthenticationSentAt'],
} as const;

/** Type of a token, as the database names it. */
export type OneTimeTokenType = keyof typeof columns;

/** Condition for the row of the token whose hash is `$1`, with the first matching type of `$2`. */
const isToken = 't.token_hash = $1 and t.token_type::text = any ($2::text[])';
const first = 'order by pg_catalog.array_position($2::text[], t.token_type::text) limit 1';
const ownerOfToken = `(select t.user_id from auth.one_time_tokens t where ${isToken} ${first})`;

/**
 * A link's hash proves an email address: the user's present one or the pending one. Codes of phones are stored in the
 * same place, and their recipients could compute the hash, so they are excluded.
 */
const isForAddress = `pg_catalog.lower(t.relates_to) = pg_catalog.lower(
      case t.token_type when 'email_change_token_new' then x."emailChange" else x."email" end
    )`;

/** Locks the user who owns the token. */
const lockByHash = `select u.id from auth.users u where u.id = ${ownerOfToken} for update`;

/** The user `$3` with the type of the token; the type is null if the user does not have it. */
const givenUserWithToken = `select pg_catalog.row_to_json(x) as "user",
    (
      select t.token_type::text from auth.one_time_tokens t
      where t.user_id = x.id and ${isToken} and ${isForAddress} ${first}
    ) as "type"
  from (${selectUser} where u.id = $3::uuid) x`;

interface NewOneTimeToken {
  readonly userId: string;
  readonly type: OneTimeTokenType;
  /** Hash of the code; with the prefix `pkce_` in the PKCE flow. */
  readonly codeHash: string;
  /** Token of the link. It is random, so a guessed code is no guess at the link. Default: `codeHash`. */
  readonly linkToken?: string;
  /** The address that is part of the code hash. */
  readonly address: string;
}

/** Stores a token, replaces (and so invalidates) the user's older one of that type, and sets its `*_sent_at` to now. */
export async function storeToken(tx: StoreTransaction, token: NewOneTimeToken): Promise<void> {
  const { type } = token;
  await tx.query(
    `with stored as (
      insert into auth.one_time_tokens as t (id, user_id, token_type, token_hash, relates_to, created_at, updated_at)
      values ($1::uuid, $2::uuid, '${type}', $6, $4, $5::timestamptz at time zone 'UTC', $5::timestamptz at time zone 'UTC')
      on conflict (user_id, token_type) do update set
        id = excluded.id, token_hash = excluded.token_hash, relates_to = excluded.relates_to,
        created_at = excluded.created_at, updated_at = excluded.updated_at
    )
    update auth.users set ${type} = $3, ${userColumns[columns[type][1]]} = $5::timestamptz, updated_at = $5::timestamptz where id = $2::uuid`,
    [
      randomUUID(),
      token.userId,
      token.codeHash,
      token.address.toLowerCase(),
      toTimestamp(tx.clock.now()),
      token.linkToken ?? token.codeHash,
    ],
  );
}

/** A valid presented token. The user is locked; `consumeToken` must follow in the transaction. */
export interface PresentedToken {
  readonly user: User;
  readonly type: OneTimeTokenType;
}

/** The limits that a token is checked against. */
export interface TokenCheck {
  readonly types: readonly OneTimeTokenType[];
  readonly now: Time;
  /** Lifetime of the token in seconds; see `emailTokenSeconds`, `smsTokenSeconds`. */
  readonly lifetimeSeconds: number;
  /** Tells which tokens are invalid in any case; by default none. */
  readonly isDead?: (userId: string, type: OneTimeTokenType) => boolean;
}

/** Lifetime of email tokens in seconds. */
export function emailTokenSeconds(config: Pick<AuthConfig, 'mailer_otp_exp'>): number {
  return config.mailer_otp_exp || 3600;
}

/** Lifetime of text message codes in seconds. */
export function smsTokenSeconds(config: Pick<AuthConfig, 'sms_otp_exp'>): number {
  return config.sms_otp_exp || 60;
}

/** How long guesses count, in seconds: at least as long as any token lives. */
export function guessSeconds(config: Pick<AuthConfig, 'mailer_otp_exp' | 'sms_otp_exp'>): number {
  return Math.max(86_400, emailTokenSeconds(config), smsTokenSeconds(config));
}

/** The error for a link or `token_hash`, the same for unknown, used and expired ones. */
function linkExpired(): AuthError {
  return new AuthError('otp_expired', 'Email link is invalid or has expired');
}

/**
 * Looks up the token of a link or `token_hash`.
 *
 * @param tokenHash As stored, prefix included.
 * @throws AuthError `otp_expired`; `user_banned` for a valid one.
 */
export async function presentTokenHash(
  database: Queryable,
  tokenHash: string,
  check: TokenCheck,
): Promise<PresentedToken> {
  const [held] = await database.query(lockByHash, [tokenHash, check.types]);
  if (held === undefined) throw linkExpired();
  // Another request may have consumed or replaced the token while this one waited for the lock: read it again with the
  // user.
  const [row] = await database.query(givenUserWithToken, [tokenHash, check.types, held.id]);
  return checkTokenRow(row, check);
}

function checkTokenRow(row: Record<string, unknown> | undefined, check: TokenCheck): PresentedToken {
  const user = toUser(row?.user);
  const type = (row?.type ?? null) as OneTimeTokenType | null;
  if (user === null || type === null || isExpired(user, type, check)) throw linkExpired();
  if (isBanned(user, check.now)) throw new AuthError('user_banned');
  return { user, type };
}

/** A code, and the address it was sent to. */
type GivenCode = Readonly<Record<'address' | 'code', string>>;

/** Checks a code against the first matching type. @param user Locked; null: none. @throws As `presentTokenHash`. */
export function checkCode(user: User | null, given: GivenCode, check: TokenCheck): PresentedToken {
  if (user === null) throw new AuthError('otp_expired');
  const hash = hashCode(given.address.toLowerCase(), given.code);
  const type = check.types.find((candidate) => {
    const stored = user[columns[candidate][0]];
    const isGood = stored !== '' && !check.isDead?.(user.id, candidate) && !isExpired(user, candidate, check);
    return isGood && matchesHash(stored, hash);
  });
  if (type === undefined) throw new AuthError('otp_expired');
  // After the code: a guess must not tell that the account exists.
  if (isBanned(user, check.now)) throw new AuthError('user_banned');
  return { user, type };
}

/**
 * Finds the owner of a code by the address it was sent to. The address of an email change is not the user's yet, and
 * several users may have requested it. Consumes and locks nothing.
 */
export async function findUserIdByCode(
  database: Queryable,
  { address, code }: GivenCode,
  types: readonly OneTimeTokenType[],
): Promise<string | null> {
  const rows = await database.query(
    `select pg_catalog.row_to_json(x) as "user", t.token_type::text as type
    from auth.one_time_tokens t
    cross join lateral (${selectUser} where u.id = t.user_id) x
    where t.relates_to = $1 and t.token_type::text = any ($2::text[])
    order by pg_catalog.array_position($2::text[], t.token_type::text)`,
    [address.toLowerCase(), types],
  );
  const hash = hashCode(address.toLowerCase(), code);
  const users = rows.map((row) => ({ user: toUser(row.user), type: row.type as OneTimeTokenType }));
  const found = users.find(({ user, type }) => user !== null && matchesHash(user[columns[type][0]], hash));
  return found?.user?.id ?? null;
}

/** Whether a user has a token of a type, perhaps an expired one. */
export function hasToken(user: User, type: OneTimeTokenType): boolean {
  return user[columns[type][0]] !== '';
}

/** When the last token of a type was sent; null for never. */
export function sentAtOf(user: User, type: OneTimeTokenType): Time | null {
  return user[columns[type][1]];
}

function isExpired(user: User, type: OneTimeTokenType, { now, lifetimeSeconds }: TokenCheck): boolean {
  const sentAt = sentAtOf(user, type);
  return sentAt === null || now > sentAt + lifetimeSeconds * 1000;
}

/**
 * Uses up a presented token: empties its column and deletes all token rows of the user.
 *
 * @param rows `own`: deletes only its own row, for the first of two confirmations of an email change.
 */
export async function consumeToken(
  tx: StoreTransaction,
  { user, type }: PresentedToken,
  rows: 'all' | 'own' = 'all',
): Promise<void> {
  await tx.query(
    `with gone as (
      delete from auth.one_time_tokens t where t.user_id = $1::uuid and (t.token_type = '${type}' or $3)
    )
    update auth.users set ${type} = '', updated_at = $2::timestamptz where id = $1::uuid`,
    [user.id, toTimestamp(tx.clock.now()), rows === 'all'],
  );
}

const noChanges = `email_change = '', email_change_confirm_status = 0,
      email_change_token_new = '', email_change_token_current = '', email_change_sent_at = null,
      phone_change = '', phone_change_token = '', phone_change_sent_at = null`;

/** Ends pending changes of address and number, with their codes and links. */
export async function endChanges(tx: StoreTransaction, userId: string): Promise<void> {
  await tx.query(
    `with gone as (
      delete from auth.one_time_tokens t where t.user_id = $1::uuid
        and t.token_type in ('email_change_token_new', 'email_change_token_current', 'phone_change_token')
    )
    update auth.users set ${noChanges}, updated_at = $2::timestamptz where id = $1::uuid`,
    [userId, toTimestamp(tx.clock.now())],
  );
}

/**
 * Ends all that is pending, as a new password does: tokens with their times and rows, and changes of address and number.
 * Whoever asked for a change may have held a stolen session.
 */
export async function clearPending(tx: StoreTransaction, userId: string): Promise<void> {
  await tx.query(
    `with gone as (delete from auth.one_time_tokens t where t.user_id = $1::uuid)
    update auth.users set
      confirmation_token = '', confirmation_sent_at = null, recovery_token = '', recovery_sent_at = null,
      ${noChanges}, reauthentication_token = '', reauthentication_sent_at = null,
      updated_at = $2::timestamptz
    where id = $1::uuid`,
    [userId, toTimestamp(tx.clock.now())],
  );
}
