/** A session of a user as plain data, and the checks of its validity. */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import type { Time } from '../../shared/times.ts';
import type { Aal, Factor } from './user.ts';

/** An authentication method of a session; newest first in a session. */
interface AmrEntry {
  readonly method: string;
  readonly at: Time;
}

/** A row of `auth.sessions` with its authentication methods. */
export interface Session {
  readonly id: string;
  readonly userId: string;
  readonly createdAt: Time | null;
  readonly refreshedAt: Time | null;
  readonly notAfter: Time | null;
  readonly factorId: string | null;
  readonly aal: Aal;
  readonly userAgent: string | null;
  readonly ip: string | null;
  readonly tag: string | null;
  readonly amr: readonly AmrEntry[];
}

/** The fields that limit sessions. */
export type SessionLimits = Pick<
  AuthConfig,
  'sessions_timebox' | 'sessions_inactivity_timeout' | 'sessions_allow_low_aal'
>;

/** Why a session is no longer valid, in the order of the checks. */
type SessionValidity = 'valid' | 'ended' | 'inactive' | 'low_aal';

const hourMs = 3_600_000;

interface ValidityFacts {
  readonly now: Time;
  /** The highest level that the user's factors allow. */
  readonly highestAal: Aal;
  /** Last change of the refresh token in use; null for none. */
  readonly tokenUpdatedAt: Time | null;
}

/** Whether the session is still valid. A limit of 0 means no limit. */
export function checkSession(session: Session, limits: SessionLimits, facts: ValidityFacts): SessionValidity {
  const { now, highestAal, tokenUpdatedAt } = facts;
  const createdAt = session.createdAt ?? now;
  const isPast = (since: Time, hours: number) => hours > 0 && now > since + hours * hourMs;
  if (session.notAfter !== null && now > session.notAfter) return 'ended';
  if (isPast(createdAt, limits.sessions_timebox)) return 'ended';
  if (isPast(lastRefreshedAt(session, tokenUpdatedAt), limits.sessions_inactivity_timeout)) return 'inactive';
  if (session.aal < highestAal && isPast(createdAt, limits.sessions_allow_low_aal)) return 'low_aal';
  return 'valid';
}

/** The last known use of the session. */
export function lastRefreshedAt(session: Session, tokenUpdatedAt: Time | null = null): Time {
  return Math.max(session.refreshedAt ?? 0, tokenUpdatedAt ?? 0, session.createdAt ?? 0);
}

/** The group of a session for the limit on sessions: its tag if listed in `tags`, otherwise the first of them. */
export function sessionGroup(session: Session, tags: string | null): string {
  const known = (tags ?? '').split(',').map((tag) => tag.trim());
  return known.find((tag) => tag !== '' && tag === session.tag) ?? known.find((tag) => tag !== '') ?? '';
}

/** The authentication method of each type of second factor. */
export const factorMethods = { totp: 'totp', phone: 'mfa/phone', webauthn: 'mfa/webauthn' } as const satisfies Record<
  Factor['factorType'],
  string
>;

/** The methods of all second factors. */
export const secondFactorMethods: readonly string[] = Object.values(factorMethods);

/** The assurance level of a list of authentication methods. */
export function aalOf(amr: readonly AmrEntry[]): Aal {
  return amr.some(({ method }) => secondFactorMethods.includes(method)) ? 'aal2' : 'aal1';
}
