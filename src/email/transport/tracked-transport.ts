/** A transport that knows what it is sending, so that it can stop without losing a message. */
import type { EmailMessage } from '../message/message.ts';
import { EmailError } from './email-error.ts';
import type { EmailTransport, Receipt } from './transport.ts';

/** Makes the transport. @param hand Sends a message. @throws EmailError @param close Ends connections. */
export function trackedTransport(
  hand: (message: EmailMessage) => Promise<Receipt>,
  close: () => Promise<void> = async () => {},
): EmailTransport {
  const underway = new Set<Promise<unknown>>();
  let stopped = false;
  return {
    async send(message) {
      if (stopped) throw new EmailError('stopped', 'The mail transport has been stopped.');
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

/**
 * The last check of addresses, whatever the database has as the address of a user: programs and imports may have stored
 * others than requests accept. Some services take a list of recipients in one text.
 *
 * @throws EmailError `recipient_refused`, `sender_refused`
 */
function assertAddresses({ to, from }: Pick<EmailMessage, 'to' | 'from'>): void {
  assertAddress(to, 'recipient');
  assertAddress(from.address, 'sender');
}

/** One address, without characters that could end a command of SMTP or start another address of a list. */
function assertAddress(address: string, role: 'recipient' | 'sender'): void {
  const isAddress = /^[^\s<>@",;:\\]+@[^\s<>@",;\\]+$/.test(address) && !/\p{Cc}/u.test(address);
  if (!isAddress)
    throw new EmailError(`${role}_refused`, `The address of the ${role} is not one that emails can be sent to.`);
}
