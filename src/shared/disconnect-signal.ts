/**
 * Tells when a client has gone away: the part of an `AbortSignal` that is needed, and which an `AbortSignal` therefore is.
 * The real one costs more to make and to listen to than a small request has.
 */

/** The client of one request. */
export interface DisconnectSignal {
  /** It has gone. */
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}
