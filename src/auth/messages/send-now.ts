/**
 * Sends emails during the request, and lists what became of them: with the changes of the request, or without, if they
 * are rolled back because an email could not be sent.
 */
import type { EmailMessage } from '../../email/message.ts';
import { deliveryOf } from '../../email/outbox/deliveries.ts';
import { suppressedAnswer } from '../../email/outbox/suppressed.ts';
import { EmailError } from '../../email/transport/email-error.ts';
import type { Transaction } from '../steps/auth-context.ts';

/** An email and its user. */
interface UserEmail {
  readonly userId: string;
  readonly message: EmailMessage;
}

/** Sends the emails of a request; those to suppressed addresses count as sent. @throws EmailError */
export async function sendNow(tx: Transaction, emails: readonly UserEmail[]): Promise<void> {
  const { config, services } = tx;
  const { outbox, mailer } = services;
  const wanted: UserEmail[] = [];
  for (const email of emails) {
    if (!config.mailer_suppress_bounced || !(await outbox.isSuppressed(tx, email.message.to))) wanted.push(email);
    else await outbox.note(tx, toDelivery(email), { state: 'suppressed', answer: suppressedAnswer }, config);
  }
  const receipts = await mailer.deliver(config, ...wanted.map(({ message }) => message)).catch(async (error) => {
    const answer = error instanceof EmailError ? (error.answer ?? error.message) : 'an unexpected error';
    // The error of the email says more than one of the list.
    const note = (email: UserEmail) => outbox.note(null, toDelivery(email), { state: 'failed', answer }, config);
    await Promise.allSettled(wanted.map(note));
    throw error;
  });
  for (const [index, email] of wanted.entries()) {
    await outbox.note(tx, toDelivery(email), { state: 'sent', answer: null, ...receipts[index] }, config);
  }
}

function toDelivery({ message, userId }: UserEmail) {
  return deliveryOf(message, userId);
}
