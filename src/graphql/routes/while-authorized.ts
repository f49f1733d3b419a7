/** Asks again whether the headers of a long connection hold: tokens expire, and keys are replaced. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Authenticate, VerifiedCaller } from '../../server/caller/authenticate.ts';
import { PublicError } from '../../shared/errors.ts';

/** The pause where they cannot be verified now, in milliseconds, and how often they are taken to hold. */
const againMs = 5000;
const maxFailures = 6;

const unverified = new PublicError('UNAVAILABLE', 'The token could not be verified.');

/** Asks again; `onReplaced` where keys may be replaced. */
export type AuthenticateAgain = ((headers: IncomingHttpHeaders) => VerifiedCaller | Promise<VerifiedCaller>) &
  Pick<Authenticate, 'now'> &
  Partial<Pick<Authenticate, 'onReplaced'>>;

/**
 * @param identity Of the last verification.
 * @param end Called once, with what is wrong.
 * @returns Stops asking.
 */
export function whileAuthorized(
  authenticate: AuthenticateAgain,
  headers: IncomingHttpHeaders,
  identity: VerifiedCaller | null,
  end: (problem: PublicError) => void,
): () => void {
  let timer: NodeJS.Timeout | null = null;
  const askIn = (ms: number) => {
    timer = setTimeout(() => void ask(), ms).unref();
  };
  let failures = 0;
  const ask = async () => {
    try {
      const { validUntil } = await authenticate(headers);
      failures = 0;
      if (timer !== null) askIn(Math.max(1, validUntil - authenticate.now()));
    } catch (error) {
      if (timer === null) return;
      const problem = error instanceof PublicError ? error : unverified;
      failures += 1;
      // The keys of a provider may be out of reach for a moment.
      if (problem.code === 'UNAVAILABLE' && failures <= maxFailures) askIn(againMs);
      else end(problem);
    }
  };
  if (identity !== null) askIn(Math.max(1, identity.validUntil - authenticate.now()));
  const ignoreReplaced = authenticate.onReplaced?.(() => {
    if (timer === null) return;
    clearTimeout(timer);
    void ask();
  });
  return () => {
    ignoreReplaced?.();
    if (timer !== null) clearTimeout(timer);
    timer = null;
  };
}
