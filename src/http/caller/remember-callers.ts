/**
 * Caches the caller of each socket: clients keep sockets open and send the same headers again. A repeated request needs
 * no hash, no look-up and no new text for the database.
 *
 * All headers except the body's length must be equal. They stay in memory while the socket is open, including the
 * token; verification expires as in the other cache. When all sockets together exceed the limit, everything is dropped,
 * because clients choose the size of headers.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../../postgres/caller/caller.ts';
import { graphqlPath } from '../server/paths.ts';
import { type Authenticate, callerOf, type Identity } from './authenticate.ts';

/** The caller of one request: identity, and the caller for the database. */
export interface KnownCaller {
  readonly identity: Identity;
  readonly caller: Caller;
}

/** The caller of each socket, kept while the socket is open. */
export interface CallerMemory {
  /**
   * Verifies the headers of a request; answers synchronously on a cache hit.
   *
   * @throws PublicError (or rejects with one).
   */
  find(request: FastifyRequest): KnownCaller | Promise<KnownCaller>;
  /** The cached caller, without verification; null: unknown. */
  recall(raw: IncomingMessage): Identity | null;
}

interface Remembered {
  readonly method: string;
  readonly rawHeaders: readonly string[];
  readonly identity: Identity;
  /** By body length, because the headers sent to the database include it. */
  readonly callers: Map<string, Caller>;
}

/** Most body lengths cached per socket. */
const maxLengths = 32;
/** Limit of the estimated bytes of all sockets, including those closed since the last clearing. */
const maxBytes = 32 * 1024 * 1024;
/** Copies of a caller: the headers, their JSON, and the settings of reading and of writing flights. */
const copies = 6;
const bytesPerCaller = 1024;

/** Builds the cache. */
export function rememberCallers(authenticate: Authenticate): CallerMemory {
  let sockets = new WeakMap<Socket, Remembered>();
  let bytes = 0;

  /** Accounts for one more caller; clears the cache when it is full. */
  function spend({ rawHeaders }: IncomingMessage, { claims }: Identity): void {
    bytes += bytesPerCaller + copies * rawHeaders.reduce((sum, text) => sum + text.length, claims.length);
    if (bytes <= maxBytes) return;
    sockets = new WeakMap();
    bytes = 0;
  }

  function learn(request: FastifyRequest, identity: Identity): KnownCaller {
    const { raw, method } = request;
    spend(raw, identity);
    const caller = callerOf(identity, request.headers, method, graphqlPath);
    const callers = new Map([[lengthOf(request), caller]]);
    sockets.set(raw.socket, { method, rawHeaders: raw.rawHeaders, identity, callers });
    return { identity, caller };
  }

  function lookUp(raw: IncomingMessage): Remembered | null {
    const known = sockets.get(raw.socket);
    const isKnown = known !== undefined && known.identity.validUntil > authenticate.now() && isSame(known, raw);
    return isKnown ? known : null;
  }

  return {
    find(request) {
      const known = lookUp(request.raw);
      if (known === null) {
        const identity = authenticate(request.headers);
        return identity instanceof Promise ? identity.then((found) => learn(request, found)) : learn(request, identity);
      }
      const { identity, callers } = known;
      const length = lengthOf(request);
      let caller = callers.get(length);
      if (caller === undefined) {
        if (callers.size >= maxLengths) callers.clear();
        spend(request.raw, identity);
        caller = callerOf(identity, request.headers, request.method, graphqlPath);
        callers.set(length, caller);
      }
      return { identity, caller };
    },
    recall: (raw) => lookUp(raw)?.identity ?? null,
  };
}

function lengthOf({ headers }: FastifyRequest): string {
  return headers['content-length'] ?? '';
}

/** Compares names and values as sent, in order; a name may occur twice. */
function isSame({ method, rawHeaders }: Remembered, raw: IncomingMessage): boolean {
  const { rawHeaders: sent } = raw;
  if (sent.length !== rawHeaders.length || method !== raw.method) return false;
  for (let at = 0; at < sent.length; at += 2) {
    const name = sent[at];
    if (name !== rawHeaders[at]) return false;
    if (sent[at + 1] !== rawHeaders[at + 1] && name?.toLowerCase() !== 'content-length') return false;
  }
  return true;
}
