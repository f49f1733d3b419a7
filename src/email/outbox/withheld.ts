/**
 * The error of an email that the gateway itself does not send, because of what it knows or cannot note.
 */

/** Why: the address is suppressed, or the email cannot be listed among the deliveries. */
type WithheldReason = 'suppressed' | 'unlisted';

/** An email that was not sent. The message is for the operator. */
export class WithheldError extends Error {
  override readonly name = 'WithheldError';
  readonly reason: WithheldReason;

  constructor(reason: WithheldReason, message: string) {
    super(message);
    this.reason = reason;
  }
}
