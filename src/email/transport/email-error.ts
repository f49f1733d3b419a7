/**
 * What can go wrong with an email on its way out: every code once, and the error that carries one.
 *
 * Messages are for the operator's log: they name the server and what to change, never a login's password, a recipient, or
 * anything of the content. Clients are told only what `emailKinds` says.
 */

/** All codes, with whether the same email may get through later without anybody changing anything. */
const emailErrorCodes = {
  /** No connection: wrong name or port, a firewall, the server is down. */
  unreachable: { isTemporary: true },
  /** The connection could not be encrypted, or the server's certificate is not trusted. */
  tls_failed: { isTemporary: false },
  login_refused: { isTemporary: false },
  sender_refused: { isTemporary: false },
  recipient_refused: { isTemporary: false },
  /** The server did not want the content, its size for example. */
  message_refused: { isTemporary: false },
  /** The server said to try again later. */
  try_later: { isTemporary: true },
  /** The connection broke. The server may have taken the email all the same. */
  connection_lost: { isTemporary: true },
  /** Not through within the time limit. The server may have taken the email all the same. */
  timed_out: { isTemporary: true },
  /** The sender is shutting down. */
  stopped: { isTemporary: true },
} as const satisfies Record<string, { readonly isTemporary: boolean }>;

/** One of the codes above. */
export type EmailErrorCode = keyof typeof emailErrorCodes;

/** An email that was not handed over. Callers branch on `code` or on `isTemporary`. */
export class EmailError extends Error {
  override readonly name = 'EmailError';
  readonly code: EmailErrorCode;
  readonly isTemporary: boolean;

  constructor(code: EmailErrorCode, message: string) {
    super(message);
    this.code = code;
    this.isTemporary = emailErrorCodes[code].isTemporary;
  }
}
