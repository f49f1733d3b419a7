/**
 * The state that a request carries through its hooks.
 */
import type { Answer } from '../../execute/executor.ts';
import type { Caller } from '../../postgres/caller/caller.ts';
import type { DisconnectSignal } from '../../shared/disconnect-signal.ts';
import type { Identity } from '../caller/authenticate.ts';

/** State of a request: facts for the log, and whether the client is still connected. */
export interface RequestState extends DisconnectSignal {
  identity: Identity | null;
  /** The caller as the database gets it; only for the GraphQL API. */
  caller: Caller | null;
  authenticateMs: number;
  /** Address of the client, see client-address.ts; null if its connection was closed immediately. */
  readonly address: string | null;
  /** In terms of `performance.now()`. */
  readonly startedAt: number;
  /** Pattern of the path, where its route lacks the method and so the framework found none. */
  refusedPath: string | null;
  answer: Omit<Answer, 'body'> | null;
  /** Error code of an answer of the auth service or the management API. */
  errorCode: string | null;
  bytes: number;
  /** Refused because of overload. */
  shed: boolean;
}

declare module 'fastify' {
  interface FastifyRequest {
    state: RequestState;
  }
  interface FastifyContextConfig {
    /** False: the CORS plugin skips the route. */
    cors?: false;
  }
}
