/**
 * The face of the executor towards HTTP: one GraphQL request of one caller in, one finished JSON body out.
 */
import type { Caller } from '../postgres/caller/caller.ts';
import type { OpenResponse } from '../postgres/wire/answer-sink.ts';
import type { DisconnectSignal } from '../shared/disconnect-signal.ts';
import type { Code } from '../shared/errors.ts';
import type { Text } from './answer/compressed-text.ts';

/** The members of a request body that matter, already checked for their JSON types. */
export interface GraphQLRequest {
  readonly query: string;
  readonly operationName: string | null;
  /** Numbers that JavaScript cannot hold exactly are given as `bigint` (integers) or kept as text; never rounded. */
  readonly variables: Readonly<Record<string, unknown>> | null;
}

/** What the executor is told about a request besides its body. */
export interface RequestContext {
  readonly requestId: string;
  /** Who waits for connections beside others: the user, or the network that a caller without a user comes from. */
  readonly queuedAs: string;
  /** Aborted when the client goes away; cancels the statement. */
  readonly signal: DisconnectSignal | null;
  /** Errors may carry `extensions.hint` about hidden objects: local project or service role. */
  readonly showHints: boolean;
  /** Not subject to depth, alias, token, cost and root-field limits. */
  readonly unlimited: boolean;
  /** Position in the primary's log up to which the answer of a query must have seen everything; absent: it does not matter. */
  readonly mustSee?: bigint | null;
  /** For a large answer; absent: every answer is kept until it is whole. */
  readonly openResponse?: OpenResponse;
}

/** Measures the stages of a request. Names are those of `Server-Timing` and of the log. */
export interface Stopwatch {
  parseMs: number;
  compileMs: number;
  runMs: number;
}

/** A finished answer, with what the edge and the log need to know of it. */
export interface Answer {
  /** The complete response body: JSON with `data` and/or `errors`. Where it was begun in a stream, the rest of it. */
  readonly body: Text;
  /** How the stream that was opened has to end: after the rest of the body, or so that no client takes it for whole. */
  readonly stream?: 'whole' | 'cut';
  /** False where `data` is absent: the request could not be executed (400 for `application/graphql-response+json`). */
  readonly executed: boolean;
  /** Codes of the errors in the body, in order; empty on success. The edge reads `errorCodes[code].transport`. */
  readonly codes: readonly Code[];
  readonly operationName: string | null;
  readonly documentHash: string | null;
  readonly stages: Readonly<Stopwatch>;
  /** Where the primary's log stands after a mutation, for `mustSee`; only where there are replicas. */
  readonly writtenAt?: string;
}

/** Everything HTTP knows of GraphQL. */
export interface Executor {
  /** Never rejects for anything a client, operator or database did; those are answers. */
  execute(caller: Caller, request: GraphQLRequest, context: RequestContext): Promise<Answer>;
  /** Whether a request of this role would be served in time; false: too many wait for the database, and it is counted as refused. */
  admits(role: string, queuedAs: string): boolean;
  /** Null when the database answers and a model is loaded, else the reason in one sentence (for `/ready`). */
  notReady(): string | null;
}
