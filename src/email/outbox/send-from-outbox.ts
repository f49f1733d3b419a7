/**
 * One attempt to send an email of the outbox, and its result.
 *
 * A failed email is retried after growing pauses until it expires, or given up at once if the server refuses this
 * email. Both are logged, with kind and user, never with address or content.
 */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import { backoff } from '../../shared/backoff.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Observe } from '../../shared/observation.ts';
import { withSpan } from '../../shared/trace/current-span.ts';
import type { Tracer } from '../../shared/trace/span.ts';
import { readTraceParent } from '../../shared/trace/trace-context.ts';
import { type HookEmail, isHookEmail } from '../message/hook-email.ts';
import { EmailError } from '../transport/email-error.ts';
import type { Mailer } from '../transport/mailer.ts';
import { noReceipt, type Receipt } from '../transport/transport.ts';
import type { DeliveryOutcome } from './deliveries.ts';
import { type ClaimedEmail, postponeEmail } from './outbox.ts';
import { suppressedAnswer } from './suppressed.ts';

/** Sends an email through the hook `send_email`. @throws EmailError */
export type SendByHook = (config: AuthConfig, email: HookEmail) => Promise<void>;

/** What an attempt needs. */
export interface SendingParts {
  /** Connections that waiting requests do not hold. */
  readonly database: Queryable;
  readonly mailer: Pick<Mailer, 'deliver'>;
  readonly sendByHook: SendByHook;
  readonly clock: Clock;
  readonly observe: Observe;
  readonly tracer: Tracer;
  /** Removes an email that is sent or given up, and notes the outcome. */
  readonly finish: (email: ClaimedEmail, outcome: DeliveryOutcome) => Promise<void>;
}

/** 10 s after the first attempt, up to an hour. */
const pauseAfter = backoff(10_000, 3_600_000);

/** Retrying cannot help: only a different email could succeed. */
const unwanted: readonly EmailError['code'][] = ['recipient_refused', 'message_refused'];

/** `deferred`: for its recipient; the server may take others. `waiting`: the server takes none, as it seems. */
type End = 'gone' | 'deferred' | 'waiting';

/** Sends it. If the process dies between sending and removing, it is sent again: at least once. */
export async function sendFromOutbox(parts: SendingParts, config: AuthConfig, email: ClaimedEmail): Promise<End> {
  const { kind, traceparent } = email.message;
  // A trace of its own: an attempt may be hours behind the request.
  const span = parts.tracer.begin(`send email ${kind}`, 'consumer', { link: readTraceParent({ traceparent }) });
  const sent = await withSpan(span, () => sendOne(parts, config, email));
  span.end({ facts: { 'pgreflect.email.attempt': email.attempts }, error: sent === 'gone' ? undefined : sent });
  return sent;
}

async function sendOne(parts: SendingParts, config: AuthConfig, email: ClaimedEmail): Promise<End> {
  if (parts.clock.now() >= email.expiresAt) return giveUp(parts, email, 'it has expired');
  if (email.isSuppressed && config.mailer_suppress_bounced) {
    return end(parts, email, { state: 'suppressed', answer: suppressedAnswer });
  }
  let receipt: Receipt;
  try {
    receipt = await hand(parts, config, email);
  } catch (error) {
    return retryLater(parts, email, error);
  }
  return end(parts, email, receipt);
}

async function end(parts: SendingParts, email: ClaimedEmail, outcome: DeliveryOutcome): Promise<'gone'> {
  await parts.finish(email, outcome);
  parts.observe({ kind: 'email', email: email.message.kind, state: outcome.state });
  return 'gone';
}

/** Sends through the channel that was chosen when it was stored. */
async function hand(
  { mailer, sendByHook }: SendingParts,
  config: AuthConfig,
  { message }: ClaimedEmail,
): Promise<Receipt> {
  if (!isHookEmail(message)) return (await mailer.deliver(config, message))[0] ?? noReceipt;
  if (config.hook_send_email_enabled) {
    await sendByHook(config, message);
    return noReceipt;
  }
  throw new EmailError('message_refused', 'The hook send_email, which was to send it, is off by now.');
}

async function retryLater(parts: SendingParts, email: ClaimedEmail, error: unknown): Promise<End> {
  const reason = describe(error);
  const answer = (error instanceof EmailError && error.answer) || reason;
  const now = parts.clock.now();
  const dueAt = now + pauseAfter(email.attempts);
  if (isUnwanted(error) || dueAt >= email.expiresAt) return giveUp(parts, email, reason, answer);
  await postponeEmail(parts.database, email, answer, { dueAt, now });
  parts.observe({ kind: 'email', email: email.message.kind, state: 'deferred' });
  parts.observe({ kind: 'email_delayed', ...logged(email), reason });
  return error instanceof EmailError && error.code === 'recipient_later' ? 'deferred' : 'waiting';
}

function isUnwanted(error: unknown): boolean {
  return error instanceof EmailError && unwanted.includes(error.code);
}

function describe(error: unknown): string {
  return error instanceof EmailError ? error.message : 'an unexpected error';
}

/** @param answer For the list of deliveries. */
async function giveUp(parts: SendingParts, email: ClaimedEmail, reason: string, answer = reason): Promise<'gone'> {
  await end(parts, email, { state: 'failed', answer });
  parts.observe({ kind: 'email_given_up', ...logged(email), reason });
  return 'gone';
}

function logged({ message, userId, attempts }: ClaimedEmail) {
  return { email: message.kind, userId, attempts };
}
