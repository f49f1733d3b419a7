/** The JSON of a user for clients: fields and order are Supabase Auth's. Never contains hashes, tokens or secrets. */
import {
  type AnswerFields,
  type AnswerJson,
  anything,
  flag,
  from,
  listOf,
  optional,
  record,
  serializerOf,
  text,
  uuid,
} from '../../shared/schema.ts';
import type { Factor, Identity, User } from '../model/user.ts';
import { knownTime, optionalTime, timeOrNull } from './answer-times.ts';

/** JSON-ready; undefined fields are left out by `JSON.stringify`. */
export type UserJson = AnswerJson;

const identitySerializer = serializerOf<Identity>('AuthIdentity', {
  identity_id: from(uuid, ({ id }) => id),
  id: from(text, ({ providerId }) => providerId),
  user_id: from(uuid, ({ userId }) => userId),
  identity_data: from(record(), ({ identityData }) => identityData),
  provider: from(text, ({ provider }) => provider),
  last_sign_in_at: from(timeOrNull, ({ lastSignInAt }) => lastSignInAt),
  created_at: from(knownTime, ({ createdAt }) => createdAt),
  updated_at: from(knownTime, ({ updatedAt }) => updatedAt),
  email: from(optional(text), ({ email }) => email || undefined),
});

/** A second factor in an answer. */
export const factorSerializer = serializerOf<Factor>('AuthFactor', {
  id: from(uuid, ({ id }) => id),
  created_at: from(knownTime, ({ createdAt }) => createdAt),
  updated_at: from(knownTime, ({ updatedAt }) => updatedAt),
  status: from(anything({ enum: ['unverified', 'verified'] }), ({ status }) => status),
  friendly_name: from(optional(text), ({ friendlyName }) => friendlyName || undefined),
  factor_type: from(anything({ enum: ['totp', 'webauthn', 'phone'] }), ({ factorType }) => factorType),
  phone: from(text, ({ phone }) => phone),
  last_challenged_at: from(timeOrNull, ({ lastChallengedAt }) => lastChallengedAt),
});

/** The fields of a user. */
export const userFields: AnswerFields<User> = {
  id: from(uuid, ({ id }) => id),
  aud: from(text, ({ audience }) => audience ?? ''),
  role: from(text, ({ role }) => role ?? ''),
  email: from(text, ({ email }) => email ?? ''),
  email_confirmed_at: from(optionalTime, ({ emailConfirmedAt }) => emailConfirmedAt),
  invited_at: from(optionalTime, ({ invitedAt }) => invitedAt),
  phone: from(text, ({ phone }) => phone ?? ''),
  phone_confirmed_at: from(optionalTime, ({ phoneConfirmedAt }) => phoneConfirmedAt),
  confirmation_sent_at: from(optionalTime, ({ confirmationSentAt }) => confirmationSentAt),
  confirmed_at: from(optionalTime, ({ confirmedAt }) => confirmedAt),
  recovery_sent_at: from(optionalTime, ({ recoverySentAt }) => recoverySentAt),
  new_email: from(optional(text), ({ emailChange }) => emailChange || undefined),
  email_change_sent_at: from(optionalTime, ({ emailChangeSentAt }) => emailChangeSentAt),
  new_phone: from(optional(text), ({ phoneChange }) => phoneChange || undefined),
  phone_change_sent_at: from(optionalTime, ({ phoneChangeSentAt }) => phoneChangeSentAt),
  reauthentication_sent_at: from(optionalTime, ({ reauthenticationSentAt }) => reauthenticationSentAt),
  last_sign_in_at: from(optionalTime, ({ lastSignInAt }) => lastSignInAt),
  app_metadata: from(record(), ({ appMetadata }) => appMetadata),
  user_metadata: from(record(), ({ userMetadata }) => userMetadata),
  factors: from(optional(listOf(factorSerializer)), (user) => (user.factors.length === 0 ? undefined : user.factors)),
  identities: from(listOf(identitySerializer), ({ identities }) => identities),
  created_at: from(knownTime, ({ createdAt }) => createdAt),
  updated_at: from(knownTime, ({ updatedAt }) => updatedAt),
  banned_until: from(optionalTime, ({ bannedUntil }) => bannedUntil),
  deleted_at: from(optionalTime, ({ deletedAt }) => deletedAt),
  is_anonymous: from(flag, ({ isAnonymous }) => isAnonymous),
};

/** A user in an answer. */
export const userSerializer = serializerOf<User>('AuthUser', userFields);

/** The JSON of a user. */
export function toUserJson(user: User): UserJson {
  return userSerializer.print(user);
}
