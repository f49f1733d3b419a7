/** Public documents of the auth service, without key and database: health, and the keys that verify its tokens. */
import type { FastifyInstance } from 'fastify';
import type { Config } from '../../config/config.ts';
import { type RouteFacts, type RouteTable, routesOf } from '../../server/route.ts';
import { from, listOf, record, type Serializer, serializerOf, text } from '../../shared/schema.ts';
import { version } from '../../shared/version.ts';
import { publicKeySet } from '../secrets/signing-keys.ts';
import type { AuthParts } from './auth-parts.ts';

/** Cache lifetime of the keys in seconds. */
const keysMaxAgeSeconds = 600;

interface DocumentFacts {
  readonly config: Config;
  readonly parts: AuthParts;
}

const words = listOf(text);
const below = (path: string) => from(text, ({ parts }: DocumentFacts) => `${parts.authUrl}${path}`);

interface AuthDocument extends RouteFacts {
  readonly isCacheable: boolean;
  readonly answer: Serializer<DocumentFacts>;
}

const documents: RouteTable<'GET', AuthDocument> = {
  'GET /health': {
    access: 'anyone',
    summary: 'Check that the service is running',
    isCacheable: false,
    answer: serializerOf('AuthHealth', {
      version: from(text, () => version),
      // Clients that probe for a compatible service look for this name.
      name: from(text, () => 'GoTrue'),
      description: from(text, () => 'The authentication service of pgreflect'),
    }),
  },
  'GET /.well-known/jwks.json': {
    access: 'anyone',
    summary: 'Read the keys that verify tokens',
    isCacheable: true,
    answer: serializerOf('AuthKeys', {
      keys: from(listOf(record()), ({ config }) => publicKeySet(config.jwtKeys).keys),
    }),
  },
  'GET /.well-known/openid-configuration': {
    access: 'anyone',
    summary: 'Read the OpenID Connect configuration',
    isCacheable: true,
    answer: serializerOf('AuthOpenId', {
      issuer: from(text, ({ parts }) => parts.services.issuer),
      jwks_uri: below('/.well-known/jwks.json'),
      authorization_endpoint: below('/authorize'),
      token_endpoint: below('/token'),
      userinfo_endpoint: below('/user'),
      response_types_supported: from(words, () => ['code', 'token']),
      subject_types_supported: from(words, () => ['public']),
      id_token_signing_alg_values_supported: from(words, ({ parts }) => [parts.services.signer.algorithm]),
    }),
  },
};

/** The documents. */
export const authDocuments = routesOf(documents);

/** Adds the routes. */
export function registerAuthDocuments(scope: FastifyInstance, config: Config, parts: AuthParts): void {
  for (const { path, isCacheable, answer } of authDocuments) {
    scope.get(path, { exposeHeadRoute: false }, (_request, reply) => {
      if (isCacheable) reply.header('cache-control', `public, max-age=${keysMaxAgeSeconds}`);
      // Keys may be replaced while the gateway runs.
      const json = JSON.stringify(answer.print({ config, parts }));
      return reply.header('content-type', 'application/json').send(json);
    });
  }
}
