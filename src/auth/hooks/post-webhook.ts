/**
 * Sends signed JSON to a webhook and waits for the answer, all attempts within one time limit.
 *
 * Retries if the server is unreachable, or answers 429 or 503 with Retry-After. Every attempt has the same id, so
 * receivers can detect repetitions. Signs with node:crypto: the library `standardwebhooks`, which the tests verify with,
 * hashes in JavaScript.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '../../shared/clock.ts';
import type { Egress } from '../../shared/egress/egress.ts';
import { type PostAnswer, PostError, postLimited } from '../../shared/egress/post-limited.ts';
import { HookError } from './hook-error.ts';

/** Default limits of webhooks, as in Supabase Auth. */
export const webhookLimits = {
  /** For all attempts together. */
  timeoutMs: 5000,
  attempts: 3,
  /** Pause between two attempts, if the receiver sets none. */
  pauseMs: 2000,
  /** Limit of the payload, the same as for requests to us. */
  maxRequestBytes: 1_048_576,
  maxAnswerBytes: 204_800,
};

/** Limits of webhooks. */
export type WebhookLimits = Readonly<typeof webhookLimits>;

interface WebhookMessage {
  readonly webhook: { readonly url: string; readonly keys: readonly Buffer[] };
  readonly payload: unknown;
  /** A new one without it. */
  readonly id?: string | undefined;
  readonly clock: Clock;
  readonly limits: WebhookLimits;
  readonly egress: Egress;
}

/** An answer with any status except those that cause a retry. */
export interface WebhookAnswer extends PostAnswer {
  readonly id: string;
}

/** By which receivers know a repeated request. */
export function newWebhookId(): string {
  return `msg_${randomUUID()}`;
}

/** @throws HookError `hook_timeout`, `hook_timeout_after_retry`, `hook_payload_over_size_limit`, `unexpected_failure` */
export async function postWebhook(message: WebhookMessage): Promise<WebhookAnswer> {
  const { webhook, payload, id = newWebhookId(), clock, limits, egress } = message;
  const body = JSON.stringify(payload);
  if (Buffer.byteLength(body) > limits.maxRequestBytes) throw tooLarge('payload', limits.maxRequestBytes);
  const signal = AbortSignal.timeout(limits.timeoutMs);
  const endsAt = performance.now() + limits.timeoutMs;
  for (let attempt = 1; ; attempt++) {
    const timestamp = Math.floor(clock.now() / 1000);
    const headers = { 'content-type': 'application/json', ...signWebhook({ id, timestamp, body }, webhook.keys) };
    const fetch = egress.fetchFor(webhook.url);
    const request = { headers, body, signal, maxBytes: limits.maxAnswerBytes, fetch };
    const result = await postLimited(webhook.url, request).catch((error: unknown) => toFailure(error, limits));
    if (result instanceof HookError) throw result;
    const pauseMs = pauseBeforeNext(result, limits.pauseMs, clock);
    if (pauseMs === null && !(result instanceof PostError)) return { ...result, id };
    if (attempt === limits.attempts || performance.now() + (pauseMs ?? 0) >= endsAt) throw exhausted(result, attempt);
    await wait(pauseMs ?? 0);
  }
}

/** A `HookError` is final; a `PostError` may be retried. */
function toFailure(error: unknown, limits: WebhookLimits): HookError | PostError {
  if (!(error instanceof PostError)) throw error;
  switch (error.failure) {
    case 'timed_out': {
      const message = `Failed to reach hook within maximum time of ${limits.timeoutMs / 1000} seconds`;
      return new HookError('hook_timeout', message, { reason: `no answer within ${limits.timeoutMs} ms` });
    }
    case 'too_large':
      return tooLarge('answer', limits.maxAnswerBytes);
    case 'unreachable':
      return error;
  }
}

/** Null if the answer is final. */
function pauseBeforeNext(result: PostAnswer | PostError, defaultMs: number, clock: Clock): number | null {
  if (result instanceof PostError) return defaultMs;
  const retryAfter = result.headers.get('retry-after');
  if (![429, 503].includes(result.status) || retryAfter === null) return null;
  if (/^[0-9]{1,9}$/.test(retryAfter)) return Number(retryAfter) * 1000;
  const at = Date.parse(retryAfter);
  return Number.isNaN(at) ? defaultMs : Math.max(0, at - clock.now());
}

function exhausted(result: PostAnswer | PostError, attempts: number): HookError {
  const what = result instanceof PostError ? 'it cannot be reached' : `it answered ${result.status}`;
  const reason = `${what}, after attempt ${attempts}`;
  return new HookError('hook_timeout_after_retry', 'Failed to reach hook after maximum retries', { reason });
}

function tooLarge(what: 'payload' | 'answer', maxBytes: number): HookError {
  const reason = `the ${what} has more than ${maxBytes} bytes`;
  const message = `Payload size exceeded size limit of ${maxBytes} bytes`;
  return new HookError('hook_payload_over_size_limit', message, { reason });
}

/** The signature headers, one signature per key. `timestamp` is in seconds since the epoch. */
function signWebhook(
  { id, timestamp, body }: { readonly id: string; readonly timestamp: number; readonly body: string },
  keys: readonly Buffer[],
): Readonly<Record<string, string>> {
  const content = `${id}.${timestamp}.${body}`;
  const signatures = keys.map((key) => `v1,${createHmac('sha256', key).update(content).digest('base64')}`);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  };
}
