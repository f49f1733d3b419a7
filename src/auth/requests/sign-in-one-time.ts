/** Sign-in without a password, by email or text message. New and unconfirmed users go through the sign-up. */
import { randomUUID } from 'node:crypto';
import { flag, text } from '../../shared/schema.ts';
import { answerFirst } from '../messages/answer-first.ts';
import { sendCode } from '../messages/send-phone-code.ts';
import { sendTokenEmail } from '../messages/send-token.ts';
import { parseEmail, parsePhone } from '../model/addresses.ts';
import { AuthError } from '../model/auth-error.ts';
import type { Metadata } from '../model/metadata.ts';
import type { User } from '../model/user.ts';
import { type Channel, parseChannel } from '../sms/sms-provider.ts';
import { type AuthContext, type Transaction, transact } from '../steps/auth-context.ts';
import { type MessageAnswer, messageAnswer } from '../steps/message-answer.ts';
import { bodySchema, metadata, needed, readFields } from '../steps/request-body.ts';
import { auditUser } from '../store/audit.ts';
import { type PkceChallenge, parsePkce } from '../store/flows.ts';
import { findUserByEmail, findUserByPhone, lockKnownUser, lockUserByEmail } from '../store/users.ts';
import { enteredData, runSignUp, type SignUpAddress } from './sign-up.ts';

/** Fields of the body. */
export const oneTimeBody = bodySchema({
  email: text, phone: text, create_user: flag, data: metadata, channel: text,
  code_challenge: text, code_challenge_method: text,
}); // biome-ignore format: a list of fields

/** `POST /otp`. */
export async function sendOneTimeSignIn(context: AuthContext, body: unknown): Promise<MessageAnswer> {
  const fields = readFields(body, oneTimeBody);
  const { email, phone, channel } = fields;
  if (email && phone) {
    throw new AuthError('validation_failed', 'Only an email address or phone number should be provided');
  }
  if (email && channel) throw new AuthError('validation_failed', 'Channel should only be specified with Phone OTP');
  const pkce = parsePkce(fields.code_challenge, fields.code_challenge_method);
  if (!email && !phone) throw new AuthError('validation_failed', 'One of email or phone must be set');
  const request = { data: fields.data ?? {}, mayCreate: fields.create_user ?? true };
  if (email) return sendMagicLink(context, { ...request, email, pkce });
  return sendPhoneCode(context, { ...request, phone: phone ?? '', channel: parseChannel(channel, context.config) });
}

/** Fields of the body. */
export const magicLinkBody = bodySchema({
  email: needed(text), data: metadata, code_challenge: text, code_challenge_method: text,
}); // biome-ignore format: a list of fields

/** `POST /magiclink`. */
export async function sendMagicLinkOnly(context: AuthContext, body: unknown): Promise<MessageAnswer> {
  const fields = readFields(body, magicLinkBody);
  const pkce = parsePkce(fields.code_challenge, fields.code_challenge_method);
  if (!fields.email) {
    throw new AuthError('validation_failed', 'Password recovery requires an email', { status: 422 });
  }
  return sendMagicLink(context, { email: fields.email, data: fields.data ?? {}, pkce, mayCreate: true });
}

interface OneTimeRequest {
  readonly data: Metadata;
  readonly mayCreate: boolean;
}

async function sendMagicLink(
  context: AuthContext,
  request: OneTimeRequest & { readonly email: string; readonly pkce: PkceChallenge | null },
): Promise<MessageAnswer> {
  const { config, audience } = context;
  if (!config.external_email_enabled) throw new AuthError('email_provider_disabled');
  if (!config.external_email_magic_link_enabled) {
    throw new AuthError('email_provider_disabled', 'Login with magic link is disabled');
  }
  const email = parseEmail(request.email);
  const { data, mayCreate, pkce } = request;
  return answerFirst(context, { kind: 'email', address: email }, {}, async (own) => {
    const known = await findUserByEmail(own.services.database, email, audience);
    if (known === null && !mayCreate) throw new AuthError('otp_disabled');
    // With autoconfirm, a sign-up would confirm an address that nobody has proved, for whoever asks.
    const isOpen = known?.emailConfirmedAt === null && !config.mailer_autoconfirm;
    if (known === null || isOpen) {
      await signUpSilently(own, { kind: 'email', email, pkce }, data);
      // The sign-up email was sent; only a user who counts as confirmed now needs another.
      if (!config.mailer_autoconfirm) return {};
    }
    await transact(own, ['send_email'], async (tx) => {
      const user = await lockUserByEmail(tx, email, audience);
      if (user !== null) await emailSignIn(tx, 'magic_link', user, pkce);
    });
    return {};
  });
}

function signUpSilently(context: AuthContext, address: SignUpAddress, data: Metadata) {
  const request = { address, password: null, data: enteredData(context, data), id: randomUUID() };
  return runSignUp(context, request, { startSession: false });
}

/** Sends the sign-in email to a user, who is locked. @throws AuthError as `sendTokenEmail`. */
export async function emailSignIn(
  tx: Transaction,
  kind: 'magic_link' | 'recovery',
  user: User,
  pkce: PkceChallenge | null,
): Promise<void> {
  await sendTokenEmail(tx, kind, user, pkce);
  await auditUser(tx, 'user_recovery_requested', user);
}

async function sendPhoneCode(
  context: AuthContext,
  request: OneTimeRequest & { readonly phone: string; readonly channel: Channel },
): Promise<MessageAnswer> {
  const { config, audience } = context;
  if (!config.external_phone_enabled) {
    throw new AuthError('phone_provider_disabled', 'Unsupported phone provider', { status: 400 });
  }
  const phone = parsePhone(request.phone);
  const { channel, data, mayCreate } = request;
  return answerFirst<MessageAnswer>(context, { kind: 'sms', address: phone }, {}, async (own) => {
    const find = () => findUserByPhone(own.services.database, phone, audience);
    const known = await find();
    if (known === null && !mayCreate) throw new AuthError('otp_disabled');
    const isOpen = known?.phoneConfirmedAt === null && !config.sms_autoconfirm;
    if (known === null || isOpen) {
      const outcome = await signUpSilently(own, { kind: 'phone', phone, channel }, data);
      if (!config.sms_autoconfirm) return messageAnswer(outcome.kind === 'unconfirmed' ? outcome.messageId : '');
    }
    const found = await find();
    if (found === null) return {};
    const messageId = await transact(own, ['send_sms'], async (tx) => {
      const user = await lockKnownUser(tx, found);
      await auditUser(tx, 'user_recovery_requested', user, { channel });
      return sendCode(tx, { purpose: 'confirmation', user, phone, channel });
    });
    return messageAnswer(messageId);
  });
}
