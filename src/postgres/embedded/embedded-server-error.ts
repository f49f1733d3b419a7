/** Why the embedded server does not run, for the terminal. */

/** The embedded server cannot be started; `hint` says what to do. */
export class EmbeddedServerError extends Error {
  override readonly name = 'EmbeddedServerError';
  readonly hint: string;

  constructor(message: string, details: { readonly hint: string; readonly cause?: unknown }) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.hint = details.hint;
  }
}
