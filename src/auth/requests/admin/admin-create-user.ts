/** Creates a user for an admin and sends no email. */
import { randomUUID } from 'node:crypto';
import { isUuid, nilUuid } from '../../../shared/uuid.ts';
import { confirmEmail, confirmPhone } from '../../accounts/confirm-user.ts';
import { setEmailIdentity } from '../../accounts/email-change.ts';
import { setPhoneIdentity } from '../../accounts/phone-change.ts';
import { toUserJson, type UserJson } from '../../answers/user-json.ts';
import { AuthError } from '../../model/auth-error.ts';
import { mergeMetadata } from '../../model/metadata.ts';
import { makePassword } from '../../secrets/password-policy.ts';
import {
  type AdminUserFacts,
  assertKnownHash,
  assertNoAdmin,
  bannedUntil,
  readAdminUser,
} from '../../steps/admin-user.ts';
import { type AuthContext, nowOf, type Transaction, transact } from '../../steps/auth-context.ts';
import { type Admin, auditAdmin } from '../../store/audit.ts';
import { noteAdmin } from '../../store/unverified-input.ts';
import { findUserByPhone, insertUser, isEmailTaken, reloadUser, updateUser } from '../../store/users.ts';

const passwordLength = 64;

/** `POST /admin/users`. */
export async function createUser(context: AuthContext, admin: Admin, body: unknown): Promise<UserJson> {
  const facts = readAdminUser(body);
  const id = checkFacts(facts);
  const { services, config } = context;
  const password = facts.password || makePassword(passwordLength, config.password_required_characters);
  const passwordHash = facts.passwordHash ?? (await services.hasher.hash(password, context.deadline));
  return transact(context, [], async (tx) => {
    await insert(tx, facts, id, passwordHash);
    const user = await reloadUser(tx, id);
    assertNoAdmin(tx, admin, user);
    const traits = { user_id: id, user_email: user.email ?? '', user_phone: user.phone ?? '' };
    await auditAdmin(tx, 'user_signedup', admin, traits);
    return toUserJson(user);
  });
}

/** @returns The id of the new user. */
function checkFacts(facts: AdminUserFacts): string {
  const refuse = (message: string) => new AuthError('validation_failed', message);
  if (facts.email === null && facts.phone === null) {
    throw refuse('Cannot create a user without either an email or phone');
  }
  if (facts.password && facts.passwordHash !== null)
    throw refuse('Only a password or a password hash should be provided');
  assertKnownHash(facts.passwordHash);
  if (facts.id === null) return randomUUID();
  if (!isUuid(facts.id)) throw refuse('ID must conform to the uuid v4 format');
  if (facts.id === nilUuid) throw refuse('ID cannot be a nil uuid');
  return facts.id.toLowerCase();
}

async function insert(tx: Transaction, facts: AdminUserFacts, id: string, passwordHash: string): Promise<void> {
  const { services } = tx;
  const { email, phone } = facts;
  const audience = facts.audience ?? tx.audience;
  if (email !== null && (await isEmailTaken(tx, email, audience))) throw new AuthError('email_exists');
  if (phone !== null && (await findUserByPhone(tx, phone, audience)) !== null) {
    throw new AuthError('phone_exists', 'Phone number already registered by another user');
  }
  const providers = [...(email === null ? [] : ['email']), ...(phone === null ? [] : ['phone'])];
  const appMetadata = mergeMetadata({ provider: providers[0], providers }, facts.appMetadata ?? {});
  const address = { email, phone, audience, role: facts.role ?? services.userRole };
  const metadata = { appMetadata, userMetadata: facts.userMetadata ?? {} };
  const user = await insertUser(tx, { id, ...address, ...metadata, passwordHash });
  if (email !== null) await setEmailIdentity(tx, user, email, facts.isEmailConfirmed);
  if (phone !== null) await setPhoneIdentity(tx, user, phone, facts.isPhoneConfirmed);
  if (facts.banMs !== null) await updateUser(tx, id, bannedUntil(facts, nowOf(tx)));
  await noteAdmin(tx, id);
  const proof = { by: 'admin' } as const;
  if (email !== null && facts.isEmailConfirmed) await confirmEmail(tx, user, proof);
  if (phone !== null && facts.isPhoneConfirmed) await confirmPhone(tx, await reloadUser(tx, id), proof);
}
