/**
 * Who asks: everything a transaction is told about the request it serves. Made by http/caller/authenticate, consumed by run-as,
 * which turns it into transaction-local settings. Holds no secret: token, key and cookie never get here.
 */
export interface Caller {
  /** Database role; never empty, never `none`. */
  readonly role: string;
  /** Text of `request.jwt.claims`, a JSON object; `{"role":"anon"}` for a caller without a token. */
  readonly claims: string;
  /** Text of `request.headers`, a JSON object with lower-case names, without `authorization`, `apikey`, `cookie`. */
  readonly headers: string;
  readonly method: string;
  readonly path: string;
}
