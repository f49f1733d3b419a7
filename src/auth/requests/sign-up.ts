/**
 * Sign-up with a password, by email or phone, and sign-in of somebody who does not say who they are. Also what one-time sign-in does
 * for users who do not exist yet.
 *
 * Whether an address has an account does not show: a confirmed user's gets the answer of a new one, made from nothing.
 */

import { isDeepStrictEqual } from 'node:util';
import type { Queryable } from '../../postgres/system/queryable.ts';
import { confirmEmail, confirmPhone } from '../accounts/confirm-user.ts';
import { parseEmail, parsePhone } from '../addresses.ts';
import { AuthError } from '../auth-error.ts';
import { sendCode } from '../messages/send-code.ts';
import { countUnsentEmail, sendTokenEmail } from '../messages/send-token.ts';
import { type Metadata, mergeWhatFits } from '../metadata.ts';
import { randomUuid } from '../random.ts';
import { assertStrong } from '../secrets/password-policy.ts';
import { assertNotTooLong } from '../secrets/passwords.ts';
import { askBeforeUserCreated } from '../steps/ask-hook.ts';
import { type AuthContext, nowOf, onceMore, type Transaction, transact } from '../steps/auth-context.ts';
import { issueSession, type SessionJson, type SignedIn, sessionAnswer } from '../steps/issue-session.ts';
import { type BodyMembers, type Members, readMembers } from '../steps/members.ts';
import { auditUser } from '../store/audit.ts';
import { contestEntry, noteEntry } from '../store/entries.ts';
import { type PkceChallenge, parsePkce } from '../store/flows.ts';
import { emailIdentityData, insertIdentity, phoneIdentityData } from '../store/identities.ts';
import { findEmailOwner, findUserByPhone, insertUser, lockKnownUser, reloadUser, updateUser } from '../store/users.ts';
import { type Channel, parseChannel } from '../texts/text-provider.ts';
import type { User } from '../user.ts';
import { toUserJson, type UserJson } from '../user-json.ts';

/** Who wants to be a user. */
export type SignUpAddress =
  | { readonly kind: 'email'; readonly email: string; readonly pkce: PkceChallenge | null }
  | { readonly kind: 'phone'; readonly phone: string; readonly channel: Channel };

/** A checked sign-up. */
export interface SignUpRequest {
  readonly address: SignUpAddress;
  /** Null: the user signs in without one, or sets one later. */
  readonly password: string | null;
  readonly data: Metadata;
}

/** What came of it. */
export type SignUpOutcome =
  | { readonly kind: 'signed_in'; readonly signedIn: SignedIn }
  /** A user who has to confirm the address, as JSON; perhaps one that does not exist. */
  | { readonly kind: 'unconfirmed'; readonly user: UserJson; readonly messageId: string };

/** `POST /signup` with an address. @returns A session where the address counts as confirmed, else the user. */
export async function signUp(context: AuthContext, body: unknown): Promise<SessionJson | UserJson> {
  const request = await checkSignUp(context, body);
  const outcome = await runSignUp(context, request, { startSession: true });
  return outcome.kind === 'signed_in' ? sessionAnswer(context, outcome.signedIn) : outcome.user;
}

/** Members of the body. */
export const signUpBody = {
  email: 'text', phone: 'text', password: 'needed', data: 'metadata', channel: 'text',
  code_challenge: 'text', code_challenge_method: 'text',
} as const satisfies BodyMembers; // biome-ignore format: a list of members

async function checkSignUp(context: AuthContext, body: unknown): Promise<SignUpRequest> {
  const members = readMembers(body, signUpBody);
  if (context.config.disable_signup) throw new AuthError('signup_disabled');
  if (!members.password) throw new AuthError('validation_failed', 'Signup requires a valid password');
  await assertStrong(members.password, context.config, context.services.isPwned);
  if (members.email && members.phone) {
    throw new AuthError('validation_failed', 'Only an email address or phone number should be provided on signup.');
  }
  return { address: checkAddress(context, members), password: members.password, data: members.data ?? {} };
}

function checkAddress({ config }: AuthContext, members: Members<typeof signUpBody>): SignUpAddress {
  const { email, phone, code_challenge: challenge, code_challenge_method: method } = members;
  if (!phone) {
    const pkce = parsePkce(challenge, method);
    if (config.external_email_enabled) return { kind: 'email', email: parseEmail(email ?? ''), pkce };
    throw new AuthError('email_provider_disabled', 'Email signups are disabled', { status: 400 });
  }
  const channel = parseChannel(members.channel, config);
  if (challenge) throw new AuthError('validation_failed', 'PKCE not supported for phone signups');
  parsePkce(challenge, method);
  if (config.external_phone_enabled) return { kind: 'phone', phone: parsePhone(phone), channel };
  throw new AuthError('phone_provider_disabled', 'Phone signups are disabled', { status: 400 });
}

/**
 * Signs a user up, or goes on with the sign-up of one who never confirmed.
 *
 * @param startSession False: a user who counts as confirmed at once is told by `unconfirmed` all the same, without a session.
 * @throws AuthError `signup_disabled`, `user_already_exists`, and what sending can throw; nothing is stored then.
 */
export async function runSignUp(
  context: AuthContext,
  request: SignUpRequest,
  { startSession }: { readonly startSession: boolean },
): Promise<SignUpOutcome> {
  if (context.config.disable_signup) throw new AuthError('signup_disabled');
  return onceMore(async () => {
    const known = await findKnown(context.services.database, context.audience, request.address);
    const password = await checkPassword(context, known, request);
    return transact(context, ['send_email', 'send_sms', 'before_user_created', 'custom_access_token'], (tx) =>
      enter(tx, { ...request, ...password, startSession }),
    );
  });
}

interface CheckedPassword {
  /** Null for none, and where nobody will need it. */
  readonly passwordHash: string | null;
  /** Whether it is the one that an unconfirmed account has already. */
  readonly isKnown: boolean;
  /** Of that account; null for none. */
  readonly knownHash: string | null;
}

interface Entry extends SignUpRequest, CheckedPassword {
  readonly startSession: boolean;
}

/** Outside the transaction, because it takes long; as long for every address, so that it tells nothing. */
async function checkPassword(
  context: AuthContext,
  known: User | null,
  { address, password }: SignUpRequest,
): Promise<CheckedPassword> {
  const { hasher } = context.services;
  const knownHash = known?.passwordHash ?? null;
  if (password === null) return { passwordHash: null, isKnown: known !== null && knownHash === null, knownHash };
  assertNotTooLong(password);
  const mayBeKnown = known !== null && knownHash !== null && !isConfirmed(known, address);
  const isKnown = mayBeKnown && (await hasher.verify(password, knownHash, context.deadline));
  const isNeeded = !mayBeKnown || (!isKnown && countsAsConfirmed(context, address));
  return { passwordHash: isNeeded ? await hasher.hash(password, context.deadline) : null, isKnown, knownHash };
}

async function enter(tx: Transaction, entry: Entry): Promise<SignUpOutcome> {
  const { address } = entry;
  const found = await findKnown(tx, tx.audience, address);
  const known = found === null ? null : await lockKnownUser(tx, found);
  if (known !== null && isConfirmed(known, address)) {
    await auditUser(tx, 'user_repeated_signup', known, { provider: address.kind });
    if (tx.config.mailer_autoconfirm || tx.config.sms_autoconfirm) throw new AuthError('user_already_exists');
    if (address.kind === 'email') await countUnsentEmail(tx);
    return { kind: 'unconfirmed', user: imitate(tx, entry), messageId: '' };
  }
  // Somebody has just signed up; their password has to be looked at.
  if (known !== null && known.passwordHash !== entry.knownHash) throw new AuthError('email_exists');
  const isStrange = known !== null && !isSameEntry(known, entry);
  if (isStrange) await contestEntry(tx, known.id);
  const user = known ?? (await insert(tx, entry));
  const { confirmed, messageId } = await confirmOrAsk(tx, user, entry);
  if (confirmed !== null && entry.startSession) {
    await auditUser(tx, 'login', confirmed, { provider: address.kind });
    return { kind: 'signed_in', signedIn: await issueSession(tx, user.id, 'password') };
  }
  // What is there was put there by somebody else, and is not for everyone.
  const json = isStrange ? imitate(tx, entry) : toUserJson(confirmed ?? (await reloadUser(tx, user.id)));
  return { kind: 'unconfirmed', user: json, messageId };
}

/**
 * A user who does not exist, with what the answer to a new user has, member by member. Made from nothing but the request,
 * because whatever of the real user stayed in it would tell that there is one.
 */
function imitate(context: AuthContext, { address, data }: SignUpRequest): UserJson {
  const { services, audience } = context;
  const { kind } = address;
  const [id, now] = [randomUuid(services.random), nowOf(context)];
  const [email, phone] = kind === 'email' ? [address.email, null] : [null, address.phone];
  const userMetadata = { ...data, ...identityDataOf(id, address, data) };
  const times = { createdAt: now, updatedAt: now };
  const identity = {
    ...{
      id: randomUuid(services.random),
      providerId: id,
      userId: id,
      provider: kind,
      email,
      identityData: userMetadata,
    },
    ...{ lastSignInAt: now, ...times },
  };
  return toUserJson({
    ...{ id, audience, role: services.userRole, email, phone, userMetadata, ...times, confirmationSentAt: now },
    ...{ appMetadata: { provider: kind, providers: [kind] }, isAnonymous: false, identities: [identity], factors: [] },
    ...{ emailConfirmedAt: null, invitedAt: null, phoneConfirmedAt: null, confirmedAt: null, recoverySentAt: null },
    ...{ emailChange: '', emailChangeSentAt: null, phoneChange: '', phoneChangeSentAt: null, lastSignInAt: null },
    ...{ reauthenticationSentAt: null, bannedUntil: null, deletedAt: null },
  } as unknown as User);
}

async function findKnown(queryable: Queryable, audience: string, address: SignUpAddress): Promise<User | null> {
  return address.kind === 'email'
    ? findEmailOwner(queryable, address.email, audience)
    : findUserByPhone(queryable, address.phone, audience);
}

/** Whether the account may be of the same person: who has its password is, and without one the data have to be the same. */
function isSameEntry(known: User, { address, data, password, isKnown }: Entry): boolean {
  if (!isKnown || password !== null) return isKnown;
  return isDeepStrictEqual(known.userMetadata, { ...data, ...identityDataOf(known.id, address, data) });
}

function identityDataOf(id: string, address: SignUpAddress, data: Metadata): Metadata {
  return address.kind === 'email' ? emailIdentityData(id, address.email, data) : phoneIdentityData(id, data);
}

/** One who has the address through another identity has confirmed it there. */
function isConfirmed(user: User, address: SignUpAddress): boolean {
  if (address.kind === 'phone') return user.phoneConfirmedAt !== null;
  return user.emailConfirmedAt !== null || user.email?.toLowerCase() !== address.email;
}

async function insert(tx: Transaction, { address, data, passwordHash }: Entry): Promise<User> {
  const { services, audience } = tx;
  const id = randomUuid(services.random);
  const { kind } = address;
  const identityData = identityDataOf(id, address, data);
  const facts = {
    id, audience, role: services.userRole, passwordHash,
    email: kind === 'email' ? address.email : null,
    phone: kind === 'phone' ? address.phone : null,
    appMetadata: { provider: kind, providers: [kind] },
    userMetadata: { ...data, ...identityData },
  }; // biome-ignore format: one user
  await askBeforeUserCreated(tx, facts);
  await insertUser(tx, facts);
  await insertIdentity(tx, { userId: id, provider: kind, providerId: id, identityData });
  await noteEntry(tx, id, 'code');
  return reloadUser(tx, id);
}

/** Confirms the user where the configuration says so; else asks for the proof. */
async function confirmOrAsk(
  tx: Transaction,
  user: User,
  entry: Entry,
): Promise<{ readonly confirmed: User | null; readonly messageId: string }> {
  const { address } = entry;
  const isAuto = countsAsConfirmed(tx, address);
  const action = isAuto ? 'user_signedup' : 'user_confirmation_requested';
  await auditUser(tx, action, user, { provider: address.kind });
  if (isAuto) {
    const confirm = address.kind === 'email' ? confirmEmail : confirmPhone;
    const confirmed = await confirm(tx, user, { by: 'code' });
    return { confirmed: await enterAnew(tx, confirmed, entry), messageId: '' };
  }
  if (address.kind === 'phone') {
    const { phone, channel } = address;
    return { confirmed: null, messageId: await sendCode(tx, { purpose: 'confirmation', user, phone, channel }) };
  }
  await sendTokenEmail(tx, 'confirmation', user, { pkce: address.pkce });
  return { confirmed: null, messageId: '' };
}

/** The account of somebody else who never confirmed is now that of whoever signs up. */
async function enterAnew(tx: Transaction, user: User, entry: Entry): Promise<User> {
  const { passwordHash, data } = entry;
  if (user.passwordHash !== null || passwordHash === null) return user;
  await updateUser(tx, user.id, { passwordHash, userMetadata: mergeWhatFits(data, user.userMetadata) });
  return reloadUser(tx, user.id);
}

function countsAsConfirmed({ config }: AuthContext, { kind }: SignUpAddress): boolean {
  return kind === 'email' ? config.mailer_autoconfirm : config.sms_autoconfirm;
}

/** Members of the body. */
export const anonymousBody = { data: 'metadata' } as const satisfies BodyMembers;

/** `POST /signup` without an address. */
export async function signUpAnonymously(context: AuthContext, body: unknown): Promise<SessionJson> {
  const { config, services, audience } = context;
  const { data } = readMembers(body, anonymousBody);
  if (!config.external_anonymous_users_enabled) throw new AuthError('anonymous_provider_disabled');
  if (config.disable_signup) throw new AuthError('signup_disabled');
  const nobody = { email: null, phone: null, passwordHash: null, appMetadata: {}, isAnonymous: true };
  const signedIn = await transact(context, ['before_user_created', 'custom_access_token'], async (tx) => {
    const id = randomUuid(services.random);
    const facts = { ...nobody, id, audience, role: services.userRole, userMetadata: data ?? {} };
    await askBeforeUserCreated(tx, facts);
    const user = await insertUser(tx, facts);
    return issueSession(tx, user.id, 'anonymous');
  });
  return sessionAnswer(context, signedIn);
}
