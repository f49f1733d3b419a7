/**
 * The last check of addresses before a message leaves: one recipient and one sender, whatever the database has as the
 * address of a user. Requests have checked theirs before; programs and imports may have stored others.
 */
import type { EmailMessage } from '../message.ts';
import { EmailError } from './email-error.ts';

/** @throws EmailError `recipient_refused`, `sender_refused` */
export function assertAddresses({ to, from }: Pick<EmailMessage, 'to' | 'from'>): void {
  assertAddress(to, 'recipient');
  assertAddress(from.address, 'sender');
}

/** One address, without characters that could end a command of SMTP or start another address of a list. */
function assertAddress(address: string, role: 'recipient' | 'sender'): void {
  const isAddress = /^[^\s<>@",;:\\]+@[^\s<>@",;\\]+$/.test(address) && !/\p{Cc}/u.test(address);
  if (!isAddress)
    throw new EmailError(`${role}_refused`, `The address of the ${role} is not one that emails can be sent to.`);
}
