/**
 * A user as clients see one: the members and their order are the original's. Never hash, token or secret.
 */
import { type Time, toOptionalRfc3339, toRfc3339 } from './times.ts';
import type { Factor, Identity, User } from './user.ts';

/** JSON-ready; undefined members are left out by `JSON.stringify`. */
export type UserJson = Readonly<Record<string, unknown>>;

/** The user for an answer. */
export function toUserJson(user: User): UserJson {
  return {
    id: user.id,
    aud: user.audience ?? '',
    role: user.role ?? '',
    email: user.email ?? '',
    email_confirmed_at: toOptionalRfc3339(user.emailConfirmedAt),
    invited_at: toOptionalRfc3339(user.invitedAt),
    phone: user.phone ?? '',
    phone_confirmed_at: toOptionalRfc3339(user.phoneConfirmedAt),
    confirmation_sent_at: toOptionalRfc3339(user.confirmationSentAt),
    confirmed_at: toOptionalRfc3339(user.confirmedAt),
    recovery_sent_at: toOptionalRfc3339(user.recoverySentAt),
    new_email: user.emailChange || undefined,
    email_change_sent_at: toOptionalRfc3339(user.emailChangeSentAt),
    new_phone: user.phoneChange || undefined,
    phone_change_sent_at: toOptionalRfc3339(user.phoneChangeSentAt),
    reauthentication_sent_at: toOptionalRfc3339(user.reauthenticationSentAt),
    last_sign_in_at: toOptionalRfc3339(user.lastSignInAt),
    app_metadata: user.appMetadata,
    user_metadata: user.userMetadata,
    factors: user.factors.length === 0 ? undefined : user.factors.map(toFactorJson),
    identities: user.identities.map(toIdentityJson),
    created_at: toKnownTime(user.createdAt),
    updated_at: toKnownTime(user.updatedAt),
    banned_until: toOptionalRfc3339(user.bannedUntil),
    deleted_at: toOptionalRfc3339(user.deletedAt),
    is_anonymous: user.isAnonymous,
  };
}

/** An identity for an answer. */
export function toIdentityJson(identity: Identity): UserJson {
  return {
    identity_id: identity.id,
    id: identity.providerId,
    user_id: identity.userId,
    identity_data: identity.identityData,
    provider: identity.provider,
    last_sign_in_at: toOptionalRfc3339(identity.lastSignInAt) ?? null,
    created_at: toKnownTime(identity.createdAt),
    updated_at: toKnownTime(identity.updatedAt),
    email: identity.email || undefined,
  };
}

/** A second factor for an answer. */
export function toFactorJson(factor: Factor): UserJson {
  return {
    id: factor.id,
    created_at: toKnownTime(factor.createdAt),
    updated_at: toKnownTime(factor.updatedAt),
    status: factor.status,
    friendly_name: factor.friendlyName || undefined,
    factor_type: factor.factorType,
    phone: factor.phone,
    last_challenged_at: toOptionalRfc3339(factor.lastChallengedAt) ?? null,
  };
}

/** These members are always there; rows made by hand may lack the time. */
function toKnownTime(time: Time | null): string {
  return time === null ? '0001-01-01T00:00:00Z' : toRfc3339(time);
}
