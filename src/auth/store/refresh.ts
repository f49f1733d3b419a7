/**
 * Exchanges a refresh token for the next one, and detects reuse.
 *
 * Refreshes of a session are serialized by the lock on its row. The last used token may be exchanged for the active one
 * at any time, because its answer may have been lost. Reuse of an older token, outside a short interval, counts as
 * theft and revokes all refresh tokens of the session. That is committed, although the answer is a refusal.
 */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import { DatabaseError } from '../../postgres/database-error.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import { loadSqlFile } from '../../postgres/system/sql-file.ts';
import { invariant } from '../../shared/invariant.ts';
import { type Time, toTimestamp } from '../../shared/times.ts';
import { AuthError, type AuthErrorCode } from '../model/auth-error.ts';
import { checkSession, lastRefreshedAt, type Session, sessionGroup } from '../model/session.ts';
import { highestAal, isBanned, type User } from '../model/user.ts';
import { type AuditAction, type AuditTransaction, toAuditRows, userActor } from './audit.ts';
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

interface RefreshTransaction extends AuditTransaction {
  readonly config: AuthConfig;
  readonly client: ClientOrigin;
}

interface TokenState {
  readonly tokenId: string;
  /** Null if the user was deleted. */
  readonly user: User | null;
  readonly session: Session | null;
  readonly revoked: boolean;
  readonly updatedAt: Time | null;
  readonly activeToken: string | null;
  readonly activeParent: string | null;
}

/** A session with its current user. A refusal is a result as well, so that its changes are committed. */
export type RefreshOutcome = (IssuedSession & { readonly user: User }) | AuthError;

/**
 * Refreshes a session.
 *
 * @returns Or `validation_failed`, `refresh_token_not_found`, `user_banned` (400), `session_not_found` (400),
 *   `session_expired`, `refresh_token_already_used`.
 * @throws AuthError `conflict` if another refresh of the session holds the lock for too long.
 */
export async function refreshSession(tx: RefreshTransaction, token: string): Promise<RefreshOutcome> {
  // Tokens in Supabase Auth's second format start a session that we cannot continue.
  if (!/^[a-z0-9]{12}$/.test(token)) return new AuthError('validation_failed', 'Refresh token is not valid');
  const limiting = tx.query(`select pg_catalog.set_config('lock_timeout', '5s', true)`, []);
  const locking = tx.query(
    `select s.id from auth.sessions s
    where s.id = (select t.session_id from auth.refresh_tokens t where t.token = $1) for update`,
    [token],
  );
  // A separate statement, so that it sees changes made by another refresh before we got the lock. One round trip for
  // all.
  const [, , state] = await Promise.all([limiting, locking, readState(tx, token)]).catch((error: unknown) => {
    const isLocked = error instanceof DatabaseError && error.sqlstate === '55P03';
    throw isLocked ? new AuthError('conflict', null, { cause: error }) : error;
  });
  if (!state?.user) return new AuthError('refresh_token_not_found');
  const now = tx.clock.now();
  if (isBanned(state.user, now)) return refused('user_banned', 'User Banned');
  if (state.session === null) {
    await tx.query('delete from auth.refresh_tokens t where t.id = $1', [state.tokenId]);
    return refused('session_not_found', 'No Valid Session Found');
  }
  const facts = { session: state.session, user: state.user, state, now };
  const expired = await findExpiry(tx, facts);
  return expired === null ? useToken(tx, token, facts) : refused('session_expired', expired);
}

function refused(code: AuthErrorCode, reason: string): AuthError {
  return new AuthError(code, `Invalid Refresh Token: ${reason}`, { status: 400 });
}

async function readState(tx: Queryable, token: string): Promise<TokenState | null> {
  const [row] = await tx.query(stateStatement, [token]);
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

async function findExpiry(tx: RefreshTransaction, facts: Facts): Promise<string | null> {
  const { config } = tx;
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
  const others = await loadSessionsOf(tx, user.id);
  return others.some(isNewer) ? 'Session Expired (Revoked by Newer Login)' : null;
}

async function useToken(tx: RefreshTransaction, token: string, facts: Facts): Promise<RefreshOutcome> {
  const { session, user, state, now } = facts;
  const { config, client } = tx;
  const isParentOfActive = state.revoked && state.activeToken !== null && state.activeParent === token;
  const reuseMs = config.security_refresh_token_reuse_interval * 1000;
  // Without an active token, all tokens of the session were revoked: the reuse interval does not apply.
  const isWithinInterval = state.activeToken !== null && now <= (state.updatedAt ?? 0) + reuseMs;
  if (state.revoked && !isParentOfActive && !isWithinInterval) {
    if (config.refresh_token_rotation_enabled) await revokeTokens(tx, session.id);
    return new AuthError('refresh_token_already_used');
  }
  const next = isParentOfActive ? null : makeRefreshToken();
  const actions: readonly AuditAction[] = next === null ? ['token_refreshed'] : ['token_refreshed', 'token_revoked'];
  const events = toAuditRows(tx, actions.map((action) => ({ action, actor: userActor(user) }))); // biome-ignore format: one list
  const ip = toStorableIp(client.ip);
  const written = await tx.query(rotateStatement, [
    events,
    token,
    next,
    user.id,
    session.id,
    toTimestamp(now),
    client.userAgent,
    ip,
    state.revoked,
  ]);
  invariant(written.length > 0, 'a refresh token changed under the lock of its session');
  const refreshed = { ...session, refreshedAt: now, userAgent: client.userAgent, ip };
  return { user, session: refreshed, refreshToken: next ?? state.activeToken ?? '' };
}

async function revokeTokens(tx: RefreshTransaction, sessionId: string): Promise<void> {
  await tx.query(
    `update auth.refresh_tokens set revoked = true, updated_at = $2::timestamptz
    where session_id = $1::uuid and revoked is not true`,
    [sessionId, toTimestamp(tx.clock.now())],
  );
}
