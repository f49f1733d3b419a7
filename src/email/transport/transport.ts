/**
 * The transport of a message: SMTP, or the inbox of a project without a mail server.
 */
import type { EmailMessage } from '../message.ts';

/** Accepts messages until it is stopped. */
export interface EmailTransport {
  /**
   * Resolves when the message was accepted.
   *
   * @throws EmailError, within the transport's time limit.
   */
  send(message: EmailMessage): Promise<void>;
  /** Refuses new messages, waits for those being sent, closes connections. */
  stop(): Promise<void>;
}
