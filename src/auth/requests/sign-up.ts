/**
 * Sign-up with a password, by email or phone, and anonymous sign-in. One-time sign-in uses the same sign-up for new
 * users.
 *
 * For a confirmed user the answer is a made-up user without identities, as in Supabase Auth. Where accounts are hidden,
 * it is a made-up new user for every address.
 */
import { randomUUID } from 'node:crypto';
import type { Queryable } from '../../postgres/system/queryable.ts';
import { isPublic } from '../../shared/egress/egress.ts';
import { text, type ValueOf } from '../../shared/schema.ts';
import { clearAccount, enterAgain, isFree } from '../accounts/claim-account.ts';
import { confirmEmail, confirmPhone } from '../accounts/confirm-user.ts';
import {
  type CheckedPassword,
  checkPassword,
  isSamePerson,
  lastHash,
  noteSignUp,
} from '../accounts/repeated-sign-up.ts';
import { toUserJson, type UserJson } from '../answers/user-json.ts';
import { answerFirst, type MessageRequest } from '../messages/answer-first.ts';
import { sendCode } from '../messages/send-phone-code.ts';
import { sendTokenEmail } from '../messages/send-token.ts';
import { parseEmail, parsePhone } from '../model/addresses.ts';
import { AuthError } from '../model/auth-error.ts';
import { type Metadata, mergeMetadata } from '../model/metadata.ts';
import type { User } from '../model/user.ts';
import { assertStrong } from '../secrets/password-policy.ts';
import { assertNotTooLong } from '../secrets/passwords.ts';
import { type Channel, parseChannel } from '../sms/sms-provider.ts';
import { askBeforeUserCreated } from '../steps/ask-hook.ts';
import { type AuthContext, nowOf, onceMore, type Transaction, transact } from '../steps/auth-context.ts';
import { issueSession, type SessionJson, type SignedIn, sessionAnswer } from '../steps/issue-session.ts';
import { withLocale } from '../steps/keep-locale.ts';
import { bodySchema, metadata, needed, readFields } from '../steps/request-body.ts';
import { auditUser } from '../store/audit.ts';
import { type PkceChallenge, parsePkce } from '../store/flows.ts';
import { emailIdentityData, insertIdentity, phoneIdentityData } from '../store/identities.ts';
import { findConfirmation, noteNetwork, readUnverifiedInput, type UnverifiedInput } from '../store/unverified-input.ts';
import { findEmailOwner, findUserByPhone, insertUser, lockKnownUser, reloadUser } from '../store/users.ts';

/** The address that signs up. */
export type SignUpAddress =
  | { readonly kind: 'email'; readonly email: string; readonly pkce: PkceChallenge | null }
  | { readonly kind: 'phone'; readonly phone: string; readonly channel: Channel };

interface SignUpRequest {
  readonly address: SignUpAddress;
  /** Null: the user signs in without a password, or sets one later. */
  readonly password: string | null;
  readonly data: Metadata;
  /** The id of the user, if there is none yet. */
  readonly id: string;
}

type SignUpOutcome =
  | { readonly kind: 'signed_in'; readonly signedIn: SignedIn }
  /** A user, perhaps an imitated one, who has to confirm the address; as JSON. */
  | { readonly kind: 'unconfirmed'; readonly user: UserJson; readonly messageId: string };

/** `POST /signup` with an address. @returns A session if the address counts as confirmed, otherwise the user. */
export async function signUp(context: AuthContext, body: unknown): Promise<SessionJson | UserJson> {
  const request = await checkSignUp(context, body);
  return answerFirst<SessionJson | UserJson>(context, askedAt(request), decoyUser(context, request), async (own) => {
    const outcome = await runSignUp(own, request, { startSession: true });
    return outcome.kind === 'signed_in' ? sessionAnswer(own, outcome.signedIn) : outcome.user;
  });
}

function askedAt({ address }: SignUpRequest): MessageRequest {
  return address.kind === 'email' ? { kind: 'email', address: address.email } : { kind: 'sms', address: address.phone };
}

/** Fields of the body. */
export const signUpBody = bodySchema({
  email: text, phone: text, password: needed(text), data: metadata, channel: text,
  code_challenge: text, code_challenge_method: text,
}); // biome-ignore format: a list of fields

async function checkSignUp(context: AuthContext, body: unknown): Promise<SignUpRequest> {
  const fields = readFields(body, signUpBody);
  if (context.config.disable_signup) throw new AuthError('signup_disabled');
  if (!fields.password) throw new AuthError('validation_failed', 'Signup requires a valid password');
  await assertStrong(fields.password, context.config, context.services.isPwned);
  assertNotTooLong(fields.password);
  if (fields.email && fields.phone) {
    throw new AuthError('validation_failed', 'Only an email address or phone number should be provided on signup.');
  }
  const { password } = fields;
  const data = enteredData(context, fields.data ?? {});
  return { address: checkAddress(context, fields), password, data, id: randomUUID() };
}

function checkAddress({ config }: AuthContext, fields: ValueOf<typeof signUpBody>): SignUpAddress {
  const { email, phone, code_challenge: challenge, code_challenge_method: method } = fields;
  if (!phone) {
    const pkce = parsePkce(challenge, method);
    if (config.external_email_enabled) return { kind: 'email', email: parseEmail(email ?? ''), pkce };
    throw new AuthError('email_provider_disabled', 'Email signups are disabled', { status: 400 });
  }
  const channel = parseChannel(fields.channel, config);
  if (challenge) throw new AuthError('validation_failed', 'PKCE not supported for phone signups');
  parsePkce(challenge, method);
  if (config.external_phone_enabled) return { kind: 'phone', phone: parsePhone(phone), channel };
  throw new AuthError('phone_provider_disabled', 'Phone signups are disabled', { status: 400 });
}

/** The metadata of a new user. */
export function enteredData(context: AuthContext, data: Metadata): Metadata {
  return withLocale(context, mergeMetadata({}, data));
}

/**
 * Signs a user up, or continues an unconfirmed sign-up.
 *
 * @param startSession False: returns `unconfirmed` without a session even if the user counts as confirmed at once.
 * @throws AuthError `signup_disabled`, `user_already_exists`, and errors of sending; nothing is stored then.
 */
export async function runSignUp(
  context: AuthContext,
  request: SignUpRequest,
  { startSession }: { readonly startSession: boolean },
): Promise<SignUpOutcome> {
  if (context.config.disable_signup) throw new AuthError('signup_disabled');
  return onceMore(async () => {
    const known = await findKnown(context.services.database, context.audience, request.address);
    const isUnproved = known !== null && !isConfirmed(known, request.address);
    const password = await checkPassword(context, isUnproved ? known : null, request.password);
    return transact(context, ['send_email', 'send_sms', 'before_user_created', 'custom_access_token'], (tx) =>
      enter(tx, { ...request, ...password, startSession }),
    );
  });
}

interface SignUp extends SignUpRequest, CheckedPassword {
  readonly startSession: boolean;
}

async function enter(tx: Transaction, signUp: SignUp): Promise<SignUpOutcome> {
  const { address } = signUp;
  const found = await findKnown(tx, tx.audience, address);
  const known = found === null ? null : await lockKnownUser(tx, found);
  if (known !== null && isConfirmed(known, address)) {
    await auditUser(tx, 'user_repeated_signup', known, { provider: address.kind });
    if (tx.config.mailer_autoconfirm || tx.config.sms_autoconfirm) throw new AuthError('user_already_exists');
    if (tx.config.security_hide_accounts) await tellOwner(tx, known, address);
    return { kind: 'unconfirmed', user: withoutIdentity(decoyUser(tx, signUp), signUp), messageId: '' };
  }
  const unverified = known === null ? null : await readUnverifiedInput(tx, known.id);
  // Another request has just signed up with the address; its password was not compared yet.
  if (known !== null && lastHash(known, unverified) !== signUp.knownHash) throw new AuthError('email_exists');
  const again = (of: User) => ({ ...signUp, userMetadata: metadataOf(of.id, signUp) });
  const isFromSomeoneElse = known !== null && !(await isSamePerson(tx, known, unverified, again(known)));
  if (isFromSomeoneElse && signUp.startSession && countsAsConfirmed(tx, address))
    await assertFree(tx, known, unverified);
  const user = known ?? (await insert(tx, signUp));
  const before = known === null ? null : await findConfirmation(tx, known.id);
  const { confirmed, messageId } = await confirmOrAsk(
    tx,
    user,
    signUp,
    isFromSomeoneElse && unverified?.enteredBy !== 'admin',
  );
  if (known !== null && confirmed === null)
    await noteSignUp(tx, again(known), { user: known, unverified, isSame: !isFromSomeoneElse, before });
  if (confirmed !== null && signUp.startSession) {
    await auditUser(tx, 'login', confirmed, { provider: address.kind });
    return { kind: 'signed_in', signedIn: await issueSession(tx, user.id, 'password') };
  }
  const json = isFromSomeoneElse
    ? decoyOther(tx, user, signUp)
    : toUserJson(confirmed ?? (await reloadUser(tx, user.id)));
  return { kind: 'unconfirmed', user: json, messageId };
}

/** Whoever proves the address gets an admin's account; no other in use. @throws AuthError `user_already_exists` */
async function assertFree(tx: Transaction, user: User, entry: UnverifiedInput | null): Promise<void> {
  if (await isFree(tx, user, entry)) return;
  throw new AuthError('user_already_exists');
}

/** Helps an owner who has forgotten the account: the client waits for a link or code, so this sends one that signs in. */
async function tellOwner(tx: Transaction, owner: User, address: SignUpAddress): Promise<void> {
  if (address.kind === 'phone') {
    const { phone, channel } = address;
    await sendCode(tx, { purpose: 'confirmation', user: owner, phone, channel });
    return;
  }
  const kind = tx.config.external_email_magic_link_enabled ? 'magic_link' : 'recovery';
  await sendTokenEmail(tx, kind, owner, address.pkce);
}

/** The answer for an account that another person has entered, whose data must not be shown; its id must be real. */
function decoyOther(tx: Transaction, { id, invitedAt }: User, signUp: SignUp): UserJson {
  if (tx.config.security_hide_accounts) return decoyUser(tx, { ...signUp, id: randomUUID() });
  const json = decoyUser(tx, { ...signUp, id });
  return invitedAt === null ? json : { ...json, user_metadata: {}, identities: [] };
}

/** Clients know by this that the address has an account. */
function withoutIdentity(user: UserJson, { data }: SignUpRequest): UserJson {
  return { ...user, role: '', user_metadata: data, identities: [] };
}

/** Imitates the answer for a new user from the request alone: data of the real user would belong to somebody else. */
function decoyUser(context: AuthContext, { address, data, id }: SignUpRequest): UserJson {
  const { services, audience } = context;
  const { kind } = address;
  const now = nowOf(context);
  const [email, phone] = kind === 'email' ? [address.email, null] : [null, address.phone];
  const userMetadata = { ...data, ...identityDataOf(id, address, data) };
  const times = { createdAt: now, updatedAt: now };
  const identity = {
    id: randomUUID(),
    providerId: id,
    userId: id,
    provider: kind,
    email,
    identityData: userMetadata,
    lastSignInAt: now,
    ...times,
  };
  return toUserJson({
    id,
    audience,
    role: services.userRole,
    email,
    phone,
    userMetadata,
    ...times,
    confirmationSentAt: now,
    appMetadata: { provider: kind, providers: [kind] },
    isAnonymous: false,
    identities: [identity],
    factors: [],
    emailConfirmedAt: null,
    invitedAt: null,
    phoneConfirmedAt: null,
    confirmedAt: null,
    recoverySentAt: null,
    emailChange: '',
    emailChangeSentAt: null,
    phoneChange: '',
    phoneChangeSentAt: null,
    lastSignInAt: null,
    reauthenticationSentAt: null,
    bannedUntil: null,
    deletedAt: null,
  } as unknown as User);
}

async function findKnown(queryable: Queryable, audience: string, address: SignUpAddress): Promise<User | null> {
  return address.kind === 'email'
    ? findEmailOwner(queryable, address.email, audience)
    : findUserByPhone(queryable, address.phone, audience);
}

function metadataOf(id: string, { address, data }: Pick<SignUpRequest, 'address' | 'data'>): Metadata {
  return { ...data, ...identityDataOf(id, address, data) };
}

function identityDataOf(id: string, address: SignUpAddress, data: Metadata): Metadata {
  return address.kind === 'email' ? emailIdentityData(id, address.email, data) : phoneIdentityData(id, data);
}

/** A user who has the address through another identity confirmed it there. */
function isConfirmed(user: User, address: SignUpAddress): boolean {
  if (address.kind === 'phone') return user.phoneConfirmedAt !== null;
  return user.emailConfirmedAt !== null || user.email?.toLowerCase() !== address.email;
}

async function insert(tx: Transaction, { address, data, passwordHash, id }: SignUp): Promise<User> {
  const { services, audience } = tx;
  const { kind } = address;
  const identityData = identityDataOf(id, address, data);
  const facts = {
    id, audience, role: services.userRole, passwordHash,
    email: kind === 'email' ? address.email : null,
    phone: kind === 'phone' ? address.phone : null,
    appMetadata: { provider: kind, providers: [kind] },
    userMetadata: metadataOf(id, { address, data }),
  }; // biome-ignore format: one user
  await askBeforeUserCreated(tx, facts);
  await insertUser(tx, facts);
  await insertIdentity(tx, { userId: id, provider: kind, providerId: id, identityData });
  // A private address is that of a proxy or an application's server, and so of everybody. In a local project it is the
  // developer's.
  const { ip } = tx.client;
  if (ip !== null && (services.isLocalProject || isPublic(ip))) await noteNetwork(tx, id, tx.network);
  return reloadUser(tx, id);
}

/** Confirms the user if the configuration says so; otherwise sends the confirmation. */
async function confirmOrAsk(
  tx: Transaction,
  user: User,
  signUp: SignUp,
  isFromSomeoneElse: boolean,
): Promise<{ readonly confirmed: User | null; readonly messageId: string }> {
  const { address, passwordHash, data } = signUp;
  const isAuto = countsAsConfirmed(tx, address);
  const action = isAuto ? 'user_signedup' : 'user_confirmation_requested';
  await auditUser(tx, action, user, { provider: address.kind });
  if (isAuto) {
    const confirm = address.kind === 'email' ? confirmEmail : confirmPhone;
    // Nobody has to prove the address, so it belongs to whoever signs up now.
    const own = isFromSomeoneElse
      ? await enterAgain(tx, await clearAccount(tx, user, address.kind), { passwordHash, userMetadata: data })
      : user;
    return { confirmed: await confirm(tx, own, { by: 'session' }), messageId: '' };
  }
  if (address.kind === 'phone') {
    const { phone, channel } = address;
    return { confirmed: null, messageId: await sendCode(tx, { purpose: 'confirmation', user, phone, channel }) };
  }
  // The password of this request, which its email keeps.
  const asked = { ...user, passwordHash };
  await sendTokenEmail(tx, 'confirmation', isFromSomeoneElse ? asked : user, address.pkce);
  return { confirmed: null, messageId: '' };
}

function countsAsConfirmed({ config }: AuthContext, { kind }: SignUpAddress): boolean {
  return kind === 'email' ? config.mailer_autoconfirm : config.sms_autoconfirm;
}

/** Fields of the body. */
export const anonymousBody = bodySchema({ data: metadata });

/** `POST /signup` without an address. */
export async function signUpAnonymously(context: AuthContext, body: unknown): Promise<SessionJson> {
  const { config, services, audience } = context;
  const { data } = readFields(body, anonymousBody);
  if (!config.external_anonymous_users_enabled) throw new AuthError('anonymous_provider_disabled');
  if (config.disable_signup) throw new AuthError('signup_disabled');
  const blank = { email: null, phone: null, passwordHash: null, appMetadata: {}, isAnonymous: true };
  const signedIn = await transact(context, ['before_user_created', 'custom_access_token'], async (tx) => {
    const id = randomUUID();
    const facts = { ...blank, id, audience, role: services.userRole, userMetadata: withLocale(context, data ?? {}) };
    await askBeforeUserCreated(tx, facts);
    const user = await insertUser(tx, facts);
    return issueSession(tx, user.id, 'anonymous');
  });
  return sessionAnswer(context, signedIn);
}
