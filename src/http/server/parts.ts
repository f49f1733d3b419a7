/**
 * What every route of the server is built from, and what a request carries through its hooks.
 */

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AuthServices } from '../../auth/steps/auth-context.ts';
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import type { Config } from '../../config/config.ts';
import type { Inbox } from '../../email/transport/inbox.ts';
import type { DescribedSchema } from '../../execute/describe-schema.ts';
import type { Answer, Executor, GraphQLRequest } from '../../execute/executor.ts';
import type { ExplainedStatement } from '../../execute/explain-operation.ts';
import type { DeliverMessage, ManagementApi } from '../../management/management-api.ts';
import type { Caller } from '../../postgres/caller/caller.ts';
import type { DisconnectSignal } from '../../shared/disconnect-signal.ts';
import type { Observe } from '../../shared/observation.ts';
import type { Authenticate, Identity } from '../caller/authenticate.ts';
import type { IsTrusted } from '../caller/client-address.ts';

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

/** The auth service behind the routes. */
export interface AuthParts {
  readonly services: AuthServices;
  /** Public address of the service without a slash at the end: `https://db.example.net/auth/v1`. */
  readonly authUrl: string;
  readonly isFromProxy: IsTrusted;
  /** The configuration as this process knows it, without a look at the database. */
  readonly knownConfig: () => AuthConfig;
  /** The configuration that is in force now. @throws DatabaseError */
  readonly currentConfig: () => Promise<AuthConfig>;
  /** Shortest time of answers whose time would tell who has an account, in milliseconds from the arrival of the request. */
  readonly minResponseMs: number;
  /** Whether the database has the tables of the service. @throws DatabaseError */
  readonly isInstalled: () => Promise<boolean>;
}

/** The path under which the service is mounted. */
export const authPath = '/auth/v1';

/** The path under which the management API of a project is mounted. */
export const projectPath = '/v1/projects/:ref';

/** The page of captured emails; the paths of its requests begin with it. */
export const inboxPath = '/studio/inbox';

/** Header and cookie of the position in the primary's log up to which a caller must see writes. */
export const positionName = 'pgreflect-lsn';

/** What the routes work with. */
export interface InboxParts {
  readonly inbox: Inbox;
  /** Whether emails are captured at the moment; where they are not, there is nothing at these paths. */
  readonly isCaptured: () => boolean;
  /** Whether a token is an access token that may read this project's configuration. */
  readonly verifyAccessToken: (token: string) => boolean | Promise<boolean>;
  /** Whether people on this machine need no token. */
  readonly isOpen: boolean;
}

/** What the routes need. */
export interface ManagementParts {
  readonly api: ManagementApi;
  /** Way out of the emails; null where there is no auth service. */
  readonly deliver: DeliverMessage | null;
  /** What a role sees; null for a role that the database does not have. @throws DatabaseError */
  readonly describeSchema: (role: string) => Promise<DescribedSchema | null>;
  /** Roles that requests may have; `*`: any. */
  readonly allowedRoles: Config['allowedRoles'];
  /** Requests that a token may make within a minute; null: as many as it likes. */
  readonly perMinute: number | null;
  /**
   * Counts a request of a token. Renderings are counted apart, because one is asked for at every pause in typing.
   *
   * @param limit Requests within a minute.
   * @returns Null where it may go on, else the milliseconds until one may again.
   */
  readonly takeRequest: (tokenId: string, kind: RequestKind, limit: number) => Promise<number | null>;
}

/** What requests are counted as. */
export type RequestKind = 'request' | 'rendering';

/** What the route needs. */
export interface MetricsParts {
  /** The text for Prometheus, and its type. */
  readonly print: () => Promise<PrintedMetrics>;
  /** Whether the header `Authorization` holds an access token. */
  readonly mayRead: (authorization: string | undefined) => Promise<boolean>;
}

/** A finished answer. */
export interface PrintedMetrics {
  readonly type: string;
  readonly text: string;
}

/**
 * The statements of an operation with their plans.
 *
 * @param claims JSON.
 * @throws PublicError The first reason why the operation cannot be run; `NOT_FOUND` for a role that is not there.
 */
export type Explain = (role: string, claims: string, request: GraphQLRequest) => Promise<readonly ExplainedStatement[]>;

/** What the routes need beside the other parts. */
export interface StudioParts {
  /** Whether the one-time token of an address was good; it is not any more. */
  readonly redeemTicket: (ticket: string) => boolean;
  /** Ref of the project. @throws DatabaseError */
  readonly ref: () => Promise<string>;
  readonly api: ManagementApi;
  readonly explain: Explain;
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
    /** The plugin for CORS lets the route alone. */
    cors?: false;
  }
}

/** A route's hook in callback style: no promise on the fast path. */
export type Hook = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void;

/** The path of the GraphQL API. */
export const graphqlPath = '/graphql/v1';
