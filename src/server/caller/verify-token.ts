/**
 * Verifies JSON Web Tokens with the configured keys.
 *
 * Every key is pinned to one algorithm: the token's header selects a key, never the algorithm. `none`, or HS256 with a
 * public key as the secret, therefore finds no key. A `kid` that names one of our keys selects only that key.
 */
import {
  type CryptoKey,
  createRemoteJWKSet,
  customFetch,
  decodeJwt,
  decodeProtectedHeader,
  errors,
  importJWK,
  type JWK,
  jwtVerify,
} from 'jose';
import type { Config } from '../../config/config.ts';
import { defaultAlgorithm, type JsonWebKeyMember } from '../../config/json-web-keys.ts';
import type { Clock } from '../../shared/clock.ts';
import { openFetch } from '../../shared/egress/egress.ts';
import { PublicError } from '../../shared/errors.ts';
import { invariant } from '../../shared/invariant.ts';
import type { Observe } from '../../shared/observation.ts';
import { readBounded } from '../../shared/read-bounded.ts';

type ImportedKey = CryptoKey | Uint8Array;

interface PinnedKey {
  readonly kid: string | null;
  readonly alg: string;
  readonly key: ImportedKey;
  /** Whether it signs API keys: the secret and our own keys do, keys of third parties do not. */
  readonly own: boolean;
}

type RemoteKeys = ReturnType<typeof createRemoteJWKSet>;

/** The claims of a token whose signature and times are verified. */
export interface VerifiedToken {
  readonly claims: Readonly<Record<string, unknown>>;
  /** The payload exactly as signed. */
  readonly text: string;
  /** Expiry in milliseconds since the epoch, leeway included; null without `exp`. */
  readonly validUntil: number | null;
  /** Whether the secret or a key of our own signed it. */
  readonly isOwn: boolean;
}

/** What is checked beside the signature. */
export interface VerifyOptions {
  /** Accept only the secret and our own keys. */
  readonly ownKeysOnly: boolean;
  /** Check `aud` and `iss` if the configuration sets them. */
  readonly checkAudience: boolean;
}

/** Verifies a token. @throws PublicError `UNAUTHENTICATED`; `UNAVAILABLE` if remote keys cannot be loaded. */
export type VerifyToken = (token: string, options: VerifyOptions) => Promise<VerifiedToken>;

/** The options that decide which tokens are valid. */
export type TokenOptions = Pick<Config, 'jwtSecret' | 'jwtKeys' | 'jwks' | 'jwksUrl' | 'jwtAud' | 'jwtIssuer'>;

/** Allowed difference between clocks, for `exp` and `nbf`, in seconds. */
const leewaySeconds = 30;

/** Imports the keys. Rejects if a key is malformed. */
export async function createTokenVerifier(options: TokenOptions, clock: Clock, observe: Observe): Promise<VerifyToken> {
  const keys = await importKeys(options);
  const remote = options.jwksUrl === null ? null : remoteKeys(new URL(options.jwksUrl), clock, observe);
  return async (token, { ownKeysOnly, checkAudience }) => {
    const candidates = await candidateKeys(
      token,
      ownKeysOnly ? keys.filter(({ own }) => own) : keys,
      ownKeysOnly ? null : remote,
    );
    let failure: unknown = new errors.JWKSNoMatchingKey();
    for (const { key, alg, own } of candidates) {
      try {
        const { payload } = await jwtVerify(token, key, {
          algorithms: [alg],
          clockTolerance: leewaySeconds,
          currentDate: new Date(clock.now()),
          ...(checkAudience && options.jwtAud !== null ? { audience: [...options.jwtAud] } : {}),
          ...(checkAudience && options.jwtIssuer !== null ? { issuer: options.jwtIssuer } : {}),
        });
        const validUntil = payload.exp === undefined ? null : (payload.exp + leewaySeconds) * 1000;
        return { claims: payload, text: payloadText(token), validUntil, isOwn: own };
      } catch (error) {
        failure = error;
        if (!(error instanceof errors.JWSSignatureVerificationFailed)) break;
      }
    }
    throw refusal(failure);
  };
}

/** The unverified claims of a token; null for other text. Make no decision from them alone. */
export function unverifiedClaims(token: string): Readonly<Record<string, unknown>> | null {
  try {
    return decodeJwt(token);
  } catch {
    return null;
  }
}

/** The payload of a well-formed token as written. */
export function payloadText(token: string): string {
  return Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8');
}

async function importKeys({ jwtKeys, jwks, jwtSecret }: TokenOptions): Promise<readonly PinnedKey[]> {
  const k = jwtSecret === null ? null : Buffer.from(jwtSecret).toString('base64url');
  const own = k === null ? jwtKeys : [...jwtKeys, { kty: 'oct', alg: 'HS256', k }];
  return Promise.all([...own.map((jwk) => importKey(jwk, true)), ...jwks.map((jwk) => importKey(jwk, false))]);
}

const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth'];

async function importKey(jwk: JsonWebKeyMember, own: boolean): Promise<PinnedKey> {
  const alg = jwk.alg ?? defaultAlgorithm(jwk);
  const publicEntries = Object.entries(jwk).filter(([member]) => !privateMembers.includes(member));
  const key = await importJWK({ ...Object.fromEntries(publicEntries), key_ops: ['verify'] } as JWK, alg);
  invariant(typeof alg === 'string', 'a key without algorithm cannot be imported');
  return { kid: jwk.kid ?? null, alg, key: key as ImportedKey, own };
}

async function candidateKeys(
  token: string,
  keys: readonly PinnedKey[],
  remote: RemoteKeys | null,
): Promise<readonly Omit<PinnedKey, 'kid'>[]> {
  const { alg, kid } = readHeader(token);
  if (typeof kid === 'string') {
    const named = keys.filter((key) => key.kid === kid);
    if (named.length > 0) return named.filter((key) => key.alg === alg);
  }
  const usable = keys.filter((key) => key.alg === alg && (key.kid === null || kid === undefined));
  if (remote === null || typeof alg !== 'string' || alg === 'none' || alg.startsWith('HS')) return usable;
  return [...usable, ...(await remoteCandidates(remote, alg, kid))];
}

function readHeader(token: string): { alg?: unknown; kid?: unknown } {
  try {
    return decodeProtectedHeader(token);
  } catch (error) {
    throw refusal(error);
  }
}

async function remoteCandidates(remote: RemoteKeys, alg: string, kid: unknown): Promise<Omit<PinnedKey, 'kid'>[]> {
  try {
    return [{ alg, own: false, key: await remote({ alg, ...(typeof kid === 'string' ? { kid } : {}) }) }];
  } catch (error) {
    if (error instanceof errors.JWKSMultipleMatchingKeys) {
      const found: Omit<PinnedKey, 'kid'>[] = [];
      for await (const key of error) found.push({ alg, key, own: false });
      return found;
    }
    if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JOSENotSupported) return [];
    throw new PublicError('UNAVAILABLE', 'The keys that verify tokens cannot be loaded. Try again.', {
      cause: error,
    });
  }
}

const maxKeyAgeMs = 24 * 60 * 60 * 1000;
const failureCooldownMs = 5000;
/** Largest answer of a JWKS URL, hundreds of keys. */
const maxKeyBytes = 262_144;

/**
 * Keys of a JWKS URL: cached for 10 minutes; fetched again for an unknown `kid`, every 30 seconds at most. If the URL
 * fails, the last answer is used for up to a day, with a retry every five seconds at most, and each new reason is observed.
 */
function remoteKeys(url: URL, clock: Clock, observe: Observe): RemoteKeys {
  let good: { readonly body: string; readonly at: number } | null = null;
  let failedAt = Number.NEGATIVE_INFINITY;
  let reported: string | null = null;
  const report = (reason: string) => {
    const message = `The keys of --jwks-url cannot be loaded: ${reason}.`;
    if (reason !== reported) observe({ kind: 'warning', message, hint: 'Tokens that need them get 503.' });
    reported = reason;
  };
  return createRemoteJWKSet(url, {
    [customFetch]: async (address, init) => {
      try {
        if (clock.now() - failedAt < failureCooldownMs) throw new Error('the keys could not be loaded a moment ago');
        const response = await openFetch(address, init);
        if (response.status !== 200) throw new KeysError(`the address answers ${response.status}`);
        good = { body: pinAlgorithms((await readBounded(response, maxKeyBytes)).toString()), at: clock.now() };
        reported = null;
      } catch (error) {
        if (clock.now() - failedAt >= failureCooldownMs) {
          failedAt = clock.now();
          report(whyNotLoaded(error));
        }
        if (good === null || clock.now() - good.at > maxKeyAgeMs) throw error;
      }
      return new Response(good.body);
    },
  });
}

/** The address of keys has answered something else. */
class KeysError extends Error {}

/** Without what was answered, or the address. */
function whyNotLoaded(error: unknown): string {
  if (error instanceof KeysError) return error.message;
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
  if (typeof code === 'string') return code;
  return name === 'TimeoutError' || name === 'AbortError' ? 'no answer in time' : 'the answer has no key set';
}

function pinAlgorithms(text: string): string {
  const { keys } = JSON.parse(text) as { keys: JsonWebKeyMember[] };
  const pinned = keys
    .filter(({ kty }) => kty !== 'oct')
    .map((key) => ({ ...key, alg: key.alg ?? defaultAlgorithm(key) }));
  return JSON.stringify({ keys: pinned });
}

function refusal(cause: unknown): PublicError {
  if (cause instanceof PublicError) return cause;
  if (cause instanceof errors.JWTExpired) {
    return new PublicError('UNAUTHENTICATED', 'The token has expired.', {
      hint: 'Sign in again or refresh the token.',
      cause,
    });
  }
  if (cause instanceof errors.JWTClaimValidationFailed) {
    const message = `The token's claim "${cause.claim}" is not accepted.`;
    return new PublicError('UNAUTHENTICATED', message, {
      hint: 'The token is for another audience or issuer, or not valid yet.',
      cause,
    });
  }
  const hint = 'It must be a JSON Web Token signed by a key of this project.';
  return new PublicError('UNAUTHENTICATED', 'The token could not be verified.', { hint, cause });
}
