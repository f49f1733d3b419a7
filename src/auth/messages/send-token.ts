/**
 * Makes one-time tokens, stores them in place of the older ones and hands over the emails that carry them, all inside the
 * transaction of the request: where an email cannot be sent nothing is stored, and the older tokens stay good. Where the
 * configuration has a queue, the emails are stored as well, and sent after the commit.
 */

import { buildConfirmationUrl } from '../../email/confirmation-url.ts';
import { emailKinds } from '../../email/email-kind.ts';
import type { EmailMessage } from '../../email/message.ts';
import { AuthError } from '../auth-error.ts';
import { type AuthContext, type Transaction, timeLeftMs } from '../steps/auth-context.ts';
import { createFlow, type PkceChallenge } from '../store/flows.ts';
import { emailTokenSeconds, sentAtOf } from '../store/one-time-tokens.ts';
import { assertSendAllowed, findTooFrequent } from '../store/rate-limit.ts';
import type { Time } from '../times.ts';
import type { User } from '../user.ts';
import { buildConfigured, buildEmail } from './build-email.ts';
import { type MadeToken, makeToken, type TokenMail } from './make-token.ts';
import { sendTokensByHook } from './send-by-hook.ts';

/**
 * Stores tokens and sends their emails, which are of one kind. The user should be locked, so that frequency limits see what
 * was sent a moment ago.
 *
 * @throws AuthError `email_address_not_authorized`, `over_email_send_rate_limit`, `unexpected_failure` where one cannot be
 *   rendered or sent, and what the hook `send_email` refuses with where that sends them.
 */
export async function sendTokens(tx: Transaction, ...mails: readonly TokenMail[]): Promise<void> {
  const { services, config } = tx;
  const stranger = mails.find(({ to }) => !isAuthorized(to, config.external_email_authorized_addresses));
  if (stranger !== undefined) {
    const message = `Email address "${stranger.to}" cannot be used as it is not authorized`;
    throw new AuthError('email_address_not_authorized', message);
  }
  const sent: [TokenMail, MadeToken][] = [];
  for (const mail of mails) {
    await assertSendAllowed(services.limiter, 'email', config.rate_limit_email_sent);
    const token = { userId: mail.user.id, type: mail.tokenType, address: mail.to };
    sent.push([mail, await makeToken(tx, token, mail.isPkce)]);
  }
  if (config.hook_send_email_enabled) return sendTokensByHook(tx, sent);
  try {
    const emails = sent.map(([mail, token]) => ({ userId: mail.user.id, message: build(tx, mail, token) }));
    timeLeftMs(tx);
    // To the mail server, or to the outbox, from where they go while their tokens are good.
    if (config.mailer_delivery === 'direct') {
      return await services.mailer.deliver(config, ...emails.map(({ message }) => message));
    }
    const lifetimeSeconds = emailTokenSeconds(config);
    await Promise.all(emails.map((email) => services.outbox.add(tx, { ...email, lifetimeSeconds })));
  } catch (error) {
    if (error instanceof AuthError) throw error;
    const text = mails[0] === undefined ? null : emailKinds[mails[0].kind].failure;
    throw new AuthError('unexpected_failure', text, { cause: error });
  }
}

function build(context: AuthContext, mail: TokenMail, { code, tokenHash }: MadeToken): EmailMessage {
  const { config, redirectTo, authUrl } = context;
  const { kind, user, to, newEmail } = mail;
  const data = {
    to,
    email: user.email ?? '',
    userMetadata: user.userMetadata,
    redirectTo,
    token: code,
    tokenHash,
    ...(kind === 'reauthentication'
      ? {}
      : { confirmationUrl: buildConfirmationUrl(kind, config, { authUrl, tokenHash, redirectTo }) }),
    ...(newEmail === undefined ? {} : { newEmail }),
  };
  // Whoever signs up has chosen the metadata in this very request.
  return kind === 'confirmation' ? buildConfigured(context, kind, data) : buildEmail(context, kind, data);
}

/** What an email carries where it goes to the address of the user, and the flow that its request leaves. */
const mails = {
  confirmation: { tokenType: 'confirmation_token', method: 'email/signup' },
  magic_link: { tokenType: 'recovery_token', method: 'magiclink' },
  recovery: { tokenType: 'recovery_token', method: 'recovery' },
  reauthentication: { tokenType: 'reauthentication_token', method: null },
} as const;

/**
 * Sends an email to the address of a user, who is locked, unless one of its kind was sent a moment ago.
 *
 * @param options `pkce` is null without the PKCE flow. `isTold`: whoever asks has a session, or has signed in with a provider,
 *   and may know that there is an account.
 * @returns Whether it was sent.
 * @throws AuthError as `isMailDue`, `sendTokens`.
 */
export async function sendTokenMail(
  tx: Transaction,
  kind: keyof typeof mails,
  user: User,
  { pkce = null, isTold = false }: { readonly pkce?: PkceChallenge | null; readonly isTold?: boolean },
): Promise<boolean> {
  const { tokenType, method } = mails[kind];
  if (!(await isMailDue(tx, sentAtOf(user, tokenType), isTold))) return false;
  if (pkce !== null && method !== null) await createFlow(tx, { userId: user.id, pkce, method });
  await sendTokens(tx, { kind, user, to: user.email ?? '', tokenType, isPkce: pkce !== null });
  return true;
}

/**
 * Whether an email of a kind may be sent again. Whoever must not know of an account is not told that one was sent a moment ago:
 * it counts as sent once more, as it does for an address without an account, so that the limit on all emails refuses both alike.
 *
 * @param sentAt When the last one was sent; undefined: there is no account.
 * @throws AuthError `over_email_send_rate_limit`
 */
export async function isMailDue(
  { services, config }: AuthContext,
  sentAt: Time | null | undefined,
  isTold: boolean = false,
): Promise<boolean> {
  const frequency = config.smtp_max_frequency;
  const refusal = sentAt === undefined ? null : findTooFrequent('email', sentAt, frequency, services.clock.now());
  if (sentAt !== undefined && refusal === null) return true;
  if (refusal !== null && isTold) throw refusal;
  await assertSendAllowed(services.limiter, 'email', config.rate_limit_email_sent);
  return false;
}

/** False where there is a list of addresses and this one is not on it. */
export function isAuthorized(address: string, list: string): boolean {
  const plain = (text: string) =>
    text
      .trim()
      .toLowerCase()
      .replace(/\+[^@]*@/, '@');
  const allowed = list
    .split(',')
    .map(plain)
    .filter((entry) => entry !== '');
  return allowed.length === 0 || allowed.includes(plain(address));
}
