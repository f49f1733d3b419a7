/**
 * A user of the auth service: the row of `auth.users` with identities and second factors, and checks on it.
 *
 * Plain frozen data that includes hash and tokens: user-json.ts makes what clients see.
 */
import type { Time } from '../../shared/times.ts';
import type { Metadata } from './metadata.ts';

/** A way to sign in: email, phone or a provider. */
export interface Identity {
  readonly id: string;
  /** The provider's id of the user; for email and phone, the user's id. */
  readonly providerId: string;
  readonly userId: string;
  readonly identityData: Metadata;
  readonly provider: string;
  readonly email: string | null;
  readonly lastSignInAt: Time | null;
  readonly createdAt: Time | null;
  readonly updatedAt: Time | null;
}

/** A second factor, without its secret. */
export interface Factor {
  readonly id: string;
  /** Empty for none. */
  readonly friendlyName: string;
  readonly factorType: 'totp' | 'webauthn' | 'phone';
  readonly status: 'unverified' | 'verified';
  /** Empty for none. */
  readonly phone: string;
  readonly createdAt: Time | null;
  readonly updatedAt: Time | null;
  readonly lastChallengedAt: Time | null;
}

/** One user. Empty token columns and pending addresses mean none. */
export interface User {
  readonly id: string;
  readonly audience: string | null;
  readonly role: string | null;
  /** In lower case if we wrote it. */
  readonly email: string | null;
  /** Null: no password. Text that begins with `{` is encrypted and cannot be read. */
  readonly passwordHash: string | null;
  readonly emailConfirmedAt: Time | null;
  readonly invitedAt: Time | null;
  readonly confirmationToken: string;
  readonly confirmationSentAt: Time | null;
  readonly recoveryToken: string;
  readonly recoverySentAt: Time | null;
  readonly emailChangeTokenNew: string;
  readonly emailChangeTokenCurrent: string;
  readonly emailChange: string;
  readonly emailChangeSentAt: Time | null;
  /** 1: one of two addresses has been confirmed. */
  readonly emailChangeConfirmStatus: number;
  readonly lastSignInAt: Time | null;
  readonly appMetadata: Metadata;
  readonly userMetadata: Metadata;
  readonly createdAt: Time | null;
  readonly updatedAt: Time | null;
  readonly phone: string | null;
  readonly phoneConfirmedAt: Time | null;
  readonly phoneChange: string;
  readonly phoneChangeToken: string;
  readonly phoneChangeSentAt: Time | null;
  readonly confirmedAt: Time | null;
  readonly bannedUntil: Time | null;
  readonly reauthenticationToken: string;
  readonly reauthenticationSentAt: Time | null;
  readonly isSsoUser: boolean;
  readonly deletedAt: Time | null;
  readonly isAnonymous: boolean;
  /** Oldest first. */
  readonly identities: readonly Identity[];
  /** Oldest first. */
  readonly factors: readonly Factor[];
}

/** What a sign-up enters. `passwordHash`: null for none. */
export type Entered = Pick<User, 'passwordHash' | 'userMetadata'>;

/** Authenticator assurance level of a session. */
export type Aal = 'aal1' | 'aal2' | 'aal3';

/** Whether the user is banned at the moment. */
export function isBanned(user: User, now: Time): boolean {
  return user.bannedUntil !== null && user.bannedUntil > now;
}

function hasVerifiedFactor(user: User): boolean {
  return user.factors.some(({ status }) => status === 'verified');
}

/** Whether a session lacks the user's second factor; null: a token without a session. */
export function lacksSecondFactor(user: User, session: { readonly aal: Aal } | null): boolean {
  return hasVerifiedFactor(user) && (session?.aal ?? 'aal1') === 'aal1';
}

/** The highest level that a session of the user can reach. */
export function highestAal(user: User): Aal {
  return hasVerifiedFactor(user) ? 'aal2' : 'aal1';
}
