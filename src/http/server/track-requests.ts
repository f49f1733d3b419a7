/**
 * What every request gets on arrival, its id and a place for what becomes known of it, and the one observation when it is
 * over: answered, or left by its client.
 */
import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Observe } from '../../shared/observation.ts';
import type { ClientAddress } from '../caller/client-address.ts';
import { graphqlPath, type RequestState } from './parts.ts';
import { commonHeaders } from './response-head.ts';

/** Stage times of a request that never reached the executor. */
export const noStages = { parseMs: 0, compileMs: 0, runMs: 0 };

/** The client's `X-Request-Id` where it is short and of a safe alphabet, because it is logged and sent back; else a new UUID. */
export function requestId(given: string | readonly string[] | undefined): string {
  const isHarmless = typeof given === 'string' && /^[A-Za-z0-9][A-Za-z0-9._:@/+=-]{0,127}$/.test(given);
  return isHarmless ? given : randomUUID();
}

/** Adds the hooks. */
export function trackRequests(app: FastifyInstance, observe: Observe, addressOf: ClientAddress): void {
  app.decorateRequest('state');
  app.addHook('onRequest', (request, reply, done) => {
    trackRequest(request, reply, { observe, address: addressOf(request.raw) });
    done();
  });
  app.addHook('onSend', (request, reply, _payload, done) => {
    const caching = reply.getHeader('cache-control');
    reply.headers(commonHeaders(request.id));
    if (caching !== undefined) reply.header('cache-control', caching);
    done();
  });
}

/** What the hooks do on arrival, for a request that gets no hooks. */
export function trackRequest(
  request: FastifyRequest,
  reply: FastifyReply,
  { observe, address }: { readonly observe: Observe; readonly address: string | null },
): void {
  const state = new TrackedRequest(address);
  request.state = state;
  reply.raw.on('finish', () => {
    state.finished = true;
  });
  // Comes after that, or instead of it. Both come once: `on` is the cheaper way to say so.
  reply.raw.on('close', () => {
    if (!state.finished) state.leave();
    observeRequest(request, reply, observe);
  });
}

class TrackedRequest implements RequestState {
  identity: RequestState['identity'] = null;
  caller: RequestState['caller'] = null;
  authenticateMs = 0;
  readonly address: string | null;
  readonly startedAt = performance.now();
  answer: RequestState['answer'] = null;
  errorCode: RequestState['errorCode'] = null;
  bytes = 0;
  shed = false;
  /** The answer has been written out. */
  finished = false;
  aborted = false;
  readonly #listeners: (() => void)[] = [];

  constructor(address: string | null) {
    this.address = address;
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
  const path = pathOf(request);
  observe({
    kind: 'request',
    requestId: request.id,
    method: request.method,
    path: loggablePath(path),
    route: routeOf(request, path),
    status: reply.raw.statusCode,
    address: state.address,
    role: state.identity?.role ?? null,
    operationName: loggableName(answer?.operationName ?? null),
    documentHash: answer?.documentHash ?? null,
    codes: answer?.codes ?? (state.errorCode === null ? [] : [state.errorCode]),
    stages: { authenticateMs: state.authenticateMs, ...(answer?.stages ?? noStages) },
    totalMs: performance.now() - state.startedAt,
    bytes: state.bytes,
    aborted: state.aborted,
    shed: state.shed,
    fromStudio: path !== graphqlPath && studioHeader in request.headers,
  });
}

/** Sent with each request that the studio makes of the APIs by itself (src/studio/shared/api.ts). */
const studioHeader = 'x-pgreflect-studio';

/** Clients may send anything as the name of an operation; one that no document can have is not repeated. */
function loggableName(name: string | null): string | null {
  return name !== null && /^[_A-Za-z]\w{0,127}$/.test(name) ? name : null;
}

const maxPathLength = 500;

/** Nothing that a terminal would obey, and no more than a path of ours has. */
function loggablePath(path: string): string {
  if (path.length <= maxPathLength && /^[!-~]*$/.test(path)) return path;
  return path.slice(0, maxPathLength).replace(/[^!-~]/g, '?');
}

/** Made anew by the framework each time, so it is not asked for the route of nearly every request. */
function routeOf(request: FastifyRequest, path: string): string | null {
  if (path === graphqlPath) return graphqlPath;
  return request.is404 ? null : (request.routeOptions.url ?? null);
}

/** The path without the query string, which may hold keys. */
export function pathOf(request: FastifyRequest): string {
  const end = request.url.indexOf('?');
  return end === -1 ? request.url : request.url.slice(0, end);
}
