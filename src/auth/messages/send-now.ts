/**
 * Sends emails during the request, and lists their delivery status: with the changes of the request, or without, if they
 * are rolled back because an email could not be sent.
 */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import type { EmailMessage } from '../../email/message/message.ts';
import { type DeliveryOutcome, deliveryOf } from '../../email/outbox/deliveries.ts';
import { SuppressedError, suppressedAnswer } from '../../email/outbox/suppressed.ts';
import { EmailError } from '../../email/transport/email-error.ts';
import { noReceipt } from '../../email/transport/transport.ts';
import type { AuthServices, Transaction } from '../steps/auth-context.ts';

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
    const answer = answerOf(error);
    // The error of the email says more than one of the list.
    const note = (email: UserEmail) => outbox.note(null, toDelivery(email), { state: 'failed', answer }, config);
    await Promise.allSettled(wanted.map(note));
    throw error;
  });
  for (const [index, email] of wanted.entries()) {
    await outbox.note(tx, toDelivery(email), receipts[index] ?? noReceipt, config);
  }
}

/** Sends and lists the test email of an operator, which no user gets. @throws EmailError, SuppressedError */
export async function sendTestEmail(
  { mailer, outbox }: Pick<AuthServices, 'mailer' | 'outbox'>,
  config: AuthConfig,
  message: EmailMessage,
): Promise<void> {
  const delivery = deliveryOf(message, null);
  if (config.mailer_suppress_bounced && (await outbox.isSuppressed(null, message.to))) {
    await outbox.note(null, delivery, { state: 'suppressed', answer: suppressedAnswer }, config);
    throw new SuppressedError(`Nothing was sent: ${suppressedAnswer}. Lift the address in Deliveries first.`);
  }
  const id = await outbox.begin(delivery, config);
  const finish = (outcome: DeliveryOutcome) => outbox.finish(id, delivery.kind, outcome);
  const [receipt] = await mailer.deliver(config, message).catch(async (error) => {
    await Promise.allSettled([finish({ state: 'failed', answer: answerOf(error) })]);
    throw error;
  });
  await finish(receipt ?? noReceipt);
}

function answerOf(error: unknown): string {
  return error instanceof EmailError ? (error.answer ?? error.message) : 'an unexpected error';
}

function toDelivery({ message, userId }: UserEmail) {
  return deliveryOf(message, userId);
}
