/**
 * Gives every request an id and its state on arrival, and makes one observation when it ends: answered or disconnected.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../postgres/caller/caller.ts';
import type { DisconnectSignal } from '../shared/disconnect-signal.ts';
import type { AnswerFacts, AuthAttempt, Observe, ObservedStages, RequestObservation } from '../shared/observation.ts';
import { noStages, Stopwatch } from '../shared/stopwatch.ts';
import { withSpan } from '../shared/trace/current-span.ts';
import type { Span, Tracer } from '../shared/trace/span.ts';
import { readTraceParent } from '../shared/trace/trace-context.ts';
import type { VerifiedCaller } from './caller/authenticate.ts';
import type { ClientAddress } from './caller/client-address.ts';
import type { HoldMemory } from './connection/connections.ts';
import { graphqlPath } from './paths.ts';
import { endRequestSpan } from './request-span.ts';
import { commonHeaders } from './response-head.ts';

/** Requests that are being answered, without streams. */
export interface Traffic {
  inFlight: number;
}

/** The client's `X-Request-Id` if it is short and safe to log and return; otherwise a new UUID. */
export function requestId(given: string | readonly string[] | undefined): string {
  const isHarmless = typeof given === 'string' && /^[A-Za-z0-9][A-Za-z0-9._:@/+=-]{0,127}$/.test(given);
  return isHarmless ? given : randomUUID();
}

/** What tracking needs. */
export interface TrackingParts {
  readonly observe: Observe;
  readonly tracer: Tracer;
  readonly addressOf: ClientAddress;
  readonly hold: HoldMemory;
  readonly traffic: Traffic;
}

/** Adds the hooks. */
export function trackRequests(app: FastifyInstance, parts: TrackingParts): void {
  app.decorateRequest('state');
  app.addHook('onRequest', (request, reply, done) => {
    trackRequest(request, reply, parts);
    done();
  });
  // GraphQL requests in JSON are answered before.
  app.addHook('preHandler', (request, _reply, done) => withSpan(request.state.span, done));
  app.addHook('onSend', (request, reply, _payload, done) => {
    const caching = reply.getHeader('cache-control');
    reply.headers(commonHeaders(request.id));
    if (caching !== undefined) reply.header('cache-control', caching);
    done();
  });
}

/** The work of the hooks, for a request that runs none. */
export function trackRequest(request: FastifyRequest, reply: FastifyReply, parts: TrackingParts): void {
  const state = new TrackedRequest(request.raw, parts);
  request.state = state;
  reply.raw.on('finish', () => {
    state.finished = true;
  });
  // `close` follows `finish` or replaces it. Both fire once; `on` is cheaper than `once`.
  reply.raw.on('close', () => {
    if (!state.finished) state.leave();
    if (state.streamsSince === null) parts.traffic.inFlight -= 1;
    observeRequest(request, reply, parts.observe);
  });
}

class TrackedRequest implements RequestState {
  identity: RequestState['identity'] = null;
  caller: RequestState['caller'] = null;
  authenticateMs = 0;
  readonly address: string | null;
  readonly startedAt = performance.now();
  refusedPath: RequestState['refusedPath'] = null;
  answer: RequestState['answer'] = null;
  errorCode: RequestState['errorCode'] = null;
  attempt: RequestState['attempt'] = null;
  bytes = 0;
  streamsSince: RequestState['streamsSince'] = null;
  shed = false;
  /** The response was fully written. */
  finished = false;
  aborted = false;
  readonly #listeners: (() => void)[] = [];
  readonly #raw: IncomingMessage;
  readonly #parts: Pick<TrackingParts, 'hold' | 'traffic' | 'tracer'>;
  #span: Span | null = null;

  constructor(raw: IncomingMessage, parts: TrackingParts) {
    this.address = parts.addressOf(raw);
    this.#raw = raw;
    this.#parts = parts;
    parts.traffic.inFlight += 1;
  }

  get span(): Span {
    if (this.#span !== null) return this.#span;
    const { method = 'GET', headers } = this.#raw;
    const start = { parent: readTraceParent(headers), since: this.startedAt };
    this.#span = this.#parts.tracer.begin(method, 'server', start);
    return this.#span;
  }

  hold(bytes: number): boolean {
    return this.#parts.hold(this.#raw, bytes);
  }

  beginStream(): void {
    this.streamsSince = performance.now();
    this.#parts.traffic.inFlight -= 1;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const at = this.#listeners.indexOf(listener);
    if (at !== -1) this.#listeners.splice(at, 1);
  }

  leave(): void {
    this.aborted = true;
    for (const listener of this.#listeners.splice(0)) listener();
  }
}

function observeRequest(request: FastifyRequest, reply: FastifyReply, observe: Observe): void {
  const { state } = request;
  const { answer } = state;
  const now = performance.now();
  const path = requestPath(request);
  const observation: RequestObservation = {
    kind: 'request',
    requestId: request.id,
    span: state.span,
    method: request.method,
    path: path === graphqlPath ? path : loggablePath(path),
    route: routeOf(request, path),
    status: reply.raw.statusCode,
    address: state.address,
    role: state.identity?.role ?? null,
    operationName: loggableName(answer?.operationName ?? null),
    operationType: answer?.operationType ?? null,
    documentHash: answer?.documentHash ?? null,
    codes: answer?.codes ?? (state.errorCode === null ? [] : [state.errorCode]),
    messages: answer?.messages,
    stages: stagesOf(state, now),
    attempt: state.attempt,
    totalMs: (state.streamsSince ?? now) - state.startedAt,
    bytes: state.bytes,
    aborted: state.aborted && state.streamsSince === null,
    shed: state.shed,
    fromStudio: path !== graphqlPath && studioHeader in request.headers,
  };
  endRequestSpan(observation, state);
  observe(observation);
}

function stagesOf({ authenticateMs, answer }: RequestState, now: number): ObservedStages {
  const stages = answer?.stages ?? noStages;
  const { parseMs, compileMs, waitMs, runMs } = stages;
  const endedAt = stages instanceof Stopwatch ? stages.endedAt : null;
  return { authenticateMs, parseMs, compileMs, waitMs, runMs, serializeMs: endedAt === null ? 0 : now - endedAt };
}

/** Header of requests that the studio sends on its own (src/studio/app/shared/api.ts). */
const studioHeader = 'x-pgreflect-studio';

/** Clients may send any text as an operation name; log only valid names. */
export function loggableName(name: string | null): string | null {
  return name !== null && /^[_A-Za-z]\w{0,127}$/.test(name) ? name : null;
}

const maxPathLength = 500;

/** Removes terminal escape codes, and cuts the path to the length of our longest. */
function loggablePath(path: string): string {
  if (path.length <= maxPathLength && /^[!-~]*$/.test(path)) return path;
  return path.slice(0, maxPathLength).replace(/[^!-~]/g, '?');
}

/** The framework rebuilds this object at each access, so nearly all requests avoid it. */
function routeOf(request: FastifyRequest, path: string): string | null {
  if (path === graphqlPath) return graphqlPath;
  return request.is404 ? request.state.refusedPath : (request.routeOptions.url ?? null);
}

/** The path without the query string, which may hold keys. */
export function requestPath(request: FastifyRequest): string {
  const end = request.url.indexOf('?');
  return end === -1 ? request.url : request.url.slice(0, end);
}

/** State of a request: facts for the log, and whether the client is still connected. */
interface RequestState extends DisconnectSignal {
  identity: VerifiedCaller | null;
  /** The caller as the database gets it; only for the GraphQL API. */
  caller: Caller | null;
  authenticateMs: number;
  /** Address of the client, see client-address.ts; null if its connection was closed immediately. */
  readonly address: string | null;
  readonly span: Span;
  /** In terms of `performance.now()`. */
  readonly startedAt: number;
  /** Pattern of the path, where its route lacks the method and so the framework found none. */
  refusedPath: string | null;
  answer: AnswerFacts | null;
  /** Error code of an answer of the auth service or the management API. */
  errorCode: string | null;
  /** What it tries at the auth service; null for other requests. */
  attempt: AuthAttempt | null;
  bytes: number;
  /**
   * When a stream began that ends with its client, in terms of `performance.now()`; null: none. The request counts as
   * answered then.
   */
  readonly streamsSince: number | null;
  /** To be called when one begins. */
  beginStream(): void;
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
