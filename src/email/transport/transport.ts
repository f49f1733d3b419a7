/** The transport of a message: SMTP, or the inbox of a project without a mail server. */
import type { EmailMessage } from '../message/message.ts';

/** What the server said of an accepted message. */
export interface Receipt {
  /** `captured`: it is in the inbox, because there is no mail server. `failed`: not even there. */
  readonly state: 'sent' | 'captured' | 'failed';
  /** Its codes; null for none. */
  readonly answer: string | null;
  /** The id that the service gave the message instead of our own; null for none. */
  readonly messageId: string | null;
}

/** Without an answer. */
export const noReceipt: Receipt = { state: 'sent', answer: null, messageId: null };

/** Accepts messages until it is stopped. */
export interface EmailTransport {
  /** Resolves when the message was accepted. @throws EmailError, within the transport's time limit. */
  send(message: EmailMessage): Promise<Receipt>;
  /** Refuses new messages, waits for those being sent, closes connections. */
  stop(): Promise<void>;
}
