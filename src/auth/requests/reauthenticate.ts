/**
 * Reauthentication: sends a code that proves the user of a session is present. Changing the password then requires it.
 */
import { sendCode } from '../messages/send-phone-code.ts';
import { sendTokenEmail } from '../messages/send-token.ts';
import { AuthError } from '../model/auth-error.ts';
import type { User } from '../model/user.ts';
import { type AuthContext, transact } from '../steps/auth-context.ts';
import { type MessageAnswer, messageAnswer } from '../steps/message-answer.ts';
import { auditUser } from '../store/audit.ts';
import { lockKnownUser } from '../store/users.ts';

/** `GET /reauthenticate`: sends the code. */
export async function reauthenticate(context: AuthContext, asking: User): Promise<MessageAnswer> {
  const messageId = await transact(context, ['send_email', 'send_sms'], async (tx) => {
    const user = await lockKnownUser(tx, asking);
    assertReachable(user);
    await auditUser(tx, 'user_reauthenticate_requested', user);
    if (user.email === null) {
      const phone = user.phone ?? '';
      return sendCode(tx, { purpose: 'reauthentication', user, phone, channel: 'sms' });
    }
    await sendTokenEmail(tx, 'reauthentication', user);
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
