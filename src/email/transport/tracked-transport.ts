/**
 * A transport that knows what it is sending, so that it can stop without losing a message.
 */
import type { EmailMessage } from '../message.ts';
import { assertAddresses } from './assert-addresses.ts';
import { EmailError } from './email-error.ts';
import type { EmailTransport, Receipt } from './transport.ts';

/**
 * Makes the transport.
 *
 * @param hand Sends one message. @throws EmailError
 * @param close Ends connections, after the last message.
 */
export function trackedTransport(
  hand: (message: EmailMessage) => Promise<Receipt>,
  close: () => Promise<void> = async () => {},
): EmailTransport {
  const underway = new Set<Promise<unknown>>();
  let stopped = false;
  return {
    async send(message) {
      if (stopped) throw new EmailError('stopped', 'The mail transport has been stopped.');
      // Some services take a list of recipients in one text.
      assertAddresses(message);
      const work = hand(message);
      underway.add(work);
      try {
        return await work;
      } finally {
        underway.delete(work);
      }
    },
    async stop() {
      stopped = true;
      await Promise.allSettled(underway);
      await close();
    },
  };
}
