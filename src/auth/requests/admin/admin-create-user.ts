/**
 * A user made by an admin: as it is told, without any email.
 */
import type { Queryable } from '../../../postgres/system/queryable.ts';
import { confirmEmail, confirmPhone } from '../../accounts/confirm-user.ts';
import { setEmailIdentity } from '../../accounts/email-change.ts';
import { setPhoneIdentity } from '../../accounts/phone-change.ts';
import { makePassword } from '../../accounts/random-password.ts';
import { AuthError } from '../../auth-error.ts';
import { type AdminBearer, isUuid } from '../../bearer.ts';
import { randomUuid } from '../../random.ts';
import { type AdminUserFacts, assertKnownHash, bannedUntil, readAdminUser } from '../../steps/admin-user.ts';
import { type AuthContext, nowOf, transact } from '../../steps/auth-context.ts';
import { reloadUser } from '../../steps/issue-session.ts';
import { adminActor, writeAudit } from '../../store/audit.ts';
import { noteEntry } from '../../store/entries.ts';
import { findUserByPhone, insertUser, isEmailTaken, updateUser } from '../../store/users.ts';
import { nilUuid } from '../../tools.ts';
import { toUserJson, type UserJson } from '../../user-json.ts';

const passwordLength = 64;

/** `POST /admin/users`. */
export async function createUser(context: AuthContext, { role }: AdminBearer, body: unknown): Promise<UserJson> {
  const facts = readAdminUser(body);
  const id = check(context, facts);
  const { services, config } = context;
  const password = facts.password || makePassword(services.random, passwordLength, config.password_required_characters);
  const passwordHash = facts.passwordHash ?? (await services.hasher.hash(password, context.deadline));
  return transact(context, [], async (session) => {
    await insert(session, context, { facts, id, passwordHash });
    const user = await reloadUser(session, id);
    const traits = { user_id: id, user_email: user.email ?? '', user_phone: user.phone ?? '' };
    await writeAudit(session, { action: 'user_signedup', actor: adminActor(role), traits }, config, services);
    return toUserJson(user);
  });
}

/** @returns The id of the new user. */
function check({ services }: AuthContext, facts: AdminUserFacts): string {
  const refuse = (message: string) => new AuthError('validation_failed', message);
  if (facts.email === null && facts.phone === null) {
    throw refuse('Cannot create a user without either an email or phone');
  }
  if (facts.password && facts.passwordHash !== null)
    throw refuse('Only a password or a password hash should be provided');
  assertKnownHash(facts.passwordHash);
  if (facts.id === null) return randomUuid(services.random);
  if (!isUuid(facts.id)) throw refuse('ID must conform to the uuid v4 format');
  if (facts.id === nilUuid) throw refuse('ID cannot be a nil uuid');
  return facts.id.toLowerCase();
}

interface Insertion {
  readonly facts: AdminUserFacts;
  readonly id: string;
  readonly passwordHash: string;
}

async function insert(session: Queryable, context: AuthContext, { facts, id, passwordHash }: Insertion): Promise<void> {
  const { services } = context;
  const { email, phone } = facts;
  const audience = facts.audience ?? context.audience;
  if (email !== null && (await isEmailTaken(session, email, audience))) throw new AuthError('email_exists');
  if (phone !== null && (await findUserByPhone(session, phone, audience)) !== null) {
    throw new AuthError('phone_exists', 'Phone number already registered by another user');
  }
  const providers = [...(email === null ? [] : ['email']), ...(phone === null ? [] : ['phone'])];
  const appMetadata = { provider: providers[0], providers, ...facts.appMetadata };
  const address = { email, phone, audience, role: facts.role ?? services.userRole };
  const metadata = { appMetadata, userMetadata: facts.userMetadata ?? {} };
  const user = await insertUser(session, { id, ...address, ...metadata, passwordHash }, services);
  if (email !== null) await setEmailIdentity(session, context, { user, email, isVerified: facts.isEmailConfirmed });
  if (phone !== null) await setPhoneIdentity(session, context, { user, phone, isVerified: facts.isPhoneConfirmed });
  if (facts.banMs !== null) await updateUser(session, id, bannedUntil(facts, nowOf(context)), nowOf(context));
  await noteEntry(session, id, 'admin');
  const proof = { by: 'admin' } as const;
  if (email !== null && facts.isEmailConfirmed) await confirmEmail(session, context, user, proof);
  if (phone !== null && facts.isPhoneConfirmed)
    await confirmPhone(session, context, await reloadUser(session, id), proof);
}
