/**
 * CORS: any of the configured origins, never with credentials, because keys and tokens travel in headers. Follows the
 * present options.
 *
 * Exposes the headers of all APIs on every answer. Otherwise pages could not distinguish errors of the auth service,
 * see which fields of a change had no effect, or read their own writes (read-your-writes.ts).
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config/config.ts';
import { appendVary } from './append-vary.ts';
import { positionName } from './position-name.ts';

/** Header of the management API that lists changed fields without effect. */
export const ignoredHeader = 'X-Pgreflect-Ignored-Fields';

/** Header of the management API for valid but probably unintended values. */
export const warningsHeader = 'X-Template-Warnings';

const exposedHeaders = [
  'x-request-id', 'retry-after', 'server-timing', 'x-total-count', 'link', 'x-supabase-api-version', 'x-sb-error-code',
  ignoredHeader.toLowerCase(), warningsHeader.toLowerCase(), 'etag', positionName,
]; // biome-ignore format: a list of names

/** The headers of every answer if all origins are allowed. */
export const anyOriginHeaders: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': exposedHeaders.join(', '),
};

/** Seconds for which browsers cache a preflight; some browsers cap this. */
const maxAgeSeconds = 7200;

type CorsOptions = Pick<Config, 'corsOrigins' | 'corsHeaders'>;

/** Adds the CORS headers to all answers, and answers `OPTIONS` on every path. */
export function registerCors(app: FastifyInstance, config: CorsOptions): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { corsOrigins: origins } = config;
    if (origins !== '*' && request.routeOptions.config.cors !== false) {
      // Also where it is not allowed: caches must not give the answer to a page of another origin.
      reply.headers({ vary: 'Origin', 'access-control-expose-headers': exposedHeaders.join(', ') });
      const { origin } = request.headers;
      if (origin !== undefined && origins.includes(origin)) reply.header('access-control-allow-origin', origin);
    }
    if (request.method === 'OPTIONS') answerPreflight(config, request, reply);
    else done();
  });
  // For routes that write their answers past the framework, the same is in `anyOriginHeaders`.
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (config.corsOrigins === '*') reply.headers(anyOriginHeaders);
    done();
  });
  // The hook answers; without a route there would be none.
  app.options('*', (_request, reply) => reply.code(204).send());
}

/** Answers an `OPTIONS` request that is no preflight in the same way. */
function answerPreflight({ corsHeaders }: CorsOptions, { headers }: FastifyRequest, reply: FastifyReply): void {
  reply.headers({
    'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
    'access-control-max-age': String(maxAgeSeconds),
  });
  if (corsHeaders !== '*') reply.header('access-control-allow-headers', corsHeaders.join(', '));
  else {
    // Any header is harmless without credentials; tracing tools add their own.
    reply.header('vary', appendVary(reply.getHeader('vary'), 'Access-Control-Request-Headers'));
    const wanted = headers['access-control-request-headers'];
    if (wanted !== undefined) reply.header('access-control-allow-headers', wanted);
  }
  reply.code(204).header('content-length', '0').send();
}
