/**
 * Cross-origin rules: any of the configured origins, never with credentials, since keys and tokens travel in headers.
 *
 * The auth service and the management API have headers of their own. Where they are not exposed, pages cannot tell one error
 * of the service from another, nor see which fields of a change had no effect.
 */
import cors from '@fastify/cors';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../config/config.ts';
import { positionName } from '../graphql/own-writes.ts';
import { authPath, projectPath } from './parts.ts';

const exposedHeaders = ['x-request-id', 'retry-after', 'server-timing'];

/** Configuration of the GraphQL route: a page may read its own writes (own-writes.ts). */
const graphqlCors = { cors: { exposedHeaders: [...exposedHeaders, positionName] } };

/** Configuration of the routes of the auth service. */
export const authCors = {
  cors: { exposedHeaders: [...exposedHeaders, 'x-total-count', 'link', 'x-supabase-api-version', 'x-sb-error-code'] },
};

/** Header of the management API with the fields of a change that have no effect. */
export const ignoredHeader = 'X-Pgreflect-Ignored-Fields';

/** Header of the management API with what is valid and probably not meant. */
export const warningsHeader = 'X-Pgreflect-Warnings';

/** Configuration of the routes of the management API. */
export const managementCors = {
  cors: {
    exposedHeaders: [...exposedHeaders, ignoredHeader.toLowerCase(), warningsHeader.toLowerCase(), 'etag'],
  },
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
  app.addHook('onSend', (request, reply, _payload, done) => {
    reply.headers(headersFor(request, reply));
    done();
  });
}

/** Configuration of the GraphQL route: where all origins are allowed, there is nothing to find out for each request. */
export function corsOfGraphql(origins: readonly string[] | '*'): { readonly cors: false } | typeof graphqlCors {
  return origins === '*' ? { cors: false } : graphqlCors;
}

/** What every answer carries where all origins are allowed. */
export const anyOriginHeaders: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': exposedHeaders.join(', '),
};

const writtenHeaders = exposing(graphqlCors.cors.exposedHeaders);
const authHeaders = exposing(authCors.cors.exposedHeaders);
const managementHeaders = exposing(managementCors.cors.exposedHeaders);

function exposing(names: readonly string[]): Readonly<Record<string, string>> {
  return { ...anyOriginHeaders, 'access-control-expose-headers': names.join(', ') };
}

function headersFor({ url }: FastifyRequest, reply: FastifyReply): Readonly<Record<string, string>> {
  if (reply.hasHeader(positionName)) return writtenHeaders;
  if (url.startsWith(`${authPath}/`)) return authHeaders;
  return url.startsWith(managementPrefix) ? managementHeaders : anyOriginHeaders;
}

const managementPrefix = projectPath.slice(0, projectPath.indexOf(':'));
