/**
 * Exchanges a refresh token for the next one, and finds out who uses one twice.
 *
 * Refreshes of a session happen one after the other under the lock on its row. The last used token gives the
 * active one again, at any time, because its answer may have been lost; one used before that, outside a short interval, is
 * taken for stolen and ends the family. That end is committed, although the answer is a refusal.
 */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import { DatabaseError } from '../../postgres/failure.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import type { SystemPool } from '../../postgres/system/run-system.ts';
import { loadSqlFile } from '../../postgres/system/sql-file.ts';
import { invariant } from '../../shared/invariant.ts';
import { AuthError, type AuthErrorCode } from '../auth-error.ts';
import { checkSession, lastRefreshedAt, type Session, type SessionLimits, sessionGroup } from '../session.ts';
import { type Time, toTimestamp } from '../times.ts';
import type { Tools } from '../tools.ts';
import { highestAal, isBanned, type User } from '../user.ts';
import { type AuditAction, toAuditRows, userActor } from './audit.ts';
import {
  type ClientOrigin,
  type IssuedSession,
  loadSessionsOf,
  makeRefreshToken,
  selectSession,
  toStorableIp,
} from './sessions.ts';
import { selectUser, toUser } from './users.ts';

const stateStatement = `select
  (select pg_catalog.row_to_json(x) from (${selectUser} where u.id = t.user_id::uuid) x) as "user",
  (select pg_catalog.row_to_json(x) from (${selectSession} where s.id = t.session_id) x) as "session",
  ${loadSqlFile('auth/refresh-state.sql')}`;
const rotateStatement = loadSqlFile('auth/rotate-refresh-token.sql');

/** The fields that decide about refreshes. */
export type RefreshConfig = SessionLimits &
  Pick<
    AuthConfig,
    | 'refresh_token_rotation_enabled'
    | 'security_refresh_token_reuse_interval'
    | 'sessions_single_per_user'
    | 'sessions_tags'
    | 'audit_log_disable_postgres'
  >;

/** A refreshed session with its user as of now. */
export interface RefreshedSession extends IssuedSession {
  readonly user: User;
}

/** What a refresh is done with. */
export interface RefreshContext {
  readonly config: RefreshConfig;
  readonly client: ClientOrigin;
  readonly tools: Tools;
}

interface TokenState {
  readonly tokenId: string;
  /** Null where the user is gone. */
  readonly user: User | null;
  readonly session: Session | null;
  readonly revoked: boolean;
  readonly updatedAt: Time | null;
  readonly activeToken: string | null;
  readonly activeParent: string | null;
}

/** A refusal is a result inside the transaction, so that what it writes is committed. */
type Outcome =
  | { readonly kind: 'refreshed'; readonly refreshed: RefreshedSession }
  | { readonly kind: 'refused'; readonly error: AuthError };

/** How long a refresh waits for another one of the same session. */
const settings = { lock_timeout: '5s' };

/**
 * Refreshes a session in a transaction of its own.
 *
 * @throws AuthError `validation_failed`, `refresh_token_not_found`, `user_banned` (400), `session_not_found` (400),
 *   `session_expired`, `refresh_token_already_used`, `conflict`.
 */
export async function refreshSession(
  pool: SystemPool,
  token: string,
  context: RefreshContext,
): Promise<RefreshedSession> {
  // Tokens of the second format of the original begin a session that we cannot go on with.
  if (!/^[a-z0-9]{12}$/.test(token)) throw new AuthError('validation_failed', 'Refresh token is not valid');
  const outcome = await pool
    .transaction((database) => decide(database, token, context), { settings })
    .catch((error: unknown) => {
      const isLocked = error instanceof DatabaseError && error.sqlstate === '55P03';
      throw isLocked ? new AuthError('conflict', null, { cause: error }) : error;
    });
  if (outcome.kind === 'refused') throw outcome.error;
  return outcome.refreshed;
}

async function decide(database: Queryable, token: string, context: RefreshContext): Promise<Outcome> {
  const locking = database.query(
    `select s.id from auth.sessions s
    where s.id = (select t.session_id from auth.refresh_tokens t where t.token = $1) for update`,
    [token],
  );
  // A statement of its own, so it sees what another refresh wrote before we got the lock. Both go in one round trip.
  const [, state] = await Promise.all([locking, readState(database, token)]);
  if (!state?.user) return refused('refresh_token_not_found');
  const now = context.tools.clock.now();
  if (isBanned(state.user, now)) return refused('user_banned', 'Invalid Refresh Token: User Banned', 400);
  if (state.session === null) {
    await database.query('delete from auth.refresh_tokens t where t.id = $1', [state.tokenId]);
    return refused('session_not_found', 'Invalid Refresh Token: No Valid Session Found', 400);
  }
  const facts = { session: state.session, user: state.user, state, now };
  const expired = await findExpiry(database, facts, context.config);
  if (expired !== null) return refused('session_expired', `Invalid Refresh Token: ${expired}`);
  return useToken(database, token, facts, context);
}

async function readState(database: Queryable, token: string): Promise<TokenState | null> {
  const [row] = await database.query(stateStatement, [token]);
  return row === undefined ? null : ({ ...row, user: toUser(row.user) } as unknown as TokenState);
}

interface Facts {
  readonly session: Session;
  readonly user: User;
  readonly state: TokenState;
  readonly now: Time;
}

const expiryTexts = {
  ended: 'Session Expired',
  inactive: 'Session Expired (Inactivity)',
  low_aal: 'Session Expired (Low AAL: User Needs MFA Verification)',
} as const;

async function findExpiry(database: Queryable, facts: Facts, config: RefreshConfig): Promise<string | null> {
  const { session, user, state, now } = facts;
  const validity = checkSession(session, config, {
    now,
    highestAal: highestAal(user),
    tokenUpdatedAt: state.updatedAt,
  });
  if (validity !== 'valid') return expiryTexts[validity];
  if (!config.sessions_single_per_user) return null;
  const group = sessionGroup(session, config.sessions_tags);
  const isNewer = (other: Session) =>
    other.id !== session.id &&
    sessionGroup(other, config.sessions_tags) === group &&
    checkSession(other, config, { now, highestAal: highestAal(user), tokenUpdatedAt: null }) === 'valid' &&
    lastRefreshedAt(other) > lastRefreshedAt(session);
  const others = await loadSessionsOf(database, user.id);
  return others.some(isNewer) ? 'Session Expired (Revoked by Newer Login)' : null;
}

async function useToken(database: Queryable, token: string, facts: Facts, context: RefreshContext): Promise<Outcome> {
  const { session, state, now } = facts;
  const { config, tools } = context;
  const isParentOfActive = state.revoked && state.activeToken !== null && state.activeParent === token;
  const reuseMs = config.security_refresh_token_reuse_interval * 1000;
  // Without an active token the family has been ended: no interval revives it.
  const isWithinInterval = state.activeToken !== null && now <= (state.updatedAt ?? 0) + reuseMs;
  if (state.revoked && !isParentOfActive && !isWithinInterval) {
    if (config.refresh_token_rotation_enabled) await revokeFamily(database, session.id, now);
    return refused('refresh_token_already_used');
  }
  const next = isParentOfActive ? null : makeRefreshToken(tools.random);
  const refreshed = await rotate(database, token, facts, { ...context, next });
  invariant(refreshed !== null, 'a refresh token changed under the lock of its session');
  return { kind: 'refreshed', refreshed };
}

/** Writes the use of a token, under the lock on its session. @returns Null where nothing could be written. */
async function rotate(
  database: Queryable,
  token: string,
  { session, user, state, now }: Facts,
  { config, client, tools, next }: RefreshContext & { readonly next: string | null },
): Promise<RefreshedSession | null> {
  const actions: readonly AuditAction[] = next === null ? ['token_refreshed'] : ['token_refreshed', 'token_revoked'];
  const events = actions.map((action) => ({ action, actor: userActor(user) }));
  const ip = toStorableIp(client.ip);
  const done = await database.query(rotateStatement, [
    toAuditRows(events, config, tools),
    token,
    next,
    user.id,
    session.id,
    toTimestamp(now),
    client.userAgent,
    ip,
    state.revoked,
  ]);
  if (done.length === 0) return null;
  const refreshed = { ...session, refreshedAt: now, userAgent: client.userAgent, ip };
  return { user, session: refreshed, refreshToken: next ?? state.activeToken ?? '' };
}

async function revokeFamily(database: Queryable, sessionId: string, now: Time): Promise<void> {
  await database.query(
    `update auth.refresh_tokens set revoked = true, updated_at = $2::timestamptz
    where session_id = $1::uuid and revoked is not true`,
    [sessionId, toTimestamp(now)],
  );
}

function refused(code: AuthErrorCode, message: string | null = null, status?: number): Outcome {
  return { kind: 'refused', error: new AuthError(code, message, status === undefined ? {} : { status }) };
}
