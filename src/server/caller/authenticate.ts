/**
 * Authenticates a caller by the request headers.
 *
 * The `apikey` header decides the base role; a Bearer token, if present, is verified and its role claim wins. Verified
 * headers are cached under their hash, so a client's next request costs one hash and one look-up, and no token is
 * stored. Refusals are not cached.
 */
import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { Config } from '../../config/config.ts';
import type { Caller } from '../../postgres/caller/caller.ts';
import { readBearerToken } from '../../shared/bearer-token.ts';
import { type Clock, systemClock } from '../../shared/clock.ts';
import { PublicError } from '../../shared/errors.ts';
import type { Observe } from '../../shared/observation.ts';
import { readRoleClaim } from '../../shared/role-claim.ts';
import { sameText } from '../../shared/same-text.ts';
import { explainKey, explainToken } from './explain-key.ts';
import {
  createTokenVerifier,
  payloadText,
  type TokenOptions,
  unverifiedClaims,
  type VerifiedToken,
  type VerifyOptions,
  type VerifyToken,
} from './verify-token.ts';

/** A verified caller, without facts of the single request. */
export interface VerifiedCaller {
  /** Never empty, never `none`. */
  readonly role: string;
  /** Text of `request.jwt.claims`. */
  readonly claims: string;
  /** The token's `sub`; null without a user. */
  readonly subject: string | null;
  /** When the headers must be verified again, in milliseconds since the epoch. */
  readonly validUntil: number;
}

/** Verifies headers; answers synchronously on a cache hit. @throws PublicError (or rejects with one). */
export interface Authenticate {
  (headers: IncomingHttpHeaders): VerifiedCaller | Promise<VerifiedCaller>;
  /** Verifies a token with the present keys. */
  readonly verifyToken: VerifyToken;
  /** The clock for `VerifiedCaller.validUntil`. */
  now(): number;
  /** Grows when the keys are replaced: who was verified before must be verified again. */
  keysVersion(): number;
  /** Calls back when the keys are replaced. @returns Stops that. */
  onReplaced(listener: () => void): () => void;
  /** Imports other keys. Rejects if one is malformed. @returns Replaces the keys, once `options` has the same ones. */
  prepare(next: TokenOptions): Promise<() => void>;
}

type KeyOptions = Pick<Config, 'anonRole' | 'serviceRole' | 'anonKey' | 'serviceKey' | 'localProject'>;

type AuthenticationOptions = TokenOptions &
  KeyOptions &
  Pick<Config, 'jwtRoleClaim' | 'allowedRoles' | 'requireApiKey'>;

interface FoundCaller {
  readonly identity: Omit<VerifiedCaller, 'validUntil'>;
  /** Milliseconds since the epoch; null: as long as the keys are configured. */
  readonly validUntil: number | null;
}

/** Of the estimated bytes, 1 kB a caller. A limit of callers would allocate for all of them at once. */
const maxRememberedBytes = 32 * 1024 * 1024;
/** How long a key that was removed at the JWKS URL still works. */
const maxRememberedMs = 5 * 60 * 1000;
/** What has expired is forgotten so often, because nobody may ask for it again. */
const forgetEveryMs = 60 * 1000;

/**
 * Builds the check. Rejects if a configured key is malformed.
 *
 * @param options Their values may be replaced (`prepare`).
 */
export async function createAuthenticator(
  options: AuthenticationOptions,
  clock: Clock = systemClock,
  observe: Observe = () => {},
): Promise<Authenticate> {
  let verify = await createTokenVerifier(options, clock, observe);
  let keysVersion = 0;
  const listeners = new Set<() => void>();
  const known = new LRUCache<string, VerifiedCaller>({
    maxSize: maxRememberedBytes,
    sizeCalculation: ({ claims }) => 1000 + claims.length,
    perf: { now: () => clock.now() },
    ttlResolution: 0,
  });
  let forgottenAt = clock.now();

  async function find(
    apiKey: string | undefined,
    authorization: string | undefined,
    cacheKey: string,
  ): Promise<VerifiedCaller> {
    const version = keysVersion;
    const found = await identify(apiKey, ownToken(authorization), { options, verify, clock });
    // Replaced meanwhile: what was verified with the keys before must not be remembered.
    if (version !== keysVersion) return find(apiKey, authorization, cacheKey);
    const now = clock.now();
    const ttl = found.validUntil === null ? maxRememberedMs : Math.min(maxRememberedMs, found.validUntil - now);
    const identity = { ...found.identity, validUntil: now + ttl };
    if (ttl >= 1) known.set(cacheKey, identity, { ttl });
    if (now - forgottenAt >= forgetEveryMs) {
      known.purgeStale();
      forgottenAt = now;
    }
    return identity;
  }

  const authenticate = (headers: IncomingHttpHeaders): VerifiedCaller | Promise<VerifiedCaller> => {
    const apiKey = headers.apikey as string | undefined;
    const { authorization } = headers;
    const cacheKey = hash(
      'sha256',
      `${apiKey === undefined ? '-' : apiKey.length}:${apiKey ?? ''}${authorization ?? ''}`,
      'base64',
    );
    return known.get(cacheKey) ?? find(apiKey, authorization, cacheKey);
  };
  const prepare = async (next: TokenOptions) => {
    const imported = await createTokenVerifier(next, clock, observe);
    return () => {
      verify = imported;
      keysVersion += 1;
      known.clear();
      for (const listener of [...listeners]) listener();
    };
  };
  const onReplaced = (listener: () => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
  return Object.assign(authenticate, {
    verifyToken: (token: string, how: VerifyOptions) => verify(token, how),
    now: () => clock.now(),
    keysVersion: () => keysVersion,
    onReplaced,
    prepare,
  });
}

/**
 * The facts of a request that the database gets. Length and trace would make a caller of each request, whose settings
 * are prepared anew.
 */
export function callerOf(identity: VerifiedCaller, headers: IncomingHttpHeaders, method: string, path: string): Caller {
  const { authorization: _token, apikey: _key, cookie: _cookie, ...open } = headers;
  const { 'content-length': _length, traceparent: _trace, tracestate: _state, ...visible } = open;
  return { role: identity.role, claims: identity.claims, headers: JSON.stringify(visible), method, path };
}

interface KeyParts {
  readonly options: KeyOptions;
  readonly verify: VerifyToken;
  readonly clock: Clock;
}

interface Parts extends KeyParts {
  readonly options: AuthenticationOptions;
}

async function identify(apiKey: string | undefined, bearer: string | null, parts: Parts): Promise<FoundCaller> {
  const { options } = parts;
  const base = apiKey === undefined ? keylessCaller(options) : await findKey(apiKey, parts);
  if (base === null) {
    throw new PublicError('UNAUTHENTICATED', 'Invalid API key', { hint: explainKey(apiKey ?? '', parts.clock.now()) });
  }
  if (bearer === null || bearer === apiKey) return base;
  const hint = explainToken(bearer);
  if (hint !== null) throw new PublicError('UNAUTHENTICATED', 'The token could not be verified.', { hint });
  const asKey = await findKey(bearer, parts);
  const caller = asKey ?? (await findUser(bearer, parts));
  return { identity: caller.identity, validUntil: earlier(base.validUntil, caller.validUntil) };
}

function keylessCaller(options: AuthenticationOptions): FoundCaller {
  if (options.requireApiKey) {
    // The first sentence is Supabase's.
    const hint =
      'No `apikey` request header or url param was found. Send the anon key in the header `apikey`: keys in URLs are read for event streams alone.';
    throw new PublicError('UNAUTHENTICATED', 'No API key found in request', { hint });
  }
  return { identity: roleAlone(options.anonRole), validUntil: null };
}

/** The caller of an API key; null if it is not one of ours. */
export async function findKey(key: string, { options, verify, clock }: KeyParts): Promise<FoundCaller | null> {
  for (const [configured, role] of [
    [options.anonKey, options.anonRole],
    [options.serviceKey, options.serviceRole],
  ] as const) {
    // biome-ignore format: pairs
    if (configured !== null && sameText(configured, key)) return configuredKey(key, role, clock);
  }
  const claims = unverifiedClaims(key);
  if (claims === null || !isKey(claims, options) || isWithdrawn(claims, options)) return null;
  try {
    const { text, validUntil } = await verify(key, { ownKeysOnly: true, checkAudience: false });
    return { identity: { role: claims.role, claims: text, subject: null }, validUntil };
  } catch (error) {
    if (error instanceof PublicError && error.code === 'UNAUTHENTICATED') return null;
    throw error;
  }
}

type KeyClaims = Readonly<Record<string, unknown>> & { readonly role: string };

/** Whether the claims are an API key's: without a user, and with one of the two roles. */
function isKey(claims: Readonly<Record<string, unknown>>, options: KeyOptions): claims is KeyClaims {
  return claims.sub === undefined && (claims.role === options.anonRole || claims.role === options.serviceRole);
}

/** If a key is configured for the role, only that one is valid: this withdraws all others. Nobody chose those of a local project. */
function isWithdrawn({ role }: KeyClaims, options: KeyOptions): boolean {
  if (options.localProject) return false;
  return (role === options.anonRole ? options.anonKey : options.serviceKey) !== null;
}

/** Refuses a withdrawn key of ours, whose signature is still valid. @throws PublicError `UNAUTHENTICATED` */
export function refuseWithdrawnKey({ claims, isOwn }: VerifiedToken, options: KeyOptions): void {
  if (!isOwn || !isKey(claims, options) || !isWithdrawn(claims, options)) return;
  const hint = 'Use the key that is configured now; tokens of a server need the claim "sub".';
  throw new PublicError('UNAUTHENTICATED', 'This API key was replaced.', { hint });
}

/** A configured key needs no signature check; a token among them still expires. */
function configuredKey(key: string, role: string, clock: Clock): FoundCaller | null {
  const claims = unverifiedClaims(key);
  if (claims === null) return { identity: roleAlone(role), validUntil: null };
  const validUntil = typeof claims.exp === 'number' ? claims.exp * 1000 : null;
  if (validUntil !== null && validUntil <= clock.now()) return null;
  return { identity: { role, claims: payloadText(key), subject: null }, validUntil };
}

async function findUser(token: string, { options, verify }: Parts): Promise<FoundCaller> {
  const verified = await verify(token, { ownKeysOnly: false, checkAudience: true });
  refuseWithdrawnKey(verified, options);
  const { claims, text, validUntil } = verified;
  const role = readRoleClaim(claims, options.jwtRoleClaim) ?? options.anonRole;
  assertAllowed(role, options);
  return { identity: { role, claims: text, subject: typeof claims.sub === 'string' ? claims.sub : null }, validUntil };
}

function assertAllowed(role: unknown, options: AuthenticationOptions): asserts role is string {
  // Empty text and `none` are not roles in PostgreSQL: `set role` with them means the login role.
  if (typeof role !== 'string' || role === '' || role === 'none' || !canBeName(role)) {
    throw new PublicError(
      'ROLE_NOT_ALLOWED',
      `The token's claim "${options.jwtRoleClaim}" does not contain a role name.`,
    );
  }
  if (options.allowedRoles !== '*' && !options.allowedRoles.includes(role)) {
    const message = `The token's role "${role}" is not allowed here.`;
    throw new PublicError('ROLE_NOT_ALLOWED', message, { hint: 'Add the role to --allowed-roles.' });
  }
}

/** PostgreSQL truncates longer names and cannot store NUL. */
function canBeName(text: string): boolean {
  return Buffer.byteLength(text) <= 63 && !text.includes('\0') && text.isWellFormed();
}

/** Null without one: other schemes are for a proxy in front of the gateway. @throws PublicError `UNAUTHENTICATED` */
function ownToken(authorization: string | undefined): string | null {
  if (/^[\w-]+\.[\w-]+\.[\w-]+$/.test(authorization ?? '')) {
    const message = 'The header Authorization has a token without "Bearer" before it.';
    throw new PublicError('UNAUTHENTICATED', message, { hint: 'Send the header Authorization as: Bearer TOKEN' });
  }
  return readBearerToken(authorization);
}

function roleAlone(role: string): FoundCaller['identity'] {
  return { role, claims: JSON.stringify({ role }), subject: null };
}

function earlier(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.min(a, b);
}
