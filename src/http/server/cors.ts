/**
 * Cross-origin rules: any of the configured origins, never with credentials, since keys and tokens travel in headers.
 *
 * Headers of all APIs are exposed on every answer. Else pages could not tell one error of the auth service from another, nor
 * see which fields of a change had no effect, nor read their own writes (read-your-writes.ts).
 */
import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../../config/config.ts';
import { positionName } from './parts.ts';

/** Header of the management API with the fields of a change that have no effect. */
export const ignoredHeader = 'X-Pgreflect-Ignored-Fields';

/** Header of the management API with what is valid and probably not meant. */
export const warningsHeader = 'X-Pgreflect-Warnings';

const exposedHeaders = [
  'x-request-id', 'retry-after', 'server-timing', 'x-total-count', 'link', 'x-supabase-api-version', 'x-sb-error-code',
  ignoredHeader.toLowerCase(), warningsHeader.toLowerCase(), 'etag', positionName,
]; // biome-ignore format: a list of names

/** What every answer carries where all origins are allowed. */
export const anyOriginHeaders: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': exposedHeaders.join(', '),
};

/** Seconds for which a browser may remember a preflight; more is not honored by all of them. */
const maxAgeSeconds = 7200;

/** Adds the CORS headers and answers `OPTIONS` on every path. */
export async function registerCors(
  app: FastifyInstance,
  { corsOrigins: origins, corsHeaders }: Pick<Config, 'corsOrigins' | 'corsHeaders'>,
): Promise<void> {
  await app.register(cors, {
    origin: origins === '*' ? '*' : [...origins],
    credentials: false,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    // Nothing of the browser's own goes along (`credentials`), so a header does no harm; tools for tracing bring theirs.
    ...(corsHeaders === '*' ? {} : { allowedHeaders: [...corsHeaders] }),
    exposedHeaders,
    maxAge: maxAgeSeconds,
    // An `OPTIONS` that is no preflight gets the same answer instead of an error.
    strictPreflight: false,
  });
  if (origins !== '*') return;
  // For routes that go past the plugin.
  app.addHook('onSend', (_request, reply, _payload, done) => {
    reply.headers(anyOriginHeaders);
    done();
  });
}
