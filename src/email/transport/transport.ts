/**
 * The way of a message out of the gateway: over SMTP, or into the inbox of a project that has no mail server.
 */
import type { EmailMessage } from '../message.ts';

/** Takes messages until it is stopped. */
export interface EmailTransport {
  /**
   * Resolves when the message is in other hands.
   *
   * @throws EmailError, within the transport's time limit.
   */
  send(message: EmailMessage): Promise<void>;
  /** Refuses new messages, waits for those on their way, closes connections. */
  stop(): Promise<void>;
}
