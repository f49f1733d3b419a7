/**
 * Makes one-time tokens, stores them in place of the older ones and sends their emails, all inside the transaction of
 * the request. If an email cannot be sent, nothing is stored and the older tokens stay valid. With the outbox, the emails
 * are stored as well and sent after the commit.
 */
import { emailKinds } from '../../config/auth/email-kinds.ts';
import { languagesOf } from '../../email/message/choose-texts.ts';
import { buildConfirmationUrl } from '../../email/message/confirmation-url.ts';
import type { EmailMessage } from '../../email/message/message.ts';
import { isAway } from '../../postgres/database-error.ts';
import type { Time } from '../../shared/times.ts';
import { AuthError } from '../model/auth-error.ts';
import type { User } from '../model/user.ts';
import { takeOfAccount } from '../steps/account-limit.ts';
import { type AuthContext, type Transaction, timeLeftMs } from '../steps/auth-context.ts';
import { createFlow, type EmailFlow, type PkceChallenge } from '../store/flows.ts';
import { emailTokenSeconds, hasToken, sentAtOf } from '../store/one-time-tokens.ts';
import { assertSendAllowed, countedRecipient, findTooFrequent } from '../store/rate-limit.ts';
import { buildConfigured, buildEmail } from './build-email.ts';
import { type MadeToken, makeToken, type TokenEmail } from './make-token.ts';
import { sendTokensByHook } from './send-by-hook.ts';
import { sendNow } from './send-now.ts';

/**
 * Stores tokens and sends their emails, which are of one kind. Lock the user first, so that frequency limits see the
 * email of a concurrent request.
 *
 * An email to an address that got too many is not sent, and the request succeeds as if it was. An older token for the
 * address stays valid then, with its flow, because its email is the last one that arrived.
 *
 * @param flow Stored with the tokens, whose links lead to it; null without the PKCE flow.
 * @throws AuthError `email_address_not_authorized`, `over_email_send_rate_limit`, `unexpected_failure` if an email
 *   cannot be rendered or sent, and refusals of the hook `send_email`. DatabaseError if the database is away.
 */
export async function sendTokens(
  tx: Transaction,
  flow: EmailFlow | null,
  ...emails: readonly TokenEmail[]
): Promise<void> {
  const { services, config } = tx;
  for (const { to } of emails) assertAuthorized(tx, to);
  const sent: [TokenEmail, MadeToken][] = [];
  for (const email of emails) {
    if (!tx.isCounted) await assertSendAllowed(services.limiter, 'email', config.rate_limit_email_sent);
    const isAllowed = await takeEmailTo(tx, email);
    if (!isAllowed) await reportUnsent(tx, { ...email, userId: email.user.id }, usedUp('rate_limit_email_recipient'));
    if (!isAllowed && email.kind !== 'email_change' && hasToken(email.user, email.tokenType)) continue;
    const token = { userId: email.user.id, type: email.tokenType, address: email.to };
    const made = await makeToken(tx, token, { isPkce: flow !== null, isSent: isAllowed });
    if (flow !== null && email === emails[0]) await createFlow(tx, { userId: email.user.id, ...flow });
    if (isAllowed) sent.push([email, made]);
  }
  if (sent.length === 0) return;
  if (config.hook_send_email_enabled) {
    // One call has the tokens of both addresses. With one alone, the receiver would send it to the other address.
    return sent.length === emails.length ? sendTokensByHook(tx, sent) : undefined;
  }
  try {
    const messages = sent.map(([email, token]) => ({ userId: email.user.id, message: build(tx, email, token) }));
    timeLeftMs(tx);
    // Send to the mail server, or store in the outbox, which tries for as long as the tokens are valid.
    if (config.mailer_delivery === 'direct') return await sendNow(tx, messages);
    const lifetimeSeconds = emailTokenSeconds(config);
    await Promise.all(messages.map((each) => services.outbox.add(tx, { ...each, lifetimeSeconds, config })));
  } catch (error) {
    if (error instanceof AuthError || isAway(error)) throw error;
    const text = emails[0] === undefined ? null : emailKinds[emails[0].kind].failure;
    throw new AuthError('unexpected_failure', text, { cause: error });
  }
}

/** Counts an email to an address, whoever asks for it. @returns False: the address got too many. */
async function takeEmailTo(tx: Transaction, { to, user }: TokenEmail): Promise<boolean> {
  const { services, config, network } = tx;
  const limit = config.rate_limit_email_recipient;
  if (limit <= 0) return true;
  const isOwn = user.email?.toLowerCase() === to.toLowerCase();
  const use = await takeOfAccount({
    limiter: services.limiter,
    database: tx,
    network,
    owner: async () => (isOwn ? user.id : null),
    name: `email_to:${countedRecipient(to)}`,
    limit,
    windowMs: 3_600_000,
    reserve: Math.ceil(limit / 2),
  });
  return typeof use !== 'number';
}

/** Why an email beyond a limit is not sent. */
export const usedUp = (limit: 'rate_limit_email_recipient' | 'rate_limit_email_sent') => `${limit} is used up`;

/** Logs and lists an email that is not sent. */
export async function reportUnsent(
  tx: Transaction,
  { kind, userId, to }: { readonly kind: EmailMessage['kind']; readonly userId: string; readonly to: string },
  reason: string,
): Promise<void> {
  const { services, config } = tx;
  services.observe({ kind: 'email_given_up', email: kind, userId, attempts: 0, reason });
  const delivery = { kind, userId, to, messageId: null, locale: null };
  await services.outbox.note(tx, delivery, { state: 'suppressed', answer: reason }, config);
}

function build(context: AuthContext, email: TokenEmail, { code, linkToken }: MadeToken): EmailMessage {
  const { config, redirectTo, authUrl, services } = context;
  const { kind, user, to, newEmail } = email;
  const link = { authUrl, linkToken, redirectTo, recipient: { address: to, key: services.linkKeys()[0] } };
  const data = {
    to,
    email: user.email ?? '',
    userMetadata: user.userMetadata,
    languages: languagesOf(user.userMetadata, context.languages),
    redirectTo,
    token: code,
    tokenHash: linkToken,
    hasPassword: user.passwordHash !== null,
    ...(kind === 'reauthentication' ? {} : { confirmationUrl: buildConfirmationUrl(kind, config, link) }),
    ...(newEmail === undefined ? {} : { newEmail }),
  };
  // The client that signs up chose the metadata in this request, so a failing template may fail the request.
  return kind === 'confirmation' ? buildConfigured(context, kind, data) : buildEmail(context, kind, data);
}

/** What an email to the user's own address carries, and the flow that the request stores. */
const contents = {
  confirmation: { tokenType: 'confirmation_token', method: 'email/signup' },
  magic_link: { tokenType: 'recovery_token', method: 'magiclink' },
  recovery: { tokenType: 'recovery_token', method: 'recovery' },
  reauthentication: { tokenType: 'reauthentication_token', method: null },
} as const;

/**
 * Sends an email to the address of a user, who is locked.
 *
 * @param pkce Null without the PKCE flow.
 * @throws AuthError as `assertPause`, `sendTokens`.
 */
export async function sendTokenEmail(
  tx: Transaction,
  kind: keyof typeof contents,
  user: User,
  pkce: PkceChallenge | null = null,
): Promise<void> {
  // A confirmation would take the place of an invitation, whose link is kept: the address is proven by a sign-in.
  const sent = kind === 'confirmation' && isInvited(tx, user) ? 'magic_link' : kind;
  const { tokenType, method } = contents[sent];
  assertPause(tx, sentAtOf(user, tokenType));
  const flow = pkce !== null && method !== null ? { pkce, method } : null;
  await sendTokens(tx, flow, { kind: sent, user, to: user.email ?? '', tokenType });
}

/** Whether the user has an invitation that is still valid. */
function isInvited({ config, services }: AuthContext, user: User): boolean {
  const { invitedAt, confirmationSentAt } = user;
  if (invitedAt === null || confirmationSentAt === null || !hasToken(user, 'confirmation_token')) return false;
  return services.clock.now() <= confirmationSentAt + emailTokenSeconds(config) * 1000;
}

/**
 * Refuses an email if the user got one of its kind a moment ago.
 *
 * @param sentAt When the last one was sent; null for never.
 * @throws AuthError `over_email_send_rate_limit`
 */
export function assertPause({ services, config }: AuthContext, sentAt: Time | null): void {
  const refusal = findTooFrequent('email', sentAt, config.smtp_max_frequency, services.clock.now());
  if (refusal !== null) throw refusal;
}

/** @throws AuthError `email_address_not_authorized` */
export function assertAuthorized({ config }: AuthContext, to: string): void {
  if (isAuthorized(to, config.external_email_authorized_addresses)) return;
  const message = `Email address "${to}" cannot be used as it is not authorized`;
  throw new AuthError('email_address_not_authorized', message);
}

/** False if a list is configured and the address is not on it. */
export function isAuthorized(address: string, list: string): boolean {
  const plain = (text: string) =>
    text
      .trim()
      .toLowerCase()
      .replace(/^([^+]*)\+[^@]*@/, '$1@');
  const allowed = list
    .split(',')
    .map(plain)
    .filter((entry) => entry !== '');
  return allowed.length === 0 || allowed.includes(plain(address));
}
