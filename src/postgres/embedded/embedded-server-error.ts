/**
 * Why the embedded server does not run, for the person at the terminal.
 */

/** `in_use`: another server uses the data. `other_major`: made by another PostgreSQL. `failed`: anything else. */
export type EmbeddedServerCode = 'in_use' | 'other_major' | 'failed';

/** The embedded server cannot be started; `hint` says what to do. */
export class EmbeddedServerError extends Error {
  override readonly name = 'EmbeddedServerError';
  readonly code: EmbeddedServerCode;
  readonly hint: string;

  constructor(code: EmbeddedServerCode, message: string, details: { readonly hint: string; readonly cause?: unknown }) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.hint = details.hint;
  }
}
