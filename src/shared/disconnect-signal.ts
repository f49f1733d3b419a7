/**
 * Tells when a client has disconnected. A subset of `AbortSignal`, which also fits. A real one costs more to make and
 * to listen to than a small request may cost.
 */

/** The client of one request. */
export interface DisconnectSignal {
  /**
   * Reserves memory for the answer before it is made, in bytes, in place of what was reserved before. False: there is
   * none left for this client, and its connection is closed. Without this method there is no limit.
   */
  hold?(bytes: number): boolean;
  /** It has disconnected. */
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}
