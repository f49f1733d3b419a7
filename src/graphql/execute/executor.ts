/** The executor's interface for HTTP: one GraphQL request of one caller in, one finished JSON body out. */
import type { Config } from '../../config/config.ts';
import type { Caller } from '../../postgres/caller/caller.ts';
import type { DisconnectSignal } from '../../shared/disconnect-signal.ts';
import type { AnswerFacts } from '../../shared/observation.ts';
import type { Span } from '../../shared/trace/span.ts';
import type { NamedDocument } from '../documents/trusted-list.ts';
import type { Text } from './answer/compressed-text.ts';
import type { BatchUse } from './batch-use.ts';
import type { RelationsOfRun } from './read-relations.ts';

/** The relevant members of a request body, their JSON types checked. */
export interface GraphQLRequest extends NamedDocument, Omit<ChosenRequest, 'query'> {}

/** A request whose document is found. */
export interface ChosenRequest {
  readonly query: string;
  readonly operationName: string | null;
  /** Integers beyond JavaScript's exact range are `bigint`, other such numbers are text; nothing is rounded. */
  readonly variables: Readonly<Record<string, unknown>> | null;
}

/** Facts about a request besides its body. */
export interface RequestContext {
  readonly requestId: string;
  /** Its span; absent: nobody records it. */
  readonly span?: Span | null;
  /** The key for fair queueing: the user, or the network of a caller without a user. */
  readonly queuedAs: string;
  /** Aborted on disconnect; cancels the statement. */
  readonly signal: DisconnectSignal | null;
  /** Errors may carry `extensions.hint` about hidden objects: local project or service role. */
  readonly showHints: boolean;
  /** Exempt from limits of depth, aliases, tokens, cost and root fields. */
  readonly unlimited: boolean;
  /** May run documents that are not trusted. */
  readonly anyDocument: boolean;
  /** Position in the primary's log that the server of a query must have reached; absent: any. */
  readonly minWalPosition?: bigint | null;
  /** Mutations are refused: the request came by GET. */
  readonly queriesOnly?: boolean;
  /** One run of a live query: subscriptions are answered once, as queries. Otherwise they are refused. */
  readonly isLive?: boolean;
  /** Receives the relations that a run of a query has read; absent: not asked. */
  readonly reads?: RelationsOfRun | null;
  /** The batch that the request is a member of; absent: none. */
  readonly batch?: BatchUse;
}

/** The options that `privilegesOf` reads. */
export type PrivilegeOptions = Pick<Config, 'serviceRole' | 'localProject' | 'limits' | 'trustedOnly'>;

/** What hints a role gets, whether it passes the limits of requests, and which documents it may run. */
export function privilegesOf(
  { serviceRole, localProject, limits, trustedOnly }: PrivilegeOptions,
  role: string,
): Pick<RequestContext, 'showHints' | 'unlimited' | 'anyDocument'> {
  const isService = role === serviceRole;
  const unlimited = isService && !limits.limitServiceRole;
  return { showHints: localProject || isService, unlimited, anyDocument: isService || !trustedOnly };
}

/** A finished answer, with facts for the edge and the log. */
export interface Answer extends AnswerFacts {
  /** The complete response body: JSON with `data` and/or `errors`. */
  readonly body: Text;
  /** The primary's log position after a mutation, for `mustSee`; only with replicas. */
  readonly writtenAt?: string;
}

/** The interface of GraphQL for HTTP. */
export interface Executor {
  /** Errors of clients, operators and the database are answers; never rejects for them. */
  execute(caller: Caller, request: GraphQLRequest, context: RequestContext): Promise<Answer>;
  /** Milliseconds in which at least one request was being answered, runs of live queries aside. */
  busyMs(): number;
  /** Whether the request is a subscription; false where it is refused before that is known. */
  isSubscription(role: string, request: GraphQLRequest, context: RequestContext): Promise<boolean>;
  /** Whether a request of this role would be served in time. If false, it is counted as refused. */
  admits(role: string, queuedAs: string): boolean;
  /** Null if the database answers and a model is loaded, otherwise the reason in one sentence (for `/ready`). */
  notReady(): string | null;
}
