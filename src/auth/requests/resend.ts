/** Sends a message again with a new token. The older token becomes invalid. */
import { about, text } from '../../shared/schema.ts';
import { isBare } from '../accounts/claim-account.ts';
import { askEmailChange } from '../accounts/email-change.ts';
import { answerFirst, assertFirstAsked } from '../messages/answer-first.ts';
import { sendCode } from '../messages/send-phone-code.ts';
import { sendTokenEmail } from '../messages/send-token.ts';
import { parseEmail, parsePhone } from '../model/addresses.ts';
import { AuthError } from '../model/auth-error.ts';
import type { User } from '../model/user.ts';
import { type AuthContext, type Transaction, transact } from '../steps/auth-context.ts';
import { type MessageAnswer, messageAnswer } from '../steps/message-answer.ts';
import { bodySchema, needed, readFields } from '../steps/request-body.ts';
import { auditUser } from '../store/audit.ts';
import { type PkceChallenge, parsePkce } from '../store/flows.ts';
import { hasAsker } from '../store/pending-changes.ts';
import { findConfirmation, isOfNetwork, noteOther, readUnverifiedInput } from '../store/unverified-input.ts';
import { findUserByEmail, findUserByPhone, lockKnownUser } from '../store/users.ts';

const types = ['signup', 'email_change', 'sms', 'phone_change'] as const;

interface ResendRequest {
  readonly type: (typeof types)[number];
  /** Email address or digits. */
  readonly address: string;
  readonly pkce: PkceChallenge | null;
}

/** `POST /resend`. The answer is the same if there is nothing to send. */
export async function resendMessage(context: AuthContext, body: unknown): Promise<MessageAnswer> {
  const request = readResendRequest(context, body);
  const { type, address } = request;
  const isEmail = type === 'signup' || type === 'email_change';
  const asked = { kind: isEmail ? 'email' : 'sms', address } as const;
  const find = isEmail ? findUserByEmail : findUserByPhone;
  const sendAgain = async (tx: Transaction) => {
    await assertFirstAsked(tx, asked, `resend ${type}`);
    const found = await find(tx, address, context.audience);
    const user = found === null ? null : await lockKnownUser(tx, found);
    return messageAnswer(user !== null && (await isPending(tx, user, type)) ? await send(tx, user, request) : '');
  };
  return answerFirst(context, asked, {}, (own) => transact(own, ['send_email', 'send_sms'], sendAgain));
}

/** Fields of the body. */
export const resendBody = bodySchema({
  type: needed(about(text, { enum: types })), email: text, phone: text, code_challenge: text, code_challenge_method: text,
}); // biome-ignore format: a list of fields

function readResendRequest({ config }: AuthContext, body: unknown): ResendRequest {
  const fields = readFields(body, resendBody);
  const { email, phone } = fields;
  const type = types.find((name) => name === fields.type);
  const refuse = (message: string) => new AuthError('validation_failed', message);
  if (type === undefined) throw refuse('Missing one of these types: signup, email_change, sms, phone_change');
  if (type === 'signup' && !email) throw refuse('Type provided requires an email address');
  if (type === 'sms' && !phone) throw refuse('Type provided requires a phone number');
  if (email && phone) throw refuse('Only an email address or phone number should be provided.');
  const pkce = parsePkce(fields.code_challenge, fields.code_challenge_method);
  if (email) {
    if (!config.external_email_enabled) throw new AuthError('email_provider_disabled', null, { status: 400 });
    if (type === 'phone_change') throw refuse('Type provided requires a phone number');
    return { type, address: parseEmail(email), pkce };
  }
  if (!phone) throw refuse('Missing email address or phone number');
  if (!config.external_phone_enabled) throw new AuthError('phone_provider_disabled', null, { status: 400 });
  if (type === 'email_change') throw refuse('Type provided requires an email address');
  return { type, address: parsePhone(phone), pkce };
}

function isPending(tx: Transaction, user: User, type: ResendRequest['type']): boolean | Promise<boolean> {
  switch (type) {
    case 'signup':
      return user.emailConfirmedAt === null;
    case 'sms':
      return user.phoneConfirmedAt === null;
    case 'email_change':
      return user.emailChange !== '' && hasAsker(tx, user.id);
    case 'phone_change':
      return user.phoneChange !== '' && hasAsker(tx, user.id);
  }
}

/** @returns The sender's id of a text message; empty for none. */
async function send(tx: Transaction, user: User, { type, pkce }: ResendRequest): Promise<string> {
  const channel = 'sms';
  switch (type) {
    case 'signup': {
      await auditUser(tx, 'user_confirmation_requested', user);
      const before = await findConfirmation(tx, user.id);
      await sendTokenEmail(tx, 'confirmation', user, pkce);
      await noteResent(tx, user, before);
      return '';
    }
    case 'email_change':
      await askEmailChange(tx, user, {
        newEmail: user.emailChange,
        pkce,
      });
      return '';
    case 'sms': {
      await auditUser(tx, 'user_recovery_requested', user);
      const messageId = await sendCode(tx, { purpose: 'confirmation', user, phone: user.phone ?? '', channel });
      await noteResent(tx, user, null);
      return messageId;
    }
    case 'phone_change':
      return sendCode(tx, { purpose: 'phone_change', user, phone: user.phoneChange, channel });
  }
}

/**
 * Anybody may ask for a confirmation again. Unless the request comes from the network of the sign-up, it proves the
 * address alone. A sign-up without a password has nothing that would let its author in.
 */
async function noteResent(tx: Transaction, user: User, before: string | null): Promise<void> {
  if (tx.config.security_link_keeps_password && (await isOfNetwork(tx, user.id, tx.network))) return;
  if (user.passwordHash === null && (await readUnverifiedInput(tx, user.id)) === null && (await isBare(tx, user)))
    return;
  await noteOther(tx, user.id, before, null);
}
