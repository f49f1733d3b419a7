/**
 * The caller of a request, as its transaction sees it. Made by server/caller/authenticate; run-as turns it into
 * transaction-local settings. Contains no secret: no token, key or cookie.
 */
export interface Caller {
  /** Database role; never empty, never `none`. */
  readonly role: string;
  /** Text of `request.jwt.claims`, a JSON object; `{"role":"anon"}` for a caller without a token. */
  readonly claims: string;
  /** Text of `request.headers`, a JSON object with lower-case names, without secrets and `content-length`. */
  readonly headers: string;
  readonly method: string;
  readonly path: string;
}
