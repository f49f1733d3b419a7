/**
 * Resolves the `Authorization` header of an auth request to the user and session, or to the admin.
 *
 * The injected verifier checks signature and `exp`. This file checks the claims against the database, so a token of an
 * ended session is refused although it has not expired.
 */
import type { Queryable } from '../../postgres/system/queryable.ts';
import { readBearerToken } from '../../shared/bearer-token.ts';
import type { Time } from '../../shared/times.ts';
import { isUuid, nilUuid } from '../../shared/uuid.ts';
import { AuthError } from '../model/auth-error.ts';
import { checkSession, type Session, type SessionLimits } from '../model/session.ts';
import { highestAal, isBanned, type User } from '../model/user.ts';
import type { Admin } from '../store/audit.ts';
import { loadSession } from '../store/sessions.ts';
import { loadUser } from '../store/users.ts';

/** Claims of a token whose signature and times are verified. */
type Claims = Readonly<Record<string, unknown>>;

/** Verifies signature and `exp`. Rejects with an error whose message is the reason, fit for the client. */
export type VerifyClaims = (token: string) => Promise<Claims>;

interface BearerContext {
  readonly verify: VerifyClaims;
  readonly database: Queryable;
  readonly now: Time;
}

/** A user who asks. */
export interface UserBearer {
  readonly claims: Claims;
  readonly user: User;
  /** Null if the token names no session. */
  readonly session: Session | null;
}

/** The purpose of the request: an operator who acts as the user may only read. */
export type BearerUse = 'read' | 'change';

/** @throws AuthError `no_authorization`, `bad_jwt`, `user_not_found`, `session_not_found`, `user_banned`. */
export async function authenticateUser(
  authorization: string | undefined,
  context: BearerContext,
  use: BearerUse,
): Promise<UserBearer> {
  const claims = await verifyBearer(authorization, context.verify);
  if (use === 'change') assertOwn(claims);
  const { sub } = claims;
  if (typeof sub !== 'string' || sub === '') throw new AuthError('bad_jwt', 'invalid claim: missing sub claim');
  if (!isUuid(sub)) throw new AuthError('bad_jwt', 'invalid claim: sub claim must be a UUID', { status: 400 });
  const user = await requireUser(context.database, sub);
  const session = await findSession(claims, context.database);
  if (session !== null && session.userId !== user.id) throw new AuthError('session_not_found');
  if (isBanned(user, context.now)) throw new AuthError('user_banned');
  return { claims, user, session };
}

/**
 * @param adminRoles Roles that a token of an admin may have.
 * @throws AuthError `no_authorization`, `bad_jwt`, `session_not_found`, `session_expired` (403), `user_banned`, `not_admin`.
 */
export async function authenticateAdmin(
  authorization: string | undefined,
  context: BearerContext,
  limits: SessionLimits,
  adminRoles: readonly string[],
): Promise<Admin> {
  const claims = await verifyBearer(authorization, context.verify);
  assertOwn(claims);
  const session = await findSession(claims, context.database);
  if (session !== null) {
    const user = await requireUser(context.database, session.userId);
    const facts = { now: context.now, highestAal: highestAal(user), tokenUpdatedAt: null };
    if (checkSession(session, limits, facts) !== 'valid') {
      throw new AuthError('session_expired', 'Session is no longer valid', { status: 403 });
    }
    if (isBanned(user, context.now)) throw new AuthError('user_banned');
  }
  const { role } = claims;
  if (typeof role !== 'string' || !adminRoles.includes(role)) throw new AuthError('not_admin');
  return { role };
}

async function requireUser(database: Queryable, id: string): Promise<User> {
  const user = await loadUser(database, id);
  if (user !== null) return user;
  throw new AuthError('user_not_found', 'User from sub claim in JWT does not exist', { status: 403 });
}

/** Refuses a token of an operator who acts as its user (RFC 8693). @throws AuthError `no_authorization` (403) */
function assertOwn({ act }: Claims): void {
  if (act === undefined) return;
  const message = 'A token with the claim "act" is for reading what the user sees, not for changing the account';
  throw new AuthError('no_authorization', message, { status: 403 });
}

/** Refuses anonymous users. @throws AuthError `no_authorization` (403) */
export function assertNotAnonymous(claims: Claims): void {
  if (claims.is_anonymous !== true) return;
  const message = 'Anonymous user not allowed to perform these actions';
  throw new AuthError('no_authorization', message, { status: 403 });
}

interface AudienceFacts {
  /** Header `X-JWT-AUD`. */
  readonly header: string | undefined;
  /** Of the verified token; null on endpoints that check no token. */
  readonly claims: Claims | null;
  readonly adminRoles: readonly string[];
  /** The configured audience, usually `authenticated`. */
  readonly usual: string;
}

/** The audience in which users of a request are looked up. */
export function requestAudience({ header, claims, adminRoles, usual }: AudienceFacts): string {
  if (header) return header;
  const isAdmin = typeof claims?.role === 'string' && adminRoles.includes(claims.role);
  return typeof claims?.aud === 'string' && claims.aud !== '' && !isAdmin ? claims.aud : usual;
}

async function verifyBearer(authorization: string | undefined, verify: VerifyClaims): Promise<Claims> {
  const token = readBearerToken(authorization);
  // Supabase Auth takes exactly one blank before the token and none in it.
  if (!token || authorization?.split(/\s/).length !== 2) throw new AuthError('no_authorization');
  try {
    return await verify(token);
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown reason';
    const message = `invalid JWT: unable to parse or verify signature, ${reason}`;
    throw new AuthError('bad_jwt', message, { cause: error });
  }
}

async function findSession(claims: Claims, database: Queryable): Promise<Session | null> {
  const { session_id: id } = claims;
  if (id === undefined || id === null || id === '' || id === nilUuid) return null;
  if (typeof id !== 'string' || !isUuid(id)) {
    throw new AuthError('bad_jwt', 'invalid claim: session_id claim must be a UUID');
  }
  const session = await loadSession(database, id);
  if (session === null) throw new AuthError('session_not_found');
  return session;
}
