/**
 * What every route of the server is built from, and what a request carries through its hooks.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config/config.ts';
import type { Caller } from '../database/caller.ts';
import type { Answer, Executor } from '../execute/executor.ts';
import type { DisconnectSignal } from '../shared/disconnect-signal.ts';
import type { Observe } from '../shared/observation.ts';
import type { AuthParts } from './auth-parts.ts';
import type { Authenticate, Identity } from './authenticate.ts';
import type { InboxParts } from './inbox-route.ts';
import type { ManagementParts } from './management-route.ts';
import type { MetricsParts } from './metrics-route.ts';
import type { StudioParts } from './studio-route.ts';

/** The parts that HTTP needs; all of them live as long as the server. */
export interface HttpParts {
  readonly config: Config;
  readonly executor: Executor;
  readonly authenticate: Authenticate;
  /** Why requests cannot be answered at the moment, in one sentence; null where they can. For `/ready`. */
  readonly ready: () => Promise<string | null>;
  readonly observe: Observe;
  /** API key to fill into GraphiQL; null leaves the field empty. Only for local projects: everyone can read the page. */
  readonly graphiqlApiKey: string | null;
  /** The management API; absent where it is switched off. */
  readonly management?: ManagementParts;
  /** The auth service; absent where no key signs tokens. */
  readonly auth?: AuthParts;
  /** For Prometheus; absent: there is no such route. */
  readonly metrics?: MetricsParts;
  /** Captured emails; absent where there is no auth service. */
  readonly inbox?: InboxParts;
  /** The studio; absent where there is no management API for it to talk to. */
  readonly studio?: StudioParts;
}

/** What becomes known of a request on its way, mostly for the log, and whether its client is still there. */
export interface RequestState extends DisconnectSignal {
  identity: Identity | null;
  /** What the database is told of the caller; only for the GraphQL API. */
  caller: Caller | null;
  authenticateMs: number;
  /** Address of the client, see client-address.ts; null where its connection was gone at once. */
  readonly address: string | null;
  /** Of `performance.now()`. */
  readonly startedAt: number;
  answer: Omit<Answer, 'body'> | null;
  /** Code of the error that the auth service or the management API answered with; its table is theirs. */
  errorCode: string | null;
  bytes: number;
  /** Refused because of the load. */
  shed: boolean;
}

declare module 'fastify' {
  interface FastifyRequest {
    state: RequestState;
  }
  interface FastifyContextConfig {
    /** False: the plugin for CORS lets the route alone; else what is special about the route. */
    cors?: false | { readonly exposedHeaders: string[]; readonly allowedHeaders: string[] };
  }
}

/** A route's hook in callback style: no promise on the fast path. */
export type Hook = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void;

/** The path of the GraphQL API. */
export const graphqlPath = '/graphql/v1';
