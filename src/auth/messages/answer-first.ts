/**
 * Requests that send a message to an address which may have no account.
 *
 * Where the configuration hides accounts, the answer is given first and depends on the request alone: the work that
 * finds out whether there is an account goes on in the background. So no status, body, error or time tells.
 */
import { type AuthContext, limiterOf, type Transaction } from '../steps/auth-context.ts';
import { assertFirstRequest, assertSendAllowed, type RateLimiter } from '../store/rate-limit.ts';
import { findUserByPhone } from '../store/users.ts';
import { assertNumberAllowed } from './number-limit.ts';
import { assertAuthorized } from './send-token.ts';

/** Where a message is asked for. */
export interface MessageRequest {
  readonly kind: 'email' | 'sms';
  /** In lower case, or digits. */
  readonly address: string;
}

/**
 * Does the work and returns its answer; with `security_hide_accounts`, returns `hidden` and works in the background.
 *
 * @param work Gets a context whose messages are counted already.
 * @throws AuthError as `work`; where accounts are hidden, as `countMessage`.
 */
export async function answerFirst<T>(
  context: AuthContext,
  asked: MessageRequest,
  hidden: T,
  work: (context: AuthContext) => Promise<T>,
): Promise<T> {
  if (!context.config.security_hide_accounts) return work(context);
  await countMessage(context, asked);
  context.services.background.run(() => work({ ...context, isCounted: true }));
  return hidden;
}

/**
 * Counts a message whether or not it is sent, so that limits do not reveal whether there is an account.
 *
 * @param countsItself A message follows that takes part in the limit on all messages.
 * @throws AuthError `over_email_send_rate_limit`, `over_sms_send_rate_limit`, `email_address_not_authorized`
 */
export async function countMessage(context: AuthContext, asked: MessageRequest, countsItself = false): Promise<void> {
  const { services, config } = context;
  const { kind, address } = asked;
  if (kind === 'email') assertAuthorized(context, address);
  await assertFirst(context, services.limiter, asked, 'message');
  if (kind === 'sms') {
    const { database } = services;
    const owner = async () => (await findUserByPhone(database, address, context.audience))?.id ?? null;
    await assertNumberAllowed(context, database, { phone: address, owner, pauseSeconds: config.sms_max_frequency });
  }
  const limit = kind === 'email' ? config.rate_limit_email_sent : config.rate_limit_sms_sent;
  if (!countsItself) await assertSendAllowed(services.limiter, kind, limit);
}

/**
 * Refuses the second request within the configured pause, also where the first one found nothing to send.
 *
 * @param tx Counts in the transaction: one that failed may be sent again at once.
 * @param name The request.
 * @throws AuthError `over_email_send_rate_limit`, `over_sms_send_rate_limit`
 */
export async function assertFirstAsked(tx: Transaction, asked: MessageRequest, name: string): Promise<void> {
  if (!tx.isCounted) await assertFirst(tx, limiterOf(tx), asked, name);
}

function assertFirst(
  { config }: AuthContext,
  limiter: RateLimiter,
  asked: MessageRequest,
  name: string,
): Promise<void> {
  const pauseSeconds = asked.kind === 'email' ? config.smtp_max_frequency : config.sms_max_frequency;
  return assertFirstRequest(limiter, { ...asked, name }, pauseSeconds);
}
