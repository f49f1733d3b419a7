/**
 * Deliveries of emails and suppressed addresses, as the management API has them.
 */
import { askProject } from './session.ts';

/** States of a delivery, in the order in which an email passes them. */
export const deliveryStates = ['queued', 'deferred', 'sent', 'failed', 'suppressed'] as const;

/** What became of an email. */
export interface Delivery {
  readonly id: string;
  readonly kind: string;
  /** Null: a test email. */
  readonly userId: string | null;
  readonly recipient: string | null;
  readonly locale: string | null;
  readonly state: (typeof deliveryStates)[number];
  readonly attempts: number;
  readonly answer: string | null;
  readonly event: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** An address that gets no emails. */
export interface SuppressedAddress {
  readonly id: string;
  readonly recipient: string | null;
  readonly userId: string | null;
  readonly reason: string;
  readonly createdAt: string;
  readonly expiresAt: string;
}

/** `password_changed_notification` -> `Password changed notification`. */
export function kindTitle(kind: string): string {
  const words = kind.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Reads deliveries, newest first. @param query As the API takes it. */
export async function listDeliveries(query: string, signal: AbortSignal): Promise<readonly Delivery[]> {
  return (await askProject<readonly Delivery[]>(`emails/deliveries?${query}`, { signal })).body;
}

/** Reads the suppressed addresses, newest first. */
export async function listSuppressed(signal: AbortSignal): Promise<readonly SuppressedAddress[]> {
  return (await askProject<readonly SuppressedAddress[]>('emails/suppressed', { signal })).body;
}

/** Lets an address get emails again. */
export async function liftSuppressed(id: string): Promise<void> {
  await askProject(`emails/suppressed/${id}`, { method: 'DELETE' });
}
