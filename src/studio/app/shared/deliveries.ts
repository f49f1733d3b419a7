/** Deliveries of emails and suppressed addresses, as the management API has them. */
import type { Delivery, SuppressedAddress } from '../../../management/deliveries/deliveries.ts';
import { askProject } from './session.ts';

/** States of a delivery, in the order in which an email passes them. */
export const deliveryStates = ['queued', 'deferred', 'sent', 'captured', 'failed', 'suppressed'] as const;

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
