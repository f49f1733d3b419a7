/**
 * One attempt at an email of the outbox, and what becomes of the email.
 *
 * One that does not get through is tried again, after longer and longer pauses, until it expires. It is given up at once where
 * the server does not want this very email. Both are in the log, with kind and user, never with address or content.
 */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import { HookError } from '../../hooks/hook-error.ts';
import type { Hooks } from '../../hooks/hooks.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Observe } from '../../shared/observation.ts';
import { handToHook, isHookEmail } from '../hook-email.ts';
import { EmailError } from '../transport/email-error.ts';
import type { Mailer } from '../transport/mailer.ts';
import { type ClaimedEmail, postponeEmail, removeEmail } from './outbox.ts';

/** What an attempt works with. */
export interface SendingParts {
  /** Connections that no waiting request holds. */
  readonly database: Queryable;
  readonly mailer: Pick<Mailer, 'deliver'>;
  readonly hooks: Hooks;
  readonly clock: Clock;
  readonly observe: Observe;
}

const firstPauseMs = 10_000;
const longestPauseMs = 3_600_000;

/** Nobody can change what they say but by writing another email. */
const unwanted: readonly EmailError['code'][] = ['recipient_refused', 'message_refused'];

/** Sends it. Whoever dies between sending and removing leaves it to be sent again: at least once. */
export async function sendQueued(
  parts: SendingParts,
  config: AuthConfig,
  email: ClaimedEmail,
): Promise<'gone' | 'waiting'> {
  const { database, clock } = parts;
  if (clock.now() >= email.expiresAt) return giveUp(parts, email, 'it has expired');
  try {
    await hand(parts, config, email);
  } catch (error) {
    return retryLater(parts, email, error);
  }
  await removeEmail(database, email);
  return 'gone';
}

/** To whom it was meant for when it was stored. */
async function hand({ mailer, hooks }: SendingParts, config: AuthConfig, { message }: ClaimedEmail): Promise<void> {
  if (!isHookEmail(message)) return mailer.deliver(config, message);
  if (config.hook_send_email_enabled) return handToHook(hooks, config, message);
  throw new EmailError('message_refused', 'The hook send_email, which was to send it, is off by now.');
}

async function retryLater(parts: SendingParts, email: ClaimedEmail, error: unknown): Promise<'gone' | 'waiting'> {
  const reason = describe(error);
  const dueAt = parts.clock.now() + pauseMs(email.attempts);
  if (isUnwanted(error) || dueAt >= email.expiresAt) return giveUp(parts, email, reason);
  await postponeEmail(parts.database, email, dueAt);
  parts.observe({ kind: 'email_delayed', ...logged(email), reason });
  return 'waiting';
}

/** A hook without a reason of ours has refused, as it may. */
function isUnwanted(error: unknown): boolean {
  if (error instanceof HookError) return error.reason === null;
  return error instanceof EmailError && unwanted.includes(error.code);
}

function describe(error: unknown): string {
  if (error instanceof HookError)
    return error.reason === null ? 'the hook refused it' : `the hook failed: ${error.reason}`;
  return error instanceof EmailError ? error.message : 'an unexpected error';
}

async function giveUp({ database, observe }: SendingParts, email: ClaimedEmail, reason: string): Promise<'gone'> {
  await removeEmail(database, email);
  observe({ kind: 'email_given_up', ...logged(email), reason });
  return 'gone';
}

/** After the first attempt 10 s, then twice as long each time, up to an hour. */
function pauseMs(attempts: number): number {
  return Math.min(longestPauseMs, firstPauseMs * 2 ** (attempts - 1));
}

function logged({ message, userId, attempts }: ClaimedEmail) {
  return { email: message.kind, userId, attempts };
}
