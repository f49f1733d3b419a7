/**
 * Queries by GET: the members of the request are parameters of the URL. Mutations are refused.
 *
 * Answers may be cached only if `--get-max-age` says so, and only those of the anon role without a token.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Config } from '../../config/config.ts';
import type { VerifiedCaller } from '../../server/caller/authenticate.ts';
import { requestTypeOf } from '../../server/media-types.ts';
import { positionName } from '../../server/position-name.ts';
import { PublicError } from '../../shared/errors.ts';
import type { Answer, GraphQLRequest } from '../execute/executor.ts';
import { readQueryString } from './read-request.ts';

/**
 * Reads the request.
 *
 * @param url From the path on.
 * @throws PublicError if a page of another origin sends it, and as `readQueryString`.
 */
export function readGet(config: Config, url: string, headers: IncomingHttpHeaders): GraphQLRequest {
  refuseForeignPages(headers, config.corsOrigins);
  if (url.length > config.limits.maxBodyBytes) {
    throw new PublicError('BODY_TOO_LARGE', 'The URL exceeds --max-body-bytes.');
  }
  const at = url.indexOf('?');
  return readQueryString(at === -1 ? '' : url.slice(at + 1));
}

/**
 * Any web page may have a browser open any address, as an image for example. A header of ours proves that the page belongs
 * to an allowed origin: the browser sent a preflight first. Without one, the browser says whose page it is: scripts of other
 * origins send `Origin`, and all other ways to open an address have another `Sec-Fetch-Mode` (Fetch standard, and Fetch
 * Metadata). Where all origins may read the answers, there is nothing to refuse.
 */
function refuseForeignPages(headers: IncomingHttpHeaders, origins: Config['corsOrigins']): void {
  if (origins === '*' || headers.apikey !== undefined || headers.authorization !== undefined) return;
  if (requestTypeOf(headers['content-type']) === 'json') return;
  const { origin, 'sec-fetch-mode': mode } = headers;
  if (origin === undefined ? mode === 'cors' || mode === 'same-origin' : origins.includes(origin)) return;
  const hint = 'Or send "Content-Type: application/json".';
  throw new PublicError('BAD_REQUEST', 'Queries by GET need the header "apikey".', { hint });
}

interface Answered {
  readonly headers: IncomingHttpHeaders;
  readonly identity: VerifiedCaller | null;
  readonly answer: Pick<Answer, 'codes'>;
}

/** What caches may do with an answer; `cacheControl` null: store nothing. */
export function cachingOf(
  config: Config,
  answered: Answered,
): { readonly vary: string; readonly cacheControl: string | null } {
  // The cookie has a position only where there are replicas.
  const positions = config.readReplicaUrls.length === 0 ? positionName : `${positionName}, Cookie`;
  return {
    // Also where it is not cached: the same URL has other answers for other callers, and for those who have written.
    vary: `Accept, Authorization, apikey, ${positions}`,
    cacheControl: isPublic(config, answered) ? `public, max-age=${config.getMaxAge}` : null,
  };
}

function isPublic(config: Config, { headers, identity, answer: { codes } }: Answered): boolean {
  if (config.getMaxAge === 0 || codes.length > 0 || identity === null) return false;
  // A caller who asks for its own writes must not get older rows, nor leave its answer to those who ask.
  const isAnonymous = headers.authorization === undefined && identity.subject === null;
  return isAnonymous && identity.role === config.anonRole && headers[positionName] === undefined;
}
