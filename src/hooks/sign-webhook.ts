/**
 * Signs requests by Standard Webhooks: a receiver who has the secret knows that a request is ours, whole, and not an old one.
 */
import { createHmac } from 'node:crypto';

/** What is signed. */
export interface WebhookContent {
  /** The same for every attempt at one message. */
  readonly id: string;
  /** Seconds since the epoch. */
  readonly timestamp: number;
  readonly body: string;
}

/** The headers that carry the signatures, one for each key. */
export function signWebhook(
  { id, timestamp, body }: WebhookContent,
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
