/** Reads, creates and ends sessions, rows of `auth.sessions`; refresh tokens and methods are deleted with theirs. */
import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import type { Queryable } from '../../postgres/system/queryable.ts';
import { loadSqlFile } from '../../postgres/system/sql-file.ts';
import { randomText } from '../../shared/random.ts';
import { toTimestamp } from '../../shared/times.ts';
import { nilUuid } from '../../shared/uuid.ts';
import { aalOf, type Session, secondFactorMethods } from '../model/session.ts';
import type { StoreTransaction } from './transaction.ts';

/** Selects sessions as `s`, up to the `where`; rows are of type `Session`. */
export const selectSession = loadSqlFile('auth/session.sql');
const createStatement = loadSqlFile('auth/create-session.sql');

/** The client of a request, as sessions store it. */
export interface ClientOrigin {
  readonly userAgent: string | null;
  /** An IP address; other text is not stored. */
  readonly ip: string | null;
}

interface NewSession {
  readonly userId: string;
  /** `password`, `otp`, `oauth`, `anonymous`, or the method of a PKCE flow. */
  readonly method: string;
  readonly client: ClientOrigin;
  readonly tag?: string;
}

/** A session and its refresh token. */
export interface IssuedSession {
  readonly session: Session;
  readonly refreshToken: string;
}

/** Which of the sessions exist. @throws DatabaseError */
export async function findSessions(database: Queryable, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await database.query('select s.id from auth.sessions s where s.id = any ($1::pg_catalog.uuid[])', [ids]);
  return new Set(rows.map(({ id }) => String(id)));
}

/** A new refresh token: 12 letters and digits. */
export function makeRefreshToken(): string {
  return randomText('abcdefghijklmnopqrstuvwxyz234567', 12);
}

/** The text if it is an IP address, otherwise null, because the column accepts nothing else. */
export function toStorableIp(ip: string | null): string | null {
  return ip !== null && isIP(ip) !== 0 ? ip : null;
}

/** Starts a session of level `aal1` and sets `last_sign_in_at`; a user object read before has the old value. */
export async function createSession(
  tx: StoreTransaction,
  { userId, method, client, tag }: NewSession,
): Promise<IssuedSession> {
  const now = tx.clock.now();
  const refreshToken = makeRefreshToken();
  const session: Session = {
    id: randomUUID(),
    userId,
    createdAt: now,
    refreshedAt: null,
    notAfter: null,
    factorId: null,
    aal: 'aal1',
    userAgent: client.userAgent,
    ip: toStorableIp(client.ip),
    tag: tag ?? null,
    amr: [{ method, at: now }],
  };
  await tx.query(createStatement, [
    session.id,
    session.userId,
    toTimestamp(now),
    session.userAgent,
    session.ip,
    session.tag,
    refreshToken,
    randomUUID(),
    method,
  ]);
  return { session, refreshToken };
}

/** The session, or null. @param id A UUID. */
export async function loadSession(database: Queryable, id: string): Promise<Session | null> {
  return toSessions(await database.query(`${selectSession} where s.id = $1::uuid`, [id]))[0] ?? null;
}

/** As `loadSession`, and locks the row for this transaction: a refresh of the session waits. */
export async function lockSession(database: Queryable, id: string): Promise<Session | null> {
  // Two statements: values read by the locking statement would be as old as the wait for the lock.
  const [, rows] = await Promise.all([
    database.query('select s.id from auth.sessions s where s.id = $1::uuid for update', [id]),
    database.query(`${selectSession} where s.id = $1::uuid`, [id]),
  ]);
  return toSessions(rows)[0] ?? null;
}

/** All sessions of a user. */
export async function loadSessionsOf(database: Queryable, userId: string): Promise<readonly Session[]> {
  return toSessions(await database.query(`${selectSession} where s.user_id = $1::uuid`, [userId]));
}

/**
 * Whether a user is signed in somewhere in a network.
 *
 * @param network See `networkOf`; empty for none. @param level The lowest level of sessions that count.
 */
export async function hasSessionIn(
  database: Queryable,
  userId: string,
  network: string,
  level: Session['aal'] = 'aal1',
): Promise<boolean> {
  if (network === '') return false;
  const rows = await database.query(
    `select from auth.sessions s
    where s.user_id = $1::uuid and s.ip <<= $2::inet and coalesce(s.aal, 'aal1') >= $3::auth.aal_level limit 1`,
    [userId, network, level],
  );
  return rows.length > 0;
}

function toSessions(rows: readonly Record<string, unknown>[]): readonly Session[] {
  return rows.map((row) => Object.freeze(row) as unknown as Session);
}

/**
 * Adds an authentication method to a session, a repeated one as new, and updates the level.
 *
 * @param factorId The factor that was used; null keeps the one before.
 */
export async function addAmr(
  tx: StoreTransaction,
  session: Session,
  { method, factorId }: { readonly method: string; readonly factorId: string | null },
): Promise<void> {
  const now = tx.clock.now();
  const aal = aalOf([...session.amr, { method, at: now }]);
  await tx.query(
    `with method as (
      insert into auth.mfa_amr_claims as m (id, session_id, created_at, updated_at, authentication_method)
      values ($1::uuid, $2::uuid, $3::timestamptz, $3::timestamptz, $4)
      on conflict (session_id, authentication_method) do update set updated_at = excluded.updated_at
    )
    update auth.sessions set
      aal = $5::auth.aal_level, factor_id = coalesce($6::uuid, factor_id), updated_at = $3::timestamptz
    where id = $2::uuid`,
    [randomUUID(), session.id, toTimestamp(now), method, aal, factorId],
  );
}

/** The sessions to end: all of the user, this one, or all but this one. */
export type LogoutScope = 'global' | 'local' | 'others';

/** Ends sessions of a user. Without a current session, every scope means all. @returns How many ended. */
export async function endSessions(
  database: Queryable,
  userId: string,
  scope: LogoutScope,
  sessionId: string | null,
): Promise<number> {
  const rows = await database.query(
    `delete from auth.sessions s
    where s.user_id = $1::uuid and ($2::uuid is null or case $3 when 'local' then s.id = $2::uuid when 'others' then s.id <> $2::uuid else true end)
    returning s.id`,
    [userId, sessionId, scope],
  );
  return rows.length;
}

/** Whether the user has a session, perhaps one that has run out. */
export async function hasSessions(database: Queryable, userId: string): Promise<boolean> {
  const [row] = await database.query('select from auth.sessions s where s.user_id = $1::uuid limit 1', [userId]);
  return row !== undefined;
}

/** Ends the user's sessions below a level, when a second factor is added. */
export async function endSessionsBelow(database: Queryable, userId: string, aal: 'aal2'): Promise<void> {
  await database.query(
    `delete from auth.sessions s where s.user_id = $1::uuid and coalesce(s.aal, 'aal1') < $2::auth.aal_level`,
    [userId, aal],
  );
}

/**
 * Uses up the active refresh token of a session and issues the next one. As after a refresh, the old token may be
 * exchanged for the new one, because the answer may be lost.
 *
 * @param session Locked.
 * @returns The token.
 */
export async function replaceRefreshToken(tx: StoreTransaction, { id, userId }: Session): Promise<string> {
  const token = makeRefreshToken();
  await tx.query(
    `with used as (
      update auth.refresh_tokens set revoked = true, updated_at = $4::timestamptz
      where session_id = $1::uuid and revoked is not true
      returning id, token
    )
    insert into auth.refresh_tokens (instance_id, token, user_id, revoked, created_at, updated_at, parent, session_id)
    select '${nilUuid}', $2, $3, false, $4::timestamptz, $4::timestamptz,
      (select u.token from used u order by u.id desc limit 1), $1::uuid`,
    [id, token, userId, toTimestamp(tx.clock.now())],
  );
  return token;
}

/** Lowers the level of the sessions that a factor raised. */
export async function lowerSessions(tx: StoreTransaction, factorId: string): Promise<void> {
  await tx.query(
    `with lowered as (
      update auth.sessions set aal = 'aal1', factor_id = null, updated_at = $2::timestamptz
      where factor_id = $1::uuid
      returning id
    )
    delete from auth.mfa_amr_claims m
    using lowered l
    where m.session_id = l.id and m.authentication_method = any ($3::text[])`,
    [factorId, toTimestamp(tx.clock.now()), secondFactorMethods],
  );
}
