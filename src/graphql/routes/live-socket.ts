/**
 * GraphQL over WebSockets, with the protocol `graphql-transport-ws`: queries, mutations and subscriptions.
 *
 * Key and token come in the payload of `connection_init`, because browsers send no headers of their own. Loaded with the
 * first connection.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  type ExecutionArgs,
  type ExecutionResult,
  type FormattedExecutionResult,
  GraphQLError,
  type GraphQLFormattedError,
  Kind,
  OperationTypeNode,
} from 'graphql';
import { type Context, makeServer, type SubscribePayload } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Caller } from '../../postgres/caller/caller.ts';
import { callerOf, type VerifiedCaller } from '../../server/caller/authenticate.ts';
import { countedAs } from '../../server/caller/client-address.ts';
import { errorAnswer, shownError } from '../../server/error-body.ts';
import { graphqlPath } from '../../server/paths.ts';
import { endOfOperation } from '../../server/request-span.ts';
import { PublicError } from '../../shared/errors.ts';
import { isObject } from '../../shared/json.ts';
import type { Observe } from '../../shared/observation.ts';
import { untraced } from '../../shared/trace/span.ts';
import { readTraceParent } from '../../shared/trace/trace-context.ts';
import { type Answer, privilegesOf } from '../execute/executor.ts';
import { eventOf } from '../live/live-event.ts';
import { GroupSignal } from '../live/live-group.ts';
import { isForeignPage } from './foreign-page.ts';
import type { GraphqlParts } from './graphql-parts.ts';
import { KeepAlive, type Kept } from './keep-alive.ts';
import { AnswerProblem, LatestAnswers, resultOf } from './latest-answers.ts';
import { keepBigIntegers, toRequest } from './read-request.ts';
import type { CountRequests } from './run-batch.ts';
import { whileAuthorized } from './while-authorized.ts';

/** What sockets need beside the parts of routes. */
export interface SocketParts extends GraphqlParts {
  readonly count: CountRequests;
}

/** The WebSockets of a server. */
export interface Sockets {
  /** Takes over the connection of a request that asks for it. @param address Of the client. */
  readonly open: (request: IncomingMessage, socket: Duplex, head: Buffer, address: string | null) => void;
  /** Ends them one after the other within this time, in milliseconds: each client comes back, and subscribes again. */
  readonly drain: (withinMs: number) => void;
}

/** Operations that one connection may have open. */
const maxOperations = 200;
/** Of these, queries and mutations that run or whose answers are not sent: answers take memory. */
const maxUnsent = 8;
/** The protocol's own code: the key or token is refused. Clients ask their application for new ones, and come back. */
const forbidden = 4403;
/** RFC 6455, section 7.4.1. */
const internalError = 1011;
/** Clients come back (IANA's registry of close codes). */
const serviceRestart = 1012;

/** One connection. */
interface Connection {
  readonly headers: IncomingHttpHeaders;
  readonly address: string | null;
  readonly signal: GroupSignal;
  identity: VerifiedCaller | null;
  caller: Caller | null;
  /** Ends the look at its key and token. */
  stop: () => void;
  readonly close: (code: number, reason: string) => void;
  operations: number;
  readonly turns: Turns;
}

type SocketContext = Context<Readonly<Record<string, unknown>>, Connection>;

/** Makes what answers WebSockets. */
export function createSockets(parts: SocketParts): Sockets {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: parts.config.limits.maxBodyBytes });
  const server = createProtocol(parts);
  const pings = new KeepAlive<Kept>();
  return {
    open(request, socket, head, address) {
      if (isForeignPage(request.headers, parts.config.corsOrigins)) {
        socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
        return;
      }
      sockets.handleUpgrade(request, socket, head, (webSocket) => {
        const { observe } = parts;
        serve(server, webSocket, { pings, observe, headers: request.headers, address, stream: socket });
      });
    },
    drain(withinMs) {
      const open = [...sockets.clients];
      for (const [index, socket] of open.entries()) {
        setTimeout(() => socket.close(serviceRestart, 'The gateway restarts.'), (index * withinMs) / open.length);
      }
      setTimeout(() => {
        for (const socket of open) socket.terminate();
      }, withinMs).unref();
    },
  };
}

type Protocol = ReturnType<typeof createProtocol>;

/** The library's side of the protocol; the answers are ours. */
function createProtocol(parts: SocketParts) {
  return makeServer<Readonly<Record<string, unknown>>, Connection>({
    jsonMessageReviver: keepBigIntegers,
    onConnect: (context) => connect(parts, context),
    onSubscribe: (context, _id, payload) => prepare(parts, context, payload),
    subscribe: ({ contextValue }) => contextValue as AsyncIterable<ExecutionResult>,
    onNext: (...[, , , , result]) => result as FormattedExecutionResult,
    onError: (_context, _id, _payload, [error]) => errorsOf(error, parts.observe),
    onComplete: ({ extra }) => {
      extra.operations -= 1;
    },
  });
}

interface Opened {
  readonly pings: KeepAlive<Kept>;
  readonly observe: Observe;
  readonly headers: IncomingHttpHeaders;
  readonly address: string | null;
  /** What the socket writes to. */
  readonly stream: Duplex;
}

function serve(server: Protocol, socket: WebSocket, { pings, observe, headers, address, stream }: Opened): void {
  const signal = new GroupSignal();
  const close = (code: number, reason: string) => {
    // A client may take half a minute to close its side, and nothing is done for it any more.
    signal.abort(code === forbidden ? 'UNAUTHENTICATED' : 'client');
    // A reason has at most 123 bytes.
    socket.close(code, reason.slice(0, 40));
  };
  const nobody = { identity: null, caller: null, operations: 0, turns: new Turns(), stop: () => {} };
  const connection: Connection = { headers, address, signal, close, ...nobody };
  const refuse = (error: unknown) => {
    if (error instanceof PublicError) return close(forbidden, error.message);
    observe({ kind: 'masked_error', id: randomUUID(), requestId: null, error });
    close(internalError, 'Internal error.');
  };
  const ended = server.opened(
    {
      protocol: socket.protocol,
      send: (text) => new Promise((done) => socket.send(text, () => done())),
      close,
      onMessage: (take) =>
        socket.on('message', (data) => {
          if (!signal.aborted) void take(String(data)).catch(refuse);
        }),
    },
    connection,
  );
  const stopPings = keepAlive(pings, socket);
  readNoFaster(socket, stream);
  // The library closes the connection then.
  socket.on('error', () => {});
  socket.on('close', (code, reason) => {
    stopPings();
    connection.stop();
    signal.abort(code === serviceRestart ? 'stopping' : 'client');
    void ended(code, String(reason)).catch(refuse);
  });
}

/** Reads nothing more from a client that does not read: its answers would wait in memory. */
function readNoFaster(socket: WebSocket, stream: Duplex): void {
  const wait = () => {
    if (!stream.writableNeedDrain || socket.isPaused) return;
    socket.pause();
    stream.once('drain', () => socket.resume());
  };
  socket.on('message', wait);
  socket.on('ping', wait);
}

/** Ends a connection whose client has not answered the last ping: it has gone, or does not read. */
function keepAlive(pings: KeepAlive<Kept>, socket: WebSocket): () => void {
  let isThere = true;
  socket.on('pong', () => {
    isThere = true;
  });
  const kept: Kept = {
    beat() {
      if (isThere) socket.ping();
      else socket.terminate();
      isThere = false;
    },
  };
  pings.add(kept);
  return () => pings.delete(kept);
}

/** Verifies key and token. @throws PublicError, which closes the connection. */
async function connect(parts: SocketParts, { extra, connectionParams }: SocketContext): Promise<boolean> {
  const headers = { ...extra.headers, ...headersOf(connectionParams ?? {}) };
  const identity = await parts.authenticate(headers);
  // It has closed meanwhile, and nothing would end the look at its token.
  if (extra.signal.aborted) return true;
  extra.identity = identity;
  extra.caller = callerOf(identity, headers, 'POST', graphqlPath);
  extra.stop = whileAuthorized(parts.authenticate, headers, identity, (problem) =>
    extra.close(forbidden, problem.message),
  );
  return true;
}

/** Names as supabase-js, Apollo and Hasura's clients spell them, at the top or in `headers`. */
function headersOf(params: Readonly<Record<string, unknown>>): IncomingHttpHeaders {
  const given = isObject(params.headers) ? { ...params, ...params.headers } : params;
  const names: Readonly<Record<string, string>> = { apikey: 'apikey', authorization: 'authorization' };
  const found = Object.entries(given).flatMap(([name, value]) => {
    const header = names[name.toLowerCase()];
    return header !== undefined && typeof value === 'string' ? [[header, value] as const] : [];
  });
  return Object.fromEntries(found);
}

/** What the protocol's server runs. */
type Answers = AsyncIterableIterator<FormattedExecutionResult, undefined>;

async function prepare(
  parts: SocketParts,
  { extra }: SocketContext,
  payload: SubscribePayload,
): Promise<ExecutionArgs | readonly GraphQLError[]> {
  extra.operations += 1;
  try {
    return toRun(await answersOf(parts, extra, payload));
  } catch (error) {
    extra.operations -= 1;
    if (error instanceof PublicError) return [toGraphQLError(error)];
    throw error;
  }
}

async function answersOf(
  parts: SocketParts,
  { caller, identity, headers, address, signal, operations, turns }: Connection,
  payload: SubscribePayload,
): Promise<Answers> {
  if (caller === null || identity === null) throw new PublicError('UNAUTHENTICATED', 'The connection is not open.');
  if (operations > maxOperations) {
    throw new PublicError('LIMIT_EXCEEDED', `A connection may have ${maxOperations} operations at a time.`);
  }
  await parts.count({ state: { identity, address } }, { header: () => {} }, 1);
  const request = toRequest(payload as unknown as Readonly<Record<string, unknown>>);
  const queuedAs = countedAs(identity.subject, address);
  const { tracer = untraced } = parts;
  // The connection came with a trace; messages have none.
  const span = tracer.begin('WebSocket message', 'server', { parent: readTraceParent(headers) });
  const context = { requestId: randomUUID(), span, queuedAs, ...privilegesOf(parts.config, caller.role) };
  const execute = async () => {
    const answer = await parts.executor.execute(caller, request, { ...context, signal });
    span.end(endOfOperation(answer));
    return answer;
  };
  if (!(await parts.executor.isSubscription(caller.role, request, { ...context, signal })))
    return answerOnce(turns, execute);
  // Its runs are traces of their own.
  span.end({ facts: { 'graphql.operation.type': 'subscription' } });
  return new LatestAnswers((subscriber) => parts.live.subscribe({ caller, request, context }, subscriber), signal);
}

/** Goes on after its answer is sent. */
async function* answerOnce(
  turns: Turns,
  execute: () => Promise<Answer>,
): AsyncGenerator<FormattedExecutionResult, undefined> {
  await turns.enter();
  try {
    yield resultOf(eventOf(await execute()));
  } finally {
    turns.leave();
  }
  return undefined;
}

/** Lets some in at a time, in the order in which they came. */
class Turns {
  #free = maxUnsent;
  readonly #waiting: (() => void)[] = [];

  async enter(): Promise<void> {
    if (this.#free === 0) return new Promise((done) => this.#waiting.push(done));
    this.#free -= 1;
  }

  leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}

/** The server of the protocol reads the kind of the operation alone, and makes none of the answers itself. */
function toRun(contextValue: Answers): ExecutionArgs {
  const selectionSet = { kind: Kind.SELECTION_SET, selections: [] } as const;
  const definitions = [{ kind: Kind.OPERATION_DEFINITION, operation: OperationTypeNode.SUBSCRIPTION, selectionSet }];
  return { document: { kind: Kind.DOCUMENT, definitions }, contextValue } as unknown as ExecutionArgs;
}

/** Undefined: those that the protocol's server has, which are ours. */
function errorsOf(error: GraphQLError | undefined, observe: Observe): readonly GraphQLFormattedError[] | undefined {
  if (error?.cause instanceof AnswerProblem) return resultOf(error.cause.last).errors;
  if (error?.cause === undefined) return undefined;
  return [toGraphQLError(shownError(error.cause, randomUUID(), observe)).toJSON()];
}

function toGraphQLError(error: PublicError): GraphQLError {
  const { errors } = JSON.parse(errorAnswer(error).body) as {
    errors: readonly [{ extensions: Record<string, unknown> }];
  };
  return new GraphQLError(error.message, { extensions: errors[0].extensions });
}
