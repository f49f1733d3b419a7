/**
 * CORS: any of the configured origins, never with credentials, because keys and tokens travel in headers.
 *
 * Exposes the headers of all APIs on every answer. Otherwise pages could not distinguish errors of the auth service,
 * see which fields of a change had no effect, or read their own writes (read-your-writes.ts).
 */
import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config/config.ts';
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

/** Adds the CORS headers and answers `OPTIONS` on every path. */
export async function registerCors(
  app: FastifyInstance,
  { corsOrigins: origins, corsHeaders }: Pick<Config, 'corsOrigins' | 'corsHeaders'>,
): Promise<void> {
  await app.register(cors, {
    origin: origins === '*' ? '*' : [...origins],
    credentials: false,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    // Any header is harmless without credentials; tracing tools add their own.
    ...(corsHeaders === '*' ? {} : { allowedHeaders: [...corsHeaders] }),
    exposedHeaders,
    maxAge: maxAgeSeconds,
    // Answers an `OPTIONS` request that is no preflight in the same way.
    strictPreflight: false,
  });
  if (origins !== '*') return;
  // For routes that bypass the plugin.
  app.addHook('onSend', (_request, reply, _payload, done) => {
    reply.headers(anyOriginHeaders);
    done();
  });
}
