/**
 * The parts that routes are built from.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AuthServices } from '../auth/steps/auth-context.ts';
import type { AuthConfig } from '../config/auth/auth-config.ts';
import type { Config } from '../config/config.ts';
import type { ReceiveEvents } from '../email/events/receive-events.ts';
import type { Inbox } from '../email/transport/inbox.ts';
import type { DescribedSchema } from '../graphql/execute/describe-schema.ts';
import type { Executor, GraphQLRequest } from '../graphql/execute/executor.ts';
import type { ExplainedStatement } from '../graphql/execute/explain-operation.ts';
import type { DeliverMessage, ManagementApi } from '../management/management-api.ts';
import type { Observe } from '../shared/observation.ts';
import type { Authenticate } from './caller/authenticate.ts';
import type { IsTrusted } from './caller/client-address.ts';

/** The parts that HTTP needs; all live as long as the server. */
export interface HttpParts {
  readonly config: Config;
  readonly executor: Executor;
  readonly authenticate: Authenticate;
  /** Why requests cannot be answered now, in one sentence; null if they can. For `/ready`. */
  readonly ready: () => Promise<string | null>;
  readonly observe: Observe;
  /** API key to prefill in GraphiQL; null leaves the field empty. Only for local projects: the page is public. */
  readonly graphiqlApiKey: string | null;
  /** The management API; absent if disabled. */
  readonly management?: ManagementParts;
  /** The auth service; absent if no key signs tokens. */
  readonly auth?: AuthParts;
  /** For Prometheus; absent: no such route. */
  readonly metrics?: MetricsParts;
  /** Captured emails; absent without an auth service. */
  readonly inbox?: InboxParts;
  /** The studio; absent without a management API. */
  readonly studio?: StudioParts;
}

/** The auth service behind the routes. */
export interface AuthParts {
  readonly services: AuthServices;
  /** Public address of the service without a slash at the end: `https://db.example.net/auth/v1`. */
  readonly authUrl: string;
  readonly isFromProxy: IsTrusted;
  /** The cached configuration, without a database query. */
  readonly knownConfig: () => AuthConfig;
  /** The current configuration. @throws DatabaseError */
  readonly currentConfig: () => Promise<AuthConfig>;
  /** Whether the database has the auth tables. @throws DatabaseError */
  readonly isInstalled: () => Promise<boolean>;
}

/** What the routes of the inbox need. */
export interface InboxParts {
  readonly inbox: Inbox;
  /** Whether emails are captured now; if not, these paths answer 404. */
  readonly isCaptured: () => boolean;
  /** Whether a token is an access token that may read this project's configuration. @param from As for `ManagementApi.authorize`. */
  readonly verifyAccessToken: (token: string, from: string) => boolean | Promise<boolean>;
  /** Whether browsers on this machine need no token. */
  readonly isOpen: boolean;
}

/** What the routes of the management API need. */
export interface ManagementParts {
  readonly api: ManagementApi;
  /** Sends emails; null without an auth service. */
  readonly deliver: DeliverMessage | null;
  /** Receives what mail services tell of emails; null without an auth service. */
  readonly receiveEvents: ReceiveEvents | null;
  /** The schema of a role; null if the database lacks the role. @throws DatabaseError */
  readonly describeSchema: (role: string) => Promise<DescribedSchema | null>;
  /** Roles that requests may use; `*`: any. */
  readonly allowedRoles: Config['allowedRoles'];
  /** Requests per minute and token; null: no limit. */
  readonly perMinute: number | null;
  /**
   * Counts a request of a token. Renderings are counted separately, because the editor sends one at every pause in
   * typing.
   *
   * @param limit Requests per minute.
   * @returns Null if allowed, otherwise the milliseconds until the next one is.
   */
  readonly takeRequest: (tokenId: string, kind: RequestKind, limit: number) => Promise<number | null>;
}

/** Kinds of requests, counted separately. */
export type RequestKind = 'request' | 'rendering';

/** What the route of the metrics needs. */
export interface MetricsParts {
  /** The text for Prometheus, and its type. */
  readonly print: () => Promise<PrintedMetrics>;
  /** Whether this is an access token. @param token Null without one. @param from As for `ManagementApi.authorize`. */
  readonly mayRead: (token: string | null, from: string) => Promise<boolean>;
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
 * @throws PublicError The first reason why the operation cannot run; `NOT_FOUND` for an unknown role.
 */
export type Explain = (role: string, claims: string, request: GraphQLRequest) => Promise<readonly ExplainedStatement[]>;

/** What the routes of the studio need in addition. */
export interface StudioParts {
  /** Whether the one-time token of an address was valid. Uses it up. */
  readonly redeemTicket: (ticket: string) => boolean;
  /** Ref of the project. @throws DatabaseError */
  readonly ref: () => Promise<string>;
  readonly api: ManagementApi;
  readonly explain: Explain;
}

/** A route's hook in callback style: no promise on the fast path. */
export type Hook = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void;
