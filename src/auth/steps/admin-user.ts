/** Loads the user named by the id in the path, and reads what admins may set on users, and whom they may not touch. */
import { parseGoDuration } from '../../config/auth/go-duration.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import { readRoleClaim } from '../../shared/role-claim.ts';
import { flag, text } from '../../shared/schema.ts';
import type { Time } from '../../shared/times.ts';
import { isUuid } from '../../shared/uuid.ts';
import { parseEmail, parsePhone } from '../model/addresses.ts';
import { AuthError } from '../model/auth-error.ts';
import type { Metadata } from '../model/metadata.ts';
import type { User } from '../model/user.ts';
import { readHash, UnreadableHashError } from '../secrets/password-hash.ts';
import type { Admin } from '../store/audit.ts';
import { loadUser, lockUser } from '../store/users.ts';
import type { AuthContext } from './auth-context.ts';
import { bodySchema, metadata, readFields } from './request-body.ts';

/** Loads the user. @param lock Locks the row. @throws AuthError `validation_failed` (404), `user_not_found` */
export async function requireUser(tx: Queryable, id: string, lock: 'lock' | 'read' = 'read'): Promise<User> {
  if (!isUuid(id)) throw new AuthError('validation_failed', 'user_id must be an UUID', { status: 404 });
  const user = await (lock === 'lock' ? lockUser(tx, id) : loadUser(tx, id));
  if (user === null) throw new AuthError('user_not_found');
  return user;
}

/**
 * Keeps holders of an access token from users who are admins: an access token ends, the session of such a user would not.
 *
 * @throws AuthError `not_admin`
 */
export function assertNoAdmin({ services }: AuthContext, admin: Admin, { role, appMetadata }: User): void {
  if (!('tokenId' in admin)) return;
  const claims = { role, app_metadata: appMetadata };
  const roles = ['role', services.roleClaim].map((name) => String(readRoleClaim(claims, name)));
  if (roles.some((name) => services.adminRoles.includes(name)))
    throw new AuthError(
      'not_admin',
      'An access token makes no user an admin, and signs in as none. Use the service key.',
    );
}

/** The values that an admin sets; null for absent ones. */
export interface AdminUserFacts {
  readonly id: string | null;
  readonly audience: string | null;
  readonly role: string | null;
  readonly email: string | null;
  /** Digits only. */
  readonly phone: string | null;
  readonly password: string | null;
  readonly passwordHash: string | null;
  readonly isEmailConfirmed: boolean;
  readonly isPhoneConfirmed: boolean;
  readonly userMetadata: Metadata | null;
  readonly appMetadata: Metadata | null;
  /** Milliseconds; 0 ends a ban. */
  readonly banMs: number | null;
}

/** Fields of the body. */
export const adminUserBody = bodySchema({
  id: text, aud: text, role: text, email: text, phone: text, password: text, password_hash: text,
  email_confirm: flag, phone_confirm: flag, user_metadata: metadata, app_metadata: metadata, ban_duration: text,
}); // biome-ignore format: a list of fields

/** Reads and checks the body of a request about a user. @throws AuthError `bad_json`, `validation_failed` */
export function readAdminUser(body: unknown): AdminUserFacts {
  const fields = readFields(body, adminUserBody);
  return {
    id: fields.id || null,
    audience: fields.aud || null,
    role: fields.role || null,
    email: fields.email ? parseEmail(fields.email) : null,
    phone: fields.phone ? parsePhone(fields.phone) : null,
    password: fields.password,
    passwordHash: fields.password_hash || null,
    isEmailConfirmed: fields.email_confirm ?? false,
    isPhoneConfirmed: fields.phone_confirm ?? false,
    userMetadata: fields.user_metadata,
    appMetadata: fields.app_metadata,
    banMs: fields.ban_duration ? parseBan(fields.ban_duration) : null,
  };
}

/** Refuses a hash that no sign-in could verify. @throws AuthError `validation_failed` */
export function assertKnownHash(passwordHash: string | null): void {
  try {
    if (passwordHash !== null) readHash(passwordHash);
  } catch (error) {
    if (!(error instanceof UnreadableHashError)) throw error;
    throw new AuthError('validation_failed', error.message, { cause: error });
  }
}

/** When the ban ends; undefined if the request does not set it. */
export function bannedUntil({ banMs }: AdminUserFacts, now: Time): { readonly bannedUntil?: Time | null } {
  if (banMs === null) return {};
  return { bannedUntil: banMs === 0 ? null : now + banMs };
}

function parseBan(text: string): number {
  if (text === 'none') return 0;
  const ms = parseGoDuration(text);
  if (ms !== null) return ms;
  const shown = text.slice(0, 100);
  throw new AuthError('validation_failed', `invalid format for ban duration: time: invalid duration "${shown}"`);
}
