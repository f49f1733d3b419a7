/**
 * Builds the HTTP server: the rules common to all routes (ids, caching, CORS, errors, the log), around the routes.
 *
 * Turns the errors of routes without an error format of their own into responses: public errors unchanged, all others
 * masked under an id.
 */
import type { IncomingMessage } from 'node:http';
import fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { PublicError } from '../shared/errors.ts';
import { InvariantError } from '../shared/invariant.ts';
import { noStages } from '../shared/stopwatch.ts';
import { type Tracer, untraced } from '../shared/trace/span.ts';
import { createClientAddress } from './caller/client-address.ts';
import { guardConnections, readTimeoutMs } from './connection/connections.ts';
import { servePipelinedInOrder } from './connection/pipelined-requests.ts';
import {
  allowedMethods,
  generalRefusal,
  refuseConnection,
  refuseTunnel,
  replyBeforeBodyEnds,
} from './connection/refuse-request.ts';
import { anyOriginHeaders, registerCors } from './cors.ts';
import { errorAnswer, retryAfterSeconds, shownError } from './error-body.ts';
import { type Readiness, registerHealth } from './health.ts';
import { registerHomePage } from './home-page.ts';
import { answerTypeOf } from './media-types.ts';
import { type MetricsParts, registerMetrics } from './metrics/metrics-route.ts';
import { type Describe, registerOpenApi } from './openapi.ts';
import type { HttpParts } from './parts.ts';
import { graphqlMethods, graphqlPath } from './paths.ts';
import { toldMessages } from './recent/told-message.ts';
import { commonHeaders } from './response-head.ts';
import {
  requestId,
  requestPath,
  type TrackingParts,
  type Traffic,
  trackRequest,
  trackRequests,
} from './track-requests.ts';

/** The server: Fastify's, with all routes. */
export type HttpServer = FastifyInstance;

/** Time limit for receiving a whole request, in milliseconds. */
const receiveTimeoutMs = 30_000;
/** Interval of checking that limit, in milliseconds. */
const receiveCheckMs = 5000;

/** Largest head of a request, including its path. A token with the most metadata allowed takes 45 kB. */
const maxHeaderSize = 65_536;

/** What the server needs beside its routes. */
interface ServerParts extends Pick<HttpParts, 'config' | 'observe'> {
  readonly ready: Readiness;
  /** Counts the requests; absent: nobody reads it. */
  readonly traffic?: Traffic;
  /** For Prometheus; absent: no such route. */
  readonly metrics?: MetricsParts;
  /** Default: nothing is recorded. */
  readonly tracer?: Tracer;
}

/** Adds the routes of the APIs. @returns Their descriptions, for `/openapi.json`. */
type AddRoutes = (app: HttpServer) => Promise<readonly Describe[]>;

/** Builds the server without listening. */
export async function createHttpServer(parts: ServerParts, addRoutes: AddRoutes): Promise<HttpServer> {
  const { observe, config, tracer = untraced, traffic = { inFlight: 0 } } = parts;
  const addressOf = createClientAddress(config, observe);
  const answerError = createErrorHandler(parts);
  let tracking: TrackingParts = { observe, tracer, traffic, addressOf, hold: () => true };
  const app = fastify({
    logger: false,
    bodyLimit: config.limits.maxBodyBytes,
    requestTimeout: receiveTimeoutMs,
    connectionTimeout: readTimeoutMs,
    // Two headers of the same name are ambiguous and refused. Requests without a host get our own error.
    http: {
      maxHeaderSize,
      joinDuplicateHeaders: true,
      requireHostHeader: false,
      connectionsCheckingInterval: receiveCheckMs,
      // Others that ask for another protocol are served as they are.
      shouldUpgradeCallback: isSocketRequest,
    },
    // The framework's default would load a JSON Schema compiler without need.
    schemaController: { compilersFactory: { buildValidator: refuseSchemas, buildSerializer: refuseSchemas } },
    genReqId: (request) => requestId(request.headers['x-request-id']),
    forceCloseConnections: 'idle',
    // Open connections still get answers during the shutdown.
    return503OnClosing: false,
    clientErrorHandler: refuseConnection,
    // Routes refuse parameters that are too long.
    routerOptions: { maxParamLength: maxHeaderSize },
    // A path that cannot be decoded has no route and runs no hooks.
    frameworkErrors: (error, request, reply) => {
      trackRequest(request, reply, tracking);
      reply.headers(commonHeaders(request.id));
      if (config.corsOrigins === '*') reply.headers(anyOriginHeaders);
      answerError(error, request, reply);
    },
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  tracking = { ...tracking, hold: guardConnections(app, config, { observe, addressOf }) };
  servePipelinedInOrder(app.server);
  app.server.on('connect', refuseTunnel);
  trackRequests(app, tracking);
  refuseInGeneral(app, answerError);
  app.setErrorHandler(answerError);
  answerUnknownPaths(app, parts);
  registerCors(app, config);
  registerHomePage(app, config);
  registerHealth(app, parts.ready);
  if (parts.metrics) registerMetrics(app, parts.metrics);
  registerOpenApi(app, config.externalUrl, await addRoutes(app));
  return app;
}

/** Accepts no more connections, lets requests finish for a while, then closes the rest. Resolves when all are closed. */
export async function closeServer(app: HttpServer, drainTimeoutMs: number): Promise<void> {
  // Otherwise, connections that become idle meanwhile would keep the server open.
  const sweep = setInterval(() => app.server.closeIdleConnections(), 50);
  const giveUp = setTimeout(() => app.server.closeAllConnections(), drainTimeoutMs);
  try {
    await app.close();
  } finally {
    clearInterval(sweep);
    clearTimeout(giveUp);
  }
}

/** Whether it opens a WebSocket of the GraphQL API. */
function isSocketRequest({ method, url = '', headers }: IncomingMessage): boolean {
  return method === 'GET' && url.split('?')[0] === graphqlPath && headers.upgrade?.toLowerCase() === 'websocket';
}

/** Refuses schemas: routes check their requests themselves, and the framework gets finished text. */
function refuseSchemas(): never {
  throw new InvariantError('a route has a schema');
}

/** Refuses invalid requests before all routes, with the same errors. */
function refuseInGeneral(app: FastifyInstance, answerError: ErrorHandler): void {
  app.addHook('onRequest', (request, reply, done) => {
    const problem = generalRefusal(request.raw);
    if (problem === null) return done();
    if (problem.code === 'METHOD_NOT_ALLOWED')
      reply.header('allow', requestPath(request) === graphqlPath ? graphqlMethods : allowedMethods);
    answerError(problem, request, reply);
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    const isWhole = typeof payload === 'string' || payload instanceof Buffer;
    done(null, isWhole ? replyBeforeBodyEnds(request, reply, payload) : payload);
  });
}

/** Path prefixes of a Supabase project's other services. */
const otherServices: ReadonlyMap<string, string> = new Map([
  ['rest', 'The REST API'],
  ['storage', 'Storage'],
  ['functions', 'The service Edge Functions'],
  ['realtime', 'Realtime'],
]);

function answerUnknownPaths(app: FastifyInstance, { config, observe }: ServerParts): void {
  let isRealtimeNoted = false;
  app.setNotFoundHandler((request, reply) => {
    const path = requestPath(request);
    const service = otherServices.get(path.split('/')[1] ?? '');
    if (service !== undefined) {
      // Clients of WebSockets do not show the answer, and retry.
      if (service === 'Realtime' && request.headers.upgrade?.toLowerCase() === 'websocket' && !isRealtimeNoted) {
        isRealtimeNoted = true;
        const message = 'A client asked for Realtime of Supabase, which is not part of pgreflect.';
        const hint = 'Remove supabase.channel() from the client; its subscriptions fail with a transport failure.';
        observe({ kind: 'warning', message, hint });
      }
      const message = `${service} of Supabase is not part of pgreflect. Ask the GraphQL API at "${graphqlPath}".`;
      // Clients of those services also read `message`.
      return reply.code(404).send({ code: 'NOT_FOUND', message, errors: [{ message }] });
    }
    const hint = path === `${graphqlPath}/` ? ', without the slash at the end' : '';
    const studio = config.managementApiEnabled && path === '/' ? ' The studio is at "/studio".' : '';
    throw new PublicError(
      'NOT_FOUND',
      `Nothing is served at this path. The GraphQL API is at "${graphqlPath}"${hint}.${studio}`,
    );
  });
}

type ErrorHandler = (error: FastifyError | PublicError, request: FastifyRequest, reply: FastifyReply) => FastifyReply;

function createErrorHandler({ observe }: ServerParts): ErrorHandler {
  return (error, request, reply) => {
    const shown = shownError(error, request.id, observe, request.state.span);
    const acceptedType = answerTypeOf(request.headers.accept);
    const type = acceptedType === 'application/graphql-response+json' ? acceptedType : 'application/json';
    // Only GraphQL clients expect errors with status 200.
    const isGraphql = request.routeOptions.url === graphqlPath;
    const { status, body, code } = errorAnswer(shown, isGraphql ? type : 'application/graphql-response+json');
    request.state.answer ??= {
      executed: false,
      codes: [code],
      messages: toldMessages([shown]),
      operationName: null,
      documentHash: null,
      stages: noStages,
    };
    request.state.bytes = Buffer.byteLength(body);
    const retryAfter = retryAfterSeconds(status);
    if (retryAfter !== null && !reply.hasHeader('retry-after')) reply.header('retry-after', retryAfter);
    return reply.code(status).type(`${type}; charset=utf-8`).send(body);
  };
}
