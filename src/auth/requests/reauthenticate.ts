/**
 * Proof that the user who has a session is still there: a code, which the change of the password then asks for.
 */
import type { Queryable } from '../../postgres/system/queryable.ts';
import { lockKnownUser } from '../accounts/lock-known-user.ts';
import { AuthError } from '../auth-error.ts';
import { sendCode } from '../messages/send-code.ts';
import { assertMailNotTooFrequent, sendTokens } from '../messages/send-token.ts';
import { type AuthContext, nowOf, transact } from '../steps/auth-context.ts';
import { takeGuesses } from '../steps/guesses.ts';
import { userActor, writeAudit } from '../store/audit.ts';
import { consumeToken, emailTokenSeconds, presentCode, smsTokenSeconds } from '../store/one-time-tokens.ts';
import type { User } from '../user.ts';
import { type MessageAnswer, messageAnswer } from './sign-in-one-time.ts';

/** `GET /reauthenticate`: sends the code. */
export async function reauthenticate(context: AuthContext, asking: User): Promise<MessageAnswer> {
  const messageId = await transact(context, ['send_email', 'send_sms'], async (session) => {
    const user = await lockKnownUser(session, asking);
    assertReachable(user);
    const event = { action: 'user_reauthenticate_requested', actor: userActor(user) } as const;
    await writeAudit(session, event, context.config, context.services);
    if (user.email === null) {
      const phone = user.phone ?? '';
      return sendCode(session, context, { purpose: 'reauthentication', user, phone, channel: 'sms' });
    }
    assertMailNotTooFrequent(context, user.reauthenticationSentAt);
    const mail = { kind: 'reauthentication', user, to: user.email, isPkce: false } as const;
    await sendTokens(session, context, { ...mail, tokenType: 'reauthentication_token' });
    return '';
  });
  return messageAnswer(messageId);
}

function assertReachable(user: User): void {
  if (user.email === null && user.phone === null) {
    const message = 'Reauthentication requires the user to have an email or a phone number';
    throw new AuthError('validation_failed', message);
  }
  if (user.email !== null && user.emailConfirmedAt === null) {
    throw new AuthError('email_not_confirmed', 'Please verify your email first.', { status: 422 });
  }
  if (user.email === null && user.phoneConfirmedAt === null) {
    throw new AuthError('phone_not_confirmed', 'Please verify your phone first.', { status: 422 });
  }
}

/** Uses up the code that was sent. @throws AuthError `reauthentication_not_valid` */
export async function useNonce(session: Queryable, context: AuthContext, user: User, nonce: string): Promise<void> {
  const lifetimeSeconds = user.email === null ? smsTokenSeconds(context.config) : emailTokenSeconds(context.config);
  const types = ['reauthentication_token'] as const;
  const isDead = await takeGuesses(session, context, { userId: user.id }, types);
  const check = { types, now: nowOf(context), lifetimeSeconds, isDead };
  const given = { userId: user.id, address: user.email ?? user.phone ?? '', code: nonce };
  try {
    await consumeToken(session, await presentCode(session, given, check), nowOf(context));
  } catch (error) {
    if (!(error instanceof AuthError) || error.code !== 'otp_expired') throw error;
    throw new AuthError('reauthentication_not_valid', null, { cause: error });
  }
}
