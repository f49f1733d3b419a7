/**
 * Caches the caller of a request by its headers: clients send the same ones again. A repeated request needs one look-up,
 * and its caller is the same object, by which the settings for the database are cached (postgres/caller/preamble.ts).
 *
 * All headers except the body's length and the trace must be equal. They are the key as they are, with the token, because hashing
 * them takes four times as long as the look-up. Verification expires as in `authenticate`.
 */
import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Caller } from '../../postgres/caller/caller.ts';
import { graphqlPath } from '../paths.ts';
import { type Authenticate, callerOf, type VerifiedCaller } from './authenticate.ts';

/** The caller of one request: identity, and the caller for the database. */
export interface KnownCaller {
  readonly identity: VerifiedCaller;
  readonly caller: Caller;
}

/** Verifies headers; synchronous on a cache hit. @throws PublicError (or rejects with one). */
export type FindCaller = (request: FastifyRequest) => KnownCaller | Promise<KnownCaller>;

/** Limit of the estimated bytes: clients choose the size of headers. A limit of callers would allocate for all of them at once. */
const maxBytes = 32 * 1024 * 1024;
/** Of claims and headers: the caller's own, and the bytes that the database gets. */
const copies = 2;
/** Measured (test/unit/server/remembered-callers.test.ts): all that is no text. */
const bytesPerCaller = 2300;

/** Builds the cache. */
export function rememberCallers(authenticate: Authenticate): FindCaller {
  const callers = new LRUCache<string, KnownCaller>({
    maxSize: maxBytes,
    sizeCalculation: ({ caller: { claims, headers } }, key) =>
      bytesPerCaller + key.length + copies * (claims.length + headers.length),
  });
  let keysVersion = 0;
  return (request) => {
    const version = authenticate.keysVersion();
    if (version !== keysVersion) callers.clear();
    keysVersion = version;
    const key = keyOf(request);
    const known = callers.get(key);
    if (known !== undefined && known.identity.validUntil > authenticate.now()) return known;
    const learn = (identity: VerifiedCaller): KnownCaller => {
      const found = { identity, caller: callerOf(identity, request.headers, request.method, graphqlPath) };
      if (version === authenticate.keysVersion()) callers.set(key, found);
      return found;
    };
    const identity = authenticate(request.headers);
    return identity instanceof Promise ? identity.then(learn) : learn(identity);
  };
}

const perRequest: ReadonlySet<string> = new Set(['content-length', 'traceparent', 'tracestate']);

/** Names and values as sent, in order, each with its length, so that different lists have different keys. */
function keyOf({ method, raw: { rawHeaders } }: FastifyRequest): string {
  let text = method;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (isPerRequest(name)) continue;
    const value = rawHeaders[at + 1] as string;
    text += `\n${name.length} ${value.length} ${name}${value}`;
  }
  return text;
}

/** Headers that `callerOf` leaves out. */
function isPerRequest(name: string): boolean {
  const { length } = name;
  return (length === 14 || length === 11 || length === 10) && perRequest.has(name.toLowerCase());
}
