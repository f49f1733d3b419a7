/**
 * Answers queries by GET: the members of the request are parameters of the URL. Mutations are refused.
 *
 * Answers may be cached only if `--get-max-age` says so, and only those of the anon role without a token.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../config/config.ts';
import { positionName } from '../../server/cors.ts';
import { answerTypeOf, requestTypeOf } from '../../server/media-types.ts';
import { PublicError } from '../../shared/errors.ts';
import type { Answer } from '../execute/executor.ts';
import { appendVary, run, sendText, writeHead } from './graphql-answer.ts';
import type { GraphqlParts } from './graphql-parts.ts';
import { readQueryString } from './read-request.ts';

/** Makes the handler; the caller is verified before. */
export function createGetHandler(parts: GraphqlParts) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { headers, url } = request;
    refuseForeignPages(request, parts.config.corsOrigins);
    if (url.length > parts.config.limits.maxBodyBytes) {
      throw new PublicError('BODY_TOO_LARGE', 'The URL exceeds --max-body-bytes.');
    }
    const at = url.indexOf('?');
    const graphql = readQueryString(at === -1 ? '' : url.slice(at + 1));
    const answer = await run(parts, request, graphql, { queriesOnly: true });
    const type = answerTypeOf(headers.accept);
    // Other types need a stream, which a page opens with POST.
    const answerType = type === 'application/graphql-response+json' ? type : 'application/json';
    writeHead(parts, request, reply, { answer, answerType });
    if (answer.codes.includes('METHOD_NOT_ALLOWED')) reply.header('allow', 'POST');
    // Also where it is not cached: the same URL has other answers for other callers, and for those who have written.
    reply.header('vary', appendVary(reply.getHeader('vary'), `Accept, Authorization, apikey, ${positionNames(parts)}`));
    if (isPublic(parts, request, answer)) {
      reply.header('cache-control', `public, max-age=${parts.config.getMaxAge}`);
    }
    return sendText(request, reply, answer.body);
  };
}

/**
 * Any web page may have a browser open any address, as an image for example. A header of ours proves that the page belongs
 * to an allowed origin: the browser sent a preflight first. Without one, the browser says whose page it is: scripts of other
 * origins send `Origin`, and all other ways to open an address have another `Sec-Fetch-Mode` (Fetch standard, and Fetch
 * Metadata). Where all origins may read the answers, there is nothing to refuse.
 */
function refuseForeignPages({ headers }: FastifyRequest, origins: Config['corsOrigins']): void {
  if (origins === '*' || headers.apikey !== undefined || headers.authorization !== undefined) return;
  if (requestTypeOf(headers['content-type']) === 'json') return;
  const { origin, 'sec-fetch-mode': mode } = headers;
  if (origin === undefined ? mode === 'cors' || mode === 'same-origin' : origins.includes(origin)) return;
  const hint = 'Or send "Content-Type: application/json".';
  throw new PublicError('BAD_REQUEST', 'Queries by GET need the header "apikey".', { hint });
}

/** Headers with positions of a caller's own writes; the cookie is one only where there are replicas. */
function positionNames({ config }: GraphqlParts): string {
  return config.readReplicaUrls.length === 0 ? positionName : `${positionName}, Cookie`;
}

function isPublic(
  { config }: GraphqlParts,
  { headers, state: { identity } }: FastifyRequest,
  { codes }: Answer,
): boolean {
  if (config.getMaxAge === 0 || codes.length > 0 || identity === null) return false;
  // A caller who asks for its own writes must not get older rows, nor leave its answer to those who ask.
  const isAnonymous = headers.authorization === undefined && identity.subject === null;
  return isAnonymous && identity.role === config.anonRole && headers[positionName] === undefined;
}
