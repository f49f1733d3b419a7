/**
 * Errors of sending an email: every code once, and the error that carries one.
 *
 * Messages are for the operator's log: they name the server and the remedy, never a password, a recipient or any
 * content. Clients see only the text of `emailKinds`.
 */

/** All codes, with whether a retry of the same email may succeed. */
const emailErrorCodes = {
  /** No connection: wrong name or port, a firewall, the server is down. */
  unreachable: { isTemporary: true },
  /** The connection could not be encrypted, or the server's certificate is not trusted. */
  tls_failed: { isTemporary: false },
  login_refused: { isTemporary: false },
  sender_refused: { isTemporary: false },
  recipient_refused: { isTemporary: false },
  /** The server refused the content, for example its size. */
  message_refused: { isTemporary: false },
  /** The server asked to try again later. */
  try_later: { isTemporary: true },
  /** The same for this recipient alone: it takes emails to others. */
  recipient_later: { isTemporary: true },
  /** The connection broke. The server may have accepted the email. */
  connection_lost: { isTemporary: true },
  /** The time limit passed. The server may have accepted the email. */
  timed_out: { isTemporary: true },
  /** The sender is shutting down. */
  stopped: { isTemporary: true },
} as const satisfies Record<string, { readonly isTemporary: boolean }>;

/** One of the codes above. */
export type EmailErrorCode = keyof typeof emailErrorCodes;

/** An email that was not sent. Callers branch on `code` or on `isTemporary`. */
export class EmailError extends Error {
  override readonly name = 'EmailError';
  readonly code: EmailErrorCode;
  readonly isTemporary: boolean;
  /** What the server said, without addresses, for the list of deliveries; null if it said nothing. */
  readonly answer: string | null;

  constructor(code: EmailErrorCode, message: string, answer: string | null = null) {
    super(message);
    this.code = code;
    this.answer = answer;
    this.isTemporary = emailErrorCodes[code].isTemporary;
  }
}
