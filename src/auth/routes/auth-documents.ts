/**
 * Public documents of the auth service, without key and database: health, and the keys that verify its tokens.
 */
import type { FastifyInstance } from 'fastify';
import type { Config } from '../../config/config.ts';
import { version } from '../../shared/version.ts';
import { member, type Serializer, serializerOf, text } from '../answers/serializer.ts';
import { publicKeySet } from '../secrets/signing-keys.ts';
import type { AuthParts } from './auth-parts.ts';

/** Cache lifetime of the keys in seconds. */
const keysMaxAgeSeconds = 600;

interface DocumentFacts {
  readonly config: Config;
  readonly parts: AuthParts;
}

const words = { type: 'array', items: { type: 'string' } };
const below = (path: string) => text<DocumentFacts>(({ parts }) => `${parts.authUrl}${path}`);

/** One document. */
export interface AuthDocument {
  /** Relative to the service. */
  readonly path: string;
  /** One sentence without its end. */
  readonly summary: string;
  readonly isCacheable: boolean;
  readonly serializer: Serializer<DocumentFacts>;
}

/** The documents. */
export const authDocuments: readonly AuthDocument[] = [
  {
    path: '/health',
    summary: 'Check that the service is running',
    isCacheable: false,
    serializer: serializerOf('AuthHealth', {
      version: text(() => version),
      // Clients that probe for a compatible service look for this name.
      name: text(() => 'GoTrue'),
      description: text(() => 'The authentication service of pgreflect'),
    }),
  },
  {
    path: '/.well-known/jwks.json',
    summary: 'Read the keys that verify tokens',
    isCacheable: true,
    serializer: serializerOf('AuthKeys', {
      keys: member({ type: 'array', items: { type: 'object' } }, ({ config }) => publicKeySet(config.jwtKeys).keys),
    }),
  },
  {
    path: '/.well-known/openid-configuration',
    summary: 'Read the OpenID Connect configuration',
    isCacheable: true,
    serializer: serializerOf('AuthOpenId', {
      issuer: text(({ parts }) => parts.services.issuer),
      jwks_uri: below('/.well-known/jwks.json'),
      authorization_endpoint: below('/authorize'),
      token_endpoint: below('/token'),
      userinfo_endpoint: below('/user'),
      response_types_supported: member(words, () => ['code', 'token']),
      subject_types_supported: member(words, () => ['public']),
      id_token_signing_alg_values_supported: member(words, ({ parts }) => [parts.services.signer.algorithm]),
    }),
  },
];

/** Adds the routes. */
export function registerAuthDocuments(scope: FastifyInstance, config: Config, parts: AuthParts): void {
  for (const { path, isCacheable, serializer } of authDocuments) {
    const json = JSON.stringify(serializer.toJson({ config, parts }));
    scope.get(path, { exposeHeadRoute: false }, (_request, reply) => {
      if (isCacheable) reply.header('cache-control', `public, max-age=${keysMaxAgeSeconds}`);
      return reply.header('content-type', 'application/json').send(json);
    });
  }
}
