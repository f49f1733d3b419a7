/** Discovers providers: their endpoints and their signing keys. Cached for some minutes, because both rarely change. */
import { createRemoteJWKSet, customFetch, type JWTVerifyGetKey } from 'jose';
import { LRUCache } from 'lru-cache';
import type { ClientAuth, Configuration } from 'openid-client';
import type { Egress } from '../../shared/egress/egress.ts';
import { readBounded } from '../../shared/read-bounded.ts';
import type { PlainProvider } from './plain-provider.ts';
import { ProviderError } from './provider-error.ts';

/** A provider of OpenID Connect. */
export interface Issuer {
  readonly configuration: Configuration;
  readonly keys: JWTVerifyGetKey;
}

/** Our client at the provider. Empty strings if discovery needs none. */
interface ProviderClient {
  readonly id: string;
  readonly secret: string;
}

/** Finds an issuer by its address, if the address is within reach. @throws ProviderError `unreachable` */
export interface FindIssuer {
  (address: string, client?: ProviderClient): Promise<Issuer>;
  readonly egress: Egress;
}

const lifetimeMs = 600_000;

/** Each tenant of a provider is an issuer, and a user who signs in chooses the tenant: limit the cache. */
const maxIssuers = 100;

const noClient: ProviderClient = { id: 'none', secret: '' };

/** Makes a finder with its own cache. */
export function createIssuers(egress: Egress): FindIssuer {
  const known = new LRUCache<string, Promise<Issuer>>({ max: maxIssuers, ttl: lifetimeMs });
  const find = (address: string, client = noClient): Promise<Issuer> => {
    const key = JSON.stringify([address, client.id, client.secret]);
    const found = known.get(key);
    if (found !== undefined) return found;
    const asked = discover(address, client, egress);
    known.set(key, asked);
    // Do not cache a failure.
    asked.catch(() => known.delete(key));
    return asked;
  };
  return Object.assign(find, { egress });
}

/** The configuration of a provider without OpenID Connect, which has no discovery. */
export async function configurePlain(
  site: string,
  { authorize, token }: ReturnType<PlainProvider['endpoints']>,
  { id, secret }: ProviderClient,
  egress: Egress,
): Promise<Configuration> {
  const library = await import('openid-client');
  const metadata = { issuer: site, authorization_endpoint: authorize, token_endpoint: token };
  const configuration = new library.Configuration(metadata, id, undefined, library.ClientSecretPost(secret));
  configuration[library.customFetch] = createBoundedFetch(providerLimits, egress.fetchFor(site)) as never;
  configuration.timeout = providerLimits.timeoutMs / 1000;
  if (isPlainHttp(site)) library.allowInsecureRequests(configuration);
  return configuration;
}

/** Unencrypted requests are allowed only if the configured address is `http:`. */
function isPlainHttp(address: string): boolean {
  return address.startsWith('http:');
}

async function discover(address: string, { id, secret }: ProviderClient, egress: Egress): Promise<Issuer> {
  const library = await import('openid-client');
  const boundedFetch = createBoundedFetch(providerLimits, egress.fetchFor(address));
  const execute = isPlainHttp(address) ? [library.allowInsecureRequests] : [];
  const timeout = providerLimits.timeoutMs / 1000;
  const options = { [library.customFetch]: boundedFetch as never, timeout, execute };
  try {
    const authentication = authenticateWith(secret, library);
    const configuration = await library.discovery(new URL(address), id, undefined, authentication, options);
    const keysAddress = new URL(configuration.serverMetadata().jwks_uri ?? '');
    const isAllowed = keysAddress.protocol === 'https:' || (keysAddress.protocol === 'http:' && isPlainHttp(address));
    if (!isAllowed) throw new Error('The keys are not at an https address.');
    const { timeoutMs: timeoutDuration } = providerLimits;
    return { configuration, keys: createRemoteJWKSet(keysAddress, { [customFetch]: boundedFetch, timeoutDuration }) };
  } catch (error) {
    throw new ProviderError('unreachable', error);
  }
}

/** Send the secret in the body if the provider accepts that: providers disagree on how to encode it in a header. */
function authenticateWith(secret: string, library: typeof import('openid-client')): ClientAuth {
  if (secret === '') return library.None();
  const [inBody, inHeader] = [library.ClientSecretPost(secret), library.ClientSecretBasic(secret)];
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return (methods.includes('client_secret_post') ? inBody : inHeader)(server, ...rest);
  };
}

/** Limits of requests to providers: far above the size of keys, tokens and claims, counted after decompression. */
const providerLimits = { timeoutMs: 5000, maxBytes: 262_144 };

/** Makes a `fetch` with limits of time and size. It follows no redirect: a provider must not choose hosts to call. */
export function createBoundedFetch({ timeoutMs, maxBytes }: typeof providerLimits, send: typeof fetch): typeof fetch {
  return async (input, init = {}) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = init.signal ? AbortSignal.any([init.signal, timeout]) : timeout;
    try {
      const response = await send(input, { ...init, signal, redirect: 'manual' });
      const { status, statusText, headers } = response;
      const body = response.body === null ? null : await readBounded(response, maxBytes);
      return new Response(body, { status, statusText, headers });
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    }
  };
}
