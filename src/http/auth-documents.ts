/**
 * What everyone may read of the auth service without a key and without the database: that it lives, and how its tokens are
 * verified.
 */
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { publicKeySet } from '../auth/signing-keys.ts';
import type { Config } from '../config/config.ts';
import type { AuthParts } from './auth-parts.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string;
};

/** Seconds for which others may keep the keys. */
const keysMaxAgeSeconds = 600;

/** Adds the routes. @returns Their paths. */
export function registerAuthDocuments(
  scope: FastifyInstance,
  config: Config,
  { services, authUrl }: AuthParts,
): string[] {
  // Programs that probe for a compatible service look for this name.
  const health = { version, name: 'GoTrue', description: 'The authentication service of pgreflect' };
  const keys = publicKeySet(config.jwtKeys);
  const openId = {
    issuer: services.issuer,
    jwks_uri: `${authUrl}/.well-known/jwks.json`,
    authorization_endpoint: `${authUrl}/authorize`,
    token_endpoint: `${authUrl}/token`,
    userinfo_endpoint: `${authUrl}/user`,
    response_types_supported: ['code', 'token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [services.signer.algorithm],
  };
  const documents = { '/health': health, '/.well-known/jwks.json': keys, '/.well-known/openid-configuration': openId };
  for (const [path, document] of Object.entries(documents)) {
    const text = JSON.stringify(document);
    const isCacheable = path !== '/health';
    scope.get(path, { exposeHeadRoute: false }, (_request, reply) => {
      if (isCacheable) reply.header('cache-control', `public, max-age=${keysMaxAgeSeconds}`);
      return reply.header('content-type', 'application/json').send(text);
    });
  }
  return Object.keys(documents);
}
