/**
 * Errors of sending an email: every code once, and the error that carries one.
 *
 * Messages are for the operator's log: they name the server and the remedy, never a password, a recipient or any
 * content. Clients see only the text of `emailKinds`.
 */

/** Why an email was not sent. */
export type EmailErrorCode =
  /** No connection: wrong name or port, a firewall, the server is down. */
  | 'unreachable'
  /** The connection could not be encrypted, or the server's certificate is not trusted. */
  | 'tls_failed'
  | 'login_refused'
  | 'sender_refused'
  | 'recipient_refused'
  /** The server refused the content, for example its size. */
  | 'message_refused'
  /** The server asked to try again later. */
  | 'try_later'
  /** The same for this recipient alone: it takes emails to others. */
  | 'recipient_later'
  /** The connection broke. The server may have accepted the email. */
  | 'connection_lost'
  /** The time limit passed. The server may have accepted the email. */
  | 'timed_out'
  /** The sender is shutting down. */
  | 'stopped';

/** An email that was not sent. */
export class EmailError extends Error {
  override readonly name = 'EmailError';
  readonly code: EmailErrorCode;
  /** What the server said, without addresses, for the list of deliveries; null if it said nothing. */
  readonly answer: string | null;

  constructor(code: EmailErrorCode, message: string, answer: string | null = null) {
    super(message);
    this.code = code;
    this.answer = answer;
  }
}
