/** Asks again whether the headers of a long connection hold: tokens expire, and keys are replaced. */
import type { IncomingHttpHeaders } from 'node:http';
import type { VerifiedCaller } from '../../server/caller/authenticate.ts';
import { PublicError } from '../../shared/errors.ts';
import type { GraphqlParts } from './graphql-parts.ts';

/** The pause where they cannot be verified now, in milliseconds. */
const againMs = 5000;

/**
 * @param identity Of the last verification.
 * @param end Called once, with what is wrong.
 * @returns Stops asking.
 */
export function whileAuthorized(
  { authenticate }: Pick<GraphqlParts, 'authenticate'>,
  headers: IncomingHttpHeaders,
  identity: VerifiedCaller | null,
  end: (problem: PublicError) => void,
): () => void {
  let timer: NodeJS.Timeout | null = null;
  const askIn = (ms: number) => {
    timer = setTimeout(() => void ask(), ms).unref();
  };
  const ask = async () => {
    try {
      const { validUntil } = await authenticate(headers);
      if (timer !== null) askIn(validUntil - authenticate.now());
    } catch (error) {
      if (timer === null) return;
      // The keys of a provider may be out of reach for a moment.
      if (!(error instanceof PublicError) || error.code === 'UNAVAILABLE') askIn(againMs);
      else end(error);
    }
  };
  if (identity !== null) askIn(identity.validUntil - authenticate.now());
  return () => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
  };
}
