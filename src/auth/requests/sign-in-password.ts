/** Sign-in with a password. The answer to unknown users and wrong passwords is the same, after the same work. */
import { randomUUID } from 'node:crypto';
import { setTimeout as setDelay } from 'node:timers/promises';
import { text } from '../../shared/schema.ts';
import { AuthError } from '../model/auth-error.ts';
import { isBanned, type User } from '../model/user.ts';
import { UnreadableHashError } from '../secrets/password-hash.ts';
import { findWeakness } from '../secrets/password-policy.ts';
import { countPasswordGuess } from '../steps/attempt-limit.ts';
import { type AuthContext, nowOf, type Transaction, transact } from '../steps/auth-context.ts';
import { issueSession, type SessionJson, sessionAnswer } from '../steps/issue-session.ts';
import { bodySchema, needed, readFields } from '../steps/request-body.ts';
import { auditUser } from '../store/audit.ts';
import { findUserByEmail, findUserByPhone, lockUser, updateUser } from '../store/users.ts';

interface Credentials {
  readonly kind: 'email' | 'phone';
  readonly address: string;
  readonly password: string;
}

/** `POST /token?grant_type=password`. */
export async function signInWithPassword(context: AuthContext, body: unknown): Promise<SessionJson> {
  const credentials = readCredentials(context, body);
  const { config, services } = context;
  if (!config.security_hide_accounts) return signIn(context, credentials);
  const startedAt = performance.now();
  try {
    return await signIn(context, credentials);
  } catch (error) {
    // Passwords of imported users may take longer to check than those of nobody.
    const leftMs = startedAt + services.minRefusalMs - performance.now();
    if (leftMs > 0) await setDelay(Math.ceil(leftMs) + 1);
    throw hideCause(error, context);
  }
}

/** Whoever signed up with an address would learn whether there was an account before, or a hash that cannot be read. */
function hideCause(error: unknown, { services }: AuthContext): unknown {
  if (error instanceof UnreadableHashError) {
    services.observe({ kind: 'masked_error', id: randomUUID(), requestId: null, error });
    return new AuthError('invalid_credentials');
  }
  const isUnconfirmed =
    error instanceof AuthError && (error.code === 'email_not_confirmed' || error.code === 'phone_not_confirmed');
  return isUnconfirmed ? new AuthError('invalid_credentials') : error;
}

async function signIn(context: AuthContext, credentials: Credentials): Promise<SessionJson> {
  const { services, config } = context;
  const finding = find(context, credentials);
  const ownerId = async () => (await finding)?.id ?? null;
  const [guess, found] = await Promise.all([
    countPasswordGuess(context, `${credentials.kind}:${credentials.address}`, ownerId),
    finding,
  ]);
  const isRight = await services.hasher.verify(credentials.password, found?.passwordHash ?? null, context.deadline);
  if (found !== null && found.passwordHash === null) services.observe({ kind: 'password_absent', userId: found.id });
  if (found === null || found.passwordHash === null) throw new AuthError('invalid_credentials');
  if (!isRight) throw new AuthError('invalid_credentials');
  // Where accounts are hidden, only a sign-in may tell that the password was right.
  if (!config.security_hide_accounts) await guess?.giveBack();
  if (isBanned(found, nowOf(context))) throw new AuthError('user_banned', null, { status: 400 });
  assertConfirmed(found, credentials.kind);
  if (config.security_hide_accounts) await guess?.giveBack();
  const newHash = await services.hasher.renew(credentials.password, found.passwordHash, context.deadline);
  const weakPassword = await findWeakness(credentials.password, config, services.isPwned);
  const signedIn = await transact(context, ['custom_access_token'], (tx) =>
    enter(tx, { found, newHash, kind: credentials.kind }),
  );
  return sessionAnswer(context, signedIn, { weakPassword });
}

/** Members of the body. */
export const passwordBody = bodySchema({ email: text, phone: text, password: needed(text) });

function readCredentials({ config }: AuthContext, body: unknown): Credentials {
  const { email, phone, password } = readFields(body, passwordBody);
  if (email && phone) {
    throw new AuthError('validation_failed', 'Only an email address or phone number should be provided on login.');
  }
  if (!email && !phone) throw new AuthError('validation_failed', 'missing email or phone');
  if (email && !config.external_email_enabled) throw new AuthError('email_provider_disabled');
  if (phone && !config.external_phone_enabled) throw new AuthError('phone_provider_disabled');
  if (email) return { kind: 'email', address: email, password: password ?? '' };
  return { kind: 'phone', address: (phone ?? '').replace(/^\+/, '').replaceAll(' ', ''), password: password ?? '' };
}

function find({ services, audience }: AuthContext, { kind, address }: Credentials): Promise<User | null> {
  const look = kind === 'email' ? findUserByEmail : findUserByPhone;
  return look(services.database, address, audience);
}

function assertConfirmed(user: User, kind: Credentials['kind']): void {
  if (kind === 'email' && user.emailConfirmedAt === null) throw new AuthError('email_not_confirmed');
  if (kind === 'phone' && user.phoneConfirmedAt === null) throw new AuthError('phone_not_confirmed');
}

async function enter(
  tx: Transaction,
  { found, newHash, kind }: { readonly found: User; readonly newHash: string | null; readonly kind: string },
) {
  const user = await lockUser(tx, found.id);
  // While the hash was computed, the password may have been changed or the user banned.
  if (user?.passwordHash !== found.passwordHash) throw new AuthError('invalid_credentials');
  if (isBanned(user, nowOf(tx))) throw new AuthError('user_banned', null, { status: 400 });
  if (newHash !== null) await updateUser(tx, user.id, { passwordHash: newHash });
  const [, signedIn] = await Promise.all([
    auditUser(tx, 'login', user, { provider: kind }),
    issueSession(tx, user.id, 'password'),
  ]);
  return signedIn;
}
