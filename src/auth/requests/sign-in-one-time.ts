/**
 * Sign-in without a password: a link or a code by email, a code by text message. New users and users with an
 * unconfirmed address go through the sign-up.
 */

import { parseEmail, parsePhone } from '../addresses.ts';
import { AuthError } from '../auth-error.ts';
import { sendCode } from '../messages/send-phone-code.ts';
import { countUnsentEmail, sendTokenEmail } from '../messages/send-token.ts';
import type { Metadata } from '../metadata.ts';
import { type Channel, parseChannel } from '../sms/sms-provider.ts';
import { type AuthContext, transact } from '../steps/auth-context.ts';
import { type BodyMembers, readMembers } from '../steps/members.ts';
import { type MessageAnswer, messageAnswer } from '../steps/message-answer.ts';
import { auditUser } from '../store/audit.ts';
import { type PkceChallenge, parsePkce } from '../store/flows.ts';
import { readEntry } from '../store/unproved-entries.ts';
import { findUserByEmail, findUserByPhone, lockKnownUser } from '../store/users.ts';
import type { User } from '../user.ts';
import { runSignUp, type SignUpAddress } from './sign-up.ts';

/** Members of the body. */
export const oneTimeBody = {
  email: 'text', phone: 'text', create_user: 'flag', data: 'metadata', channel: 'text',
  code_challenge: 'text', code_challenge_method: 'text',
} as const satisfies BodyMembers; // biome-ignore format: a list of members

/** `POST /otp`. */
export async function sendOneTimeSignIn(context: AuthContext, body: unknown): Promise<MessageAnswer> {
  const members = readMembers(body, oneTimeBody);
  const { email, phone, channel } = members;
  if (email && phone) {
    throw new AuthError('validation_failed', 'Only an email address or phone number should be provided');
  }
  if (email && channel) throw new AuthError('validation_failed', 'Channel should only be specified with Phone OTP');
  const pkce = parsePkce(members.code_challenge, members.code_challenge_method);
  if (!email && !phone) throw new AuthError('validation_failed', 'One of email or phone must be set');
  const request = { data: members.data ?? {}, mayCreate: members.create_user ?? true };
  if (email) return sendMagicLink(context, { ...request, email, pkce });
  return sendPhoneCode(context, { ...request, phone: phone ?? '', channel: parseChannel(channel, context.config) });
}

/** Members of the body. */
export const magicLinkBody = {
  email: 'needed', data: 'metadata', code_challenge: 'text', code_challenge_method: 'text',
} as const satisfies BodyMembers; // biome-ignore format: a list of members

/** `POST /magiclink`. */
export async function sendMagicLinkOnly(context: AuthContext, body: unknown): Promise<MessageAnswer> {
  const members = readMembers(body, magicLinkBody);
  const pkce = parsePkce(members.code_challenge, members.code_challenge_method);
  if (!members.email) {
    throw new AuthError('validation_failed', 'Password recovery requires an email', { status: 422 });
  }
  return sendMagicLink(context, { email: members.email, data: members.data ?? {}, pkce, mayCreate: true });
}

interface Request {
  readonly data: Metadata;
  readonly mayCreate: boolean;
}

async function sendMagicLink(
  context: AuthContext,
  request: Request & { readonly email: string; readonly pkce: PkceChallenge | null },
): Promise<MessageAnswer> {
  const { config, services, audience } = context;
  if (!config.external_email_enabled) throw new AuthError('email_provider_disabled');
  if (!config.external_email_magic_link_enabled) {
    throw new AuthError('email_provider_disabled', 'Login with magic link is disabled');
  }
  const email = parseEmail(request.email);
  const find = () => findUserByEmail(services.database, email, audience);
  const known = await find();
  const isNew = known === null || known.emailConfirmedAt === null;
  if ((known === null && !request.mayCreate) || (isNew && config.disable_signup)) {
    await countUnsentEmail(context, email);
    return {};
  }
  // With autoconfirm, the sign-up would confirm an address that nobody has proven, of an account that waits for its owner.
  const isPrepared = config.mailer_autoconfirm && isNew && known !== null && (await isOfAdmin(context, known));
  if (isNew && !isPrepared) {
    await signUpSilently(context, { kind: 'email', email, pkce: request.pkce }, request.data);
    // The sign-up email was sent; only a user who counts as confirmed now needs another.
    if (!config.mailer_autoconfirm) return {};
  }
  const user = await find();
  if (user !== null) await emailSignIn(context, 'magic_link', user, request.pkce);
  return {};
}

/** Whether an admin made the account, or invited its owner. */
async function isOfAdmin({ services }: AuthContext, { id, invitedAt }: User): Promise<boolean> {
  return invitedAt !== null || (await readEntry(services.database, id))?.enteredBy === 'admin';
}

function signUpSilently(context: AuthContext, address: SignUpAddress, data: Metadata) {
  return runSignUp(context, { address, password: null, data }, { startSession: false });
}

/** Sends the sign-in email to an existing user, unless one was sent a moment ago. */
export function emailSignIn(
  context: AuthContext,
  kind: 'magic_link' | 'recovery',
  found: User,
  pkce: PkceChallenge | null,
): Promise<void> {
  return transact(context, ['send_email'], async (tx) => {
    const user = await lockKnownUser(tx, found);
    if (await sendTokenEmail(tx, kind, user, { pkce })) await auditUser(tx, 'user_recovery_requested', user);
  });
}

async function sendPhoneCode(
  context: AuthContext,
  request: Request & { readonly phone: string; readonly channel: Channel },
): Promise<MessageAnswer> {
  const { config, services, audience } = context;
  if (!config.external_phone_enabled) {
    throw new AuthError('phone_provider_disabled', 'Unsupported phone provider', { status: 400 });
  }
  const phone = parsePhone(request.phone);
  const { channel } = request;
  const find = () => findUserByPhone(services.database, phone, audience);
  const known = await find();
  if (known === null && !request.mayCreate) return {};
  if (known === null || known.phoneConfirmedAt === null) {
    const outcome = await signUpSilently(context, { kind: 'phone', phone, channel }, request.data);
    if (!config.sms_autoconfirm)
      return outcome.kind === 'unconfirmed' && request.mayCreate ? messageAnswer(outcome.messageId) : {};
  }
  const found = await find();
  if (found === null) return {};
  const messageId = await transact(context, ['send_sms'], async (tx) => {
    const user = await lockKnownUser(tx, found);
    await auditUser(tx, 'user_recovery_requested', user, { channel });
    return sendCode(tx, { purpose: 'confirmation', user, phone, channel });
  });
  // The message id would reveal that the user exists.
  return request.mayCreate ? messageAnswer(messageId) : {};
}
