/**
 * Verifies one-time tokens. Programs send the code that the user typed, or the hash from a link that a server received.
 * Persons open the link of an email: they are redirected, and the application reads the result from fragment and query.
 * Only a link without its parameters is answered directly.
 */
import { testEmailToken } from '../../email/message/confirmation-url.ts';
import { type AnswerJson, about, anything, from, serializerOf, text } from '../../shared/schema.ts';
import { completeVerification } from '../accounts/complete-verification.ts';
import { proofsOfChange } from '../accounts/email-change.ts';
import { parseEmail, parsePhone } from '../model/addresses.ts';
import { AuthError } from '../model/auth-error.ts';
import type { User } from '../model/user.ts';
import { isPkceHash } from '../secrets/one-time-code.ts';
import { takeCodeGuesses } from '../steps/attempt-limit.ts';
import { type AuthContext, nowOf, type Transaction, transact } from '../steps/auth-context.ts';
import { issueSession, type SignedIn, sessionAnswer, sessionParameters } from '../steps/issue-session.ts';
import { errorParameters, withFragment, withQuery } from '../steps/redirect-target.ts';
import { bodySchema, needed, readFields } from '../steps/request-body.ts';
import {
  findVerificationType,
  flowMethodOf,
  isPhoneType,
  resolveKind,
  tokensOf,
  type VerificationKind,
  type VerificationType,
  verificationTypes,
} from '../steps/verification-types.ts';
import { issueFlowCode } from '../store/flows.ts';
import {
  checkCode,
  emailTokenSeconds,
  findUserIdByCode,
  type PresentedToken,
  presentTokenHash,
  smsTokenSeconds,
  type TokenCheck,
} from '../store/one-time-tokens.ts';
import { findUserByPhone, lockUser, lockUserByEmail } from '../store/users.ts';

/** Text for the first of two confirmations of an email change. */
const otherAddressMessage = 'Confirmation link accepted. Please proceed to confirm link sent to the other email';

/** The answer to that first confirmation. */
export const otherAddressSerializer = serializerOf<string>('AuthOtherAddress', {
  msg: from(text, (message) => message),
  code: from(anything({ const: '200' }), () => '200'),
});

type Given =
  | { readonly kind: 'hash'; readonly type: VerificationType; readonly tokenHash: string }
  | { readonly kind: 'code'; readonly type: VerificationType; readonly address: string; readonly code: string };

/** `POST /verify`. */
export async function verify(context: AuthContext, body: unknown): Promise<AnswerJson> {
  const given = readVerification(body);
  const signedIn = await transact(context, ['custom_access_token'], (tx) => enter(tx, given));
  return signedIn === null ? otherAddressSerializer.print(otherAddressMessage) : sessionAnswer(context, signedIn);
}

async function enter(tx: Transaction, given: Given): Promise<SignedIn | null> {
  const presented = given.kind === 'hash' ? await presentHash(tx, given) : await presentCode(tx, given);
  const kind = resolveKind(given.type, presented.type);
  const enterNow = () => issueSession(tx, presented.user.id, 'otp');
  const by = given.kind === 'hash' ? 'link' : 'code';
  return completeVerification(tx, { presented, kind, by }, enterNow);
}

const refuse = (message: string) => new AuthError('validation_failed', message);

/** Fields of the body. */
export const verifyBody = bodySchema({
  type: needed(about(text, { enum: verificationTypes })), token: text, token_hash: text, email: text, phone: text, redirect_to: text,
}); // biome-ignore format: a list of fields

function readVerification(body: unknown): Given {
  const fields = readFields(body, verifyBody);
  const { type: name, token, token_hash: tokenHash, email, phone, redirect_to: redirectTo } = fields;
  if (!name) throw refuse('Verify requires a verification type');
  if (Boolean(token) === Boolean(tokenHash)) throw refuse('Verify requires either a token or a token hash');
  const type = findVerificationType(name);
  if (tokenHash) {
    if (email || phone || redirectTo) throw refuse('Only the token_hash and type should be provided');
    if (type === null || isPhoneType(type)) throw refuse('Invalid email verification type');
    return { kind: 'hash', type, tokenHash };
  }
  const addressMessage = 'Only an email address or phone number should be provided on verify';
  if (Boolean(email) === Boolean(phone)) throw refuse(addressMessage);
  const address = phone ? parsePhone(phone) : parseCodeEmail(email ?? '');
  if (type === null) throw refuse('Unsupported verification type');
  if (isPhoneType(type) !== Boolean(phone)) throw refuse(addressMessage);
  return { kind: 'code', type, address, code: token ?? '' };
}

function parseCodeEmail(email: string): string {
  try {
    return parseEmail(email);
  } catch (error) {
    throw new AuthError('validation_failed', 'Invalid email format', { status: 422, cause: error });
  }
}

/**
 * Looks up the hash of a link. It is random and cannot be guessed: wrong codes, which anybody can send, leave it valid.
 *
 * @throws AuthError `otp_expired`, `user_banned`
 */
function presentHash(
  tx: Transaction,
  { type, tokenHash }: { readonly type: VerificationType; readonly tokenHash: string },
): Promise<PresentedToken> {
  return presentTokenHash(tx, tokenHash, checkOf(tx, type));
}

async function presentCode(tx: Transaction, given: Extract<Given, { kind: 'code' }>): Promise<PresentedToken> {
  const { type, address, code } = given;
  const [isDead, owner] = await Promise.all([takeCodeGuesses(tx, { address }, tokensOf(type)), lockOwner(tx, given)]);
  const presented = checkCode(owner, { address, code }, { ...checkOf(tx, type), isDead });
  if (type !== 'email_change') return presented;
  const { user } = presented;
  // The token of the present address is checked only in a secure change.
  const isKnown = address === user.email?.toLowerCase() || address === user.emailChange.toLowerCase();
  const isCurrentToken = presented.type === 'email_change_token_current';
  if (!isKnown || (isCurrentToken && !proofsOfChange(tx, user).ofPresent)) throw new AuthError('otp_expired');
  return presented;
}

/** Locks the user whom the code must belong to, for this transaction; null if there is none. */
async function lockOwner(
  tx: Transaction,
  { type, address, code }: Extract<Given, { kind: 'code' }>,
): Promise<User | null> {
  const { audience } = tx;
  const lockKnown = (id: string | null) => (id === null ? null : lockUser(tx, id));
  switch (type) {
    case 'sms':
      return lockKnown((await findUserByPhone(tx, address, audience))?.id ?? null);
    // Several users may have the same pending number or address.
    case 'phone_change':
    case 'email_change':
      return lockKnown(await findUserIdByCode(tx, { address, code }, tokensOf(type)));
    default:
      return lockUserByEmail(tx, address, audience);
  }
}

function checkOf(context: AuthContext, type: VerificationType): TokenCheck {
  const lifetimeSeconds = isPhoneType(type) ? smsTokenSeconds(context.config) : emailTokenSeconds(context.config);
  return { types: tokensOf(type), now: nowOf(context), lifetimeSeconds };
}

/** Where the browser goes next. */
interface LinkTarget {
  readonly location: string;
  /** The reason for the refusal, null for a valid link; the URL carries its public part. */
  readonly refusal: unknown;
}

/** Uses a link: `GET /verify`, or the button of the page that asks first. @throws AuthError `validation_failed` if a parameter is missing. */
export async function openLink(context: AuthContext, parameters: LinkParameters): Promise<LinkTarget> {
  const { token, type } = assertComplete(parameters);
  try {
    return { location: await follow(context, token, type), refusal: null };
  } catch (refusal) {
    const parameters = errorParameters(refusal);
    const base = isPkceHash(token) ? withQuery(context.redirectTo, parameters) : context.redirectTo;
    return { location: withFragment(base, { ...parameters, sb: '' }), refusal };
  }
}

interface LinkParameters {
  readonly token: string | null;
  readonly type: string | null;
}

/** @throws AuthError `validation_failed` if a parameter is missing. */
export function assertComplete({ token, type }: LinkParameters): Readonly<Record<keyof LinkParameters, string>> {
  if (!type) throw new AuthError('validation_failed', 'Verify requires a verification type');
  if (!token) throw new AuthError('validation_failed', 'Verify requires a token or a token hash');
  return { token, type };
}

async function follow(context: AuthContext, token: string, typeName: string): Promise<string> {
  if (token === testEmailToken) throw new AuthError('otp_expired', 'This is the link of a test email');
  const type = findVerificationType(typeName);
  if (type === null || isPhoneType(type)) {
    throw new AuthError('validation_failed', 'Invalid email verification type');
  }
  const isPkce = isPkceHash(token);
  const { redirectTo } = context;
  const { verified, entered } = await transact(context, ['custom_access_token'], async (tx) => {
    const presented = await presentHash(tx, { type, tokenHash: token });
    const verified = resolveKind(type, presented.type);
    const { id } = presented.user;
    const enter = (): Promise<SignedIn | string> =>
      isPkce ? issueCode(tx, id, verified) : issueSession(tx, id, 'otp');
    const verification = { presented, kind: verified, by: isPkce ? 'pkce_link' : 'link' } as const;
    return { verified, entered: await completeVerification(tx, verification, enter) };
  });
  if (entered === null) {
    const message = { message: otherAddressMessage };
    return withFragment(isPkce ? withQuery(redirectTo, message) : redirectTo, { ...message, sb: '' });
  }
  if (typeof entered === 'string') return withQuery(redirectTo, { code: entered });
  return withFragment(redirectTo, { ...(await sessionParameters(context, entered)), sb: '', type: verified });
}

/** Throws without a flow: the code would be useless, so the transaction is rolled back and the token stays valid. */
function issueCode(tx: Transaction, userId: string, verified: VerificationKind): Promise<string> {
  const method = flowMethodOf(verified);
  if (method === null) throw new AuthError('flow_state_not_found', 'No associated flow state found.', { status: 400 });
  return issueFlowCode(tx, userId, method);
}
