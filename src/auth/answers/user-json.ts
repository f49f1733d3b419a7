/**
 * The JSON of a user for clients: members and order are Supabase Auth's. Never contains hashes, tokens or secrets.
 */

import type { Factor, Identity, User } from '../model/user.ts';
import {
  type AnswerJson, type AnswerMembers, flag, knownTime, member, nestedList, object, optional, optionalTime, serializerOf, text,
  timeOrNull, uuid,
} from './serializer.ts'; // biome-ignore format: a list of names

/** JSON-ready; undefined members are left out by `JSON.stringify`. */
export type UserJson = AnswerJson;

/** An identity in an answer. */
const identitySerializer = serializerOf<Identity>('AuthIdentity', {
  identity_id: uuid(({ id }) => id),
  id: text(({ providerId }) => providerId),
  user_id: uuid(({ userId }) => userId),
  identity_data: object(({ identityData }) => identityData),
  provider: text(({ provider }) => provider),
  last_sign_in_at: timeOrNull(({ lastSignInAt }) => lastSignInAt),
  created_at: knownTime(({ createdAt }) => createdAt),
  updated_at: knownTime(({ updatedAt }) => updatedAt),
  email: optional(text(({ email }) => email || undefined)),
});

/** A second factor in an answer. */
export const factorSerializer = serializerOf<Factor>('AuthFactor', {
  id: uuid(({ id }) => id),
  created_at: knownTime(({ createdAt }) => createdAt),
  updated_at: knownTime(({ updatedAt }) => updatedAt),
  status: member({ enum: ['unverified', 'verified'] }, ({ status }) => status),
  friendly_name: optional(text(({ friendlyName }) => friendlyName || undefined)),
  factor_type: member({ enum: ['totp', 'webauthn', 'phone'] }, ({ factorType }) => factorType),
  phone: text(({ phone }) => phone),
  last_challenged_at: timeOrNull(({ lastChallengedAt }) => lastChallengedAt),
});

const factors = nestedList<User, Factor>(factorSerializer, (user) => user.factors);

/** The members of a user. */
export const userMembers: AnswerMembers<User> = {
  id: uuid(({ id }) => id),
  aud: text(({ audience }) => audience ?? ''),
  role: text(({ role }) => role ?? ''),
  email: text(({ email }) => email ?? ''),
  email_confirmed_at: optionalTime(({ emailConfirmedAt }) => emailConfirmedAt),
  invited_at: optionalTime(({ invitedAt }) => invitedAt),
  phone: text(({ phone }) => phone ?? ''),
  phone_confirmed_at: optionalTime(({ phoneConfirmedAt }) => phoneConfirmedAt),
  confirmation_sent_at: optionalTime(({ confirmationSentAt }) => confirmationSentAt),
  confirmed_at: optionalTime(({ confirmedAt }) => confirmedAt),
  recovery_sent_at: optionalTime(({ recoverySentAt }) => recoverySentAt),
  new_email: optional(text(({ emailChange }) => emailChange || undefined)),
  email_change_sent_at: optionalTime(({ emailChangeSentAt }) => emailChangeSentAt),
  new_phone: optional(text(({ phoneChange }) => phoneChange || undefined)),
  phone_change_sent_at: optionalTime(({ phoneChangeSentAt }) => phoneChangeSentAt),
  reauthentication_sent_at: optionalTime(({ reauthenticationSentAt }) => reauthenticationSentAt),
  last_sign_in_at: optionalTime(({ lastSignInAt }) => lastSignInAt),
  app_metadata: object(({ appMetadata }) => appMetadata),
  user_metadata: object(({ userMetadata }) => userMetadata),
  factors: optional({ ...factors, read: (user) => (user.factors.length === 0 ? undefined : factors.read(user)) }),
  identities: nestedList(identitySerializer, ({ identities }) => identities),
  created_at: knownTime(({ createdAt }) => createdAt),
  updated_at: knownTime(({ updatedAt }) => updatedAt),
  banned_until: optionalTime(({ bannedUntil }) => bannedUntil),
  deleted_at: optionalTime(({ deletedAt }) => deletedAt),
  is_anonymous: flag(({ isAnonymous }) => isAnonymous),
};

/** A user in an answer. */
export const userSerializer = serializerOf<User>('AuthUser', userMembers);

/** The JSON of a user. */
export function toUserJson(user: User): UserJson {
  return userSerializer.toJson(user);
}
