/**
 * Tells when a client has disconnected. A subset of `AbortSignal`, which also fits. A real one costs more to make and
 * to listen to than a small request may cost.
 */

/** The client of one request. */
export interface DisconnectSignal {
  /** It has disconnected. */
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}
