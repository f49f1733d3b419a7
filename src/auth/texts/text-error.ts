/**
 * A text message that was not handed over. The message of the error is for the client as well as for the log: it says what
 * happened and perhaps the provider's code for it, never an address, a login or a number.
 */
export class TextError extends Error {
  override readonly name = 'TextError';
}
