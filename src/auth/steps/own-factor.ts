/** Loads a second factor by the id in the path, and decides which users may manage factors. */
import { isUuid } from '../../shared/uuid.ts';
import { AuthError } from '../model/auth-error.ts';
import type { Session } from '../model/session.ts';
import { type Factor, lacksSecondFactor, type User } from '../model/user.ts';
import { assertNotAnonymous, type UserBearer } from '../rules/bearer.ts';

/** A user with an account and a session, who manages their own factors. */
export interface FactorBearer {
  readonly user: User;
  readonly session: Session;
}

/** @throws AuthError `no_authorization` (403) for anonymous users, `session_not_found` for tokens without a session. */
export function assertFactorBearer({ claims, user, session }: UserBearer): FactorBearer {
  assertNotAnonymous(claims);
  if (session === null) throw new AuthError('session_not_found', 'Second factors need a token with a session');
  return { user, session };
}

/** The user's factor with that id. @throws AuthError `validation_failed` (404), `mfa_factor_not_found` */
export function requireFactor(user: User, id: string): Factor {
  if (!isUuid(id)) throw new AuthError('validation_failed', 'factor_id must be an UUID', { status: 404 });
  const factor = user.factors.find((own) => own.id === id.toLowerCase());
  if (factor === undefined) throw new AuthError('mfa_factor_not_found');
  return factor;
}

/**
 * Refuses sessions without the second factor that the user already has.
 *
 * @param own The session, read under the user's lock: the factor behind its level may have been removed meanwhile.
 * @throws AuthError `insufficient_aal` (403)
 */
export function assertSecondFactorUsed(user: User, own: Session): void {
  if (!lacksSecondFactor(user, own)) return;
  throw new AuthError('insufficient_aal', 'AAL2 required to enroll a new factor', { status: 403 });
}

/** Longest name in characters, so that it fits PostgreSQL's limit on index entries. */
const maxNameLength = 255;

/**
 * Refuses a name that another factor of the user has, also the empty name: apps list factors by name.
 *
 * @throws AuthError `mfa_factor_name_conflict`, `validation_failed` if it is too long.
 */
export function assertNameFree(factors: readonly Factor[], friendlyName: string): void {
  if (friendlyName.length > maxNameLength) {
    throw new AuthError('validation_failed', `friendly_name can be at most ${maxNameLength} characters long`);
  }
  if (!factors.some((factor) => factor.friendlyName === friendlyName)) return;
  const message = `A factor with the friendly name "${friendlyName}" for this user already exists`;
  throw new AuthError('mfa_factor_name_conflict', message);
}
