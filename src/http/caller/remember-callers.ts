/**
 * Remembers who asked last on each socket: clients keep sockets open and send the same headers again and again, and then
 * neither a hash, nor a look-up, nor new text for the database is needed.
 *
 * Only the very same headers count, all of them but the length of the body. They stay in memory while the socket is
 * open, the token among them; what was verified is verified again as soon as anywhere else. All sockets together are forgotten when
 * what they keep has become too much: headers are as large as clients like.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { Caller } from '../../postgres/caller/caller.ts';
import { graphqlPath } from '../server/parts.ts';
import { type Authenticate, callerOf, type Identity } from './authenticate.ts';

/** The caller of one request, on both sides of the gateway. */
export interface KnownCaller {
  readonly identity: Identity;
  readonly caller: Caller;
}

/** Who asked on which socket; they are remembered as long as they live. */
export interface CallerMemory {
  /** Verifies the headers of a request; answers at once where it has seen them before. @throws PublicError (or rejects with one). */
  find(request: FastifyRequest): KnownCaller | Promise<KnownCaller>;
  /** Who asks, where that is known without verifying anything; null: it has to be found out. */
  recall(raw: IncomingMessage): Identity | null;
}

interface Remembered {
  readonly method: string;
  readonly rawHeaders: readonly string[];
  readonly identity: Identity;
  /** By length of the body, which is among the headers that the database is told. */
  readonly callers: Map<string, Caller>;
}

/** Most lengths remembered for one socket. */
const maxLengths = 32;
/** Estimated bytes remembered for all sockets, those that have been closed since the last time among them. */
const maxBytes = 32 * 1024 * 1024;
/** A caller stands in the headers, their JSON, and the settings of the flights that read and of those that write. */
const copies = 6;
const bytesPerCaller = 1024;

/** Builds the look-up. */
export function rememberCallers(authenticate: Authenticate): CallerMemory {
  let sockets = new WeakMap<Socket, Remembered>();
  let bytes = 0;

  /** Makes room for one more caller. */
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

/** Names and values as they were sent, in order; the same name may come twice. */
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
