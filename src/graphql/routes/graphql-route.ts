/**
 * `/graphql/v1`: POST answers GraphQL requests, GET answers queries and shows browsers GraphiQL
 * (studio/routes/graphiql-route.ts), other methods are refused.
 *
 * Two handlers share one executor. JSON takes the fast path (fast-path.ts), because it is nearly every request. Other
 * media types go through graphql-yoga (yoga-handler.ts). Authentication precedes reading the body. Subscriptions are
 * answered as event streams (event-stream.ts) or over WebSockets (live-socket.ts).
 */
import type { FastifyInstance, FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify';
import type { Config } from '../../config/config.ts';
import { countedAs, createClientAddress } from '../../server/caller/client-address.ts';
import { type FindCaller, type KnownCaller, rememberCallers } from '../../server/caller/remember-callers.ts';
import { reportCounts } from '../../server/connection/report-counts.ts';
import { acceptsHtml, answerTypeOf, type RequestType, requestTypeOf } from '../../server/media-types.ts';
import type { Hook } from '../../server/parts.ts';
import { graphqlMethods, graphqlPath } from '../../server/paths.ts';
import { PublicError } from '../../shared/errors.ts';
import type { Answer, GraphQLRequest } from '../execute/executor.ts';
import { type EventStreams, sendOnce } from './event-stream.ts';
import { createFastPath } from './fast-path.ts';
import { isForeignPage } from './foreign-page.ts';
import { createGetHandler } from './get-handler.ts';
import { run, sendText, writeHead } from './graphql-answer.ts';
import type { GraphqlParts } from './graphql-parts.ts';
import { createRequestLimit } from './limit-requests.ts';
import type { SocketParts, Sockets } from './live-socket.ts';
import type { YogaHandler } from './yoga-handler.ts';

/** The page for browsers at the same address. */
export interface BrowserPage {
  readonly send: (request: FastifyRequest, reply: FastifyReply) => Promise<string>;
  /** Runs after the hooks of all routes, for every answer to GET. */
  readonly onSend: onSendHookHandler;
}

/** Adds the routes. */
export function registerGraphqlRoutes(
  app: FastifyInstance,
  parts: GraphqlParts,
  page: BrowserPage,
  streams: EventStreams,
): void {
  const { config } = parts;
  const onRequest: Hook[] = [
    keyFromUrl(config),
    authenticateHook(rememberCallers(parts.authenticate)),
    shedHook(parts),
  ];
  // After load shedding, so that refused requests do not count.
  const count = createRequestLimit(config);
  onRequest.push((request, reply, done) => {
    if (config.rateLimit === null) done();
    else void count(request, reply, 1).then(() => done(), done);
  });
  const get = createGetHandler(parts, streams);
  app.get(graphqlPath, { onRequest: onRequest.map(unlessPage), onSend: page.onSend }, async (request, reply) =>
    isPage(request) ? page.send(request, reply) : get(request, reply),
  );
  onRequest.push(createFastPath(parts, streams, count));
  app.post(graphqlPath, { onRequest }, createPostHandler(parts));
  const sockets = serveSockets(app, { ...parts, count });
  app.addHook('preClose', (done) => {
    const withinMs = config.drainTimeoutMs * drainedPart;
    streams.drain(withinMs);
    sockets.drain(withinMs);
    done();
  });
  app.route({
    method: ['PUT', 'PATCH', 'DELETE'],
    url: graphqlPath,
    handler: (_request, reply) => {
      reply.header('allow', graphqlMethods);
      throw new PublicError('METHOD_NOT_ALLOWED', 'Send GraphQL requests with POST, or queries with GET.');
    },
  });
}

/** The part of the time for stopping in which subscriptions end. */
const drainedPart = 0.8;

/** WebSockets at the path; the server asks `isSocketRequest` first. */
function serveSockets(app: FastifyInstance, parts: SocketParts): { readonly drain: (withinMs: number) => void } {
  const addressOf = createClientAddress(parts.config);
  let opened: Promise<Sockets> | null = null;
  app.server.on('upgrade', (request, socket, head) => {
    // Until the library listens.
    socket.on('error', () => socket.destroy());
    opened ??= import('./live-socket.ts').then(({ createSockets }) => createSockets(parts));
    void opened.then((sockets) => sockets.open(request, socket, head, addressOf(request)));
  });
  return { drain: (withinMs) => void opened?.then((sockets) => sockets.drain(withinMs)) };
}

function isPage({ headers }: FastifyRequest): boolean {
  return acceptsHtml(headers.accept);
}

/** The page is public. */
function unlessPage(hook: Hook): Hook {
  return (request, reply, done) => (isPage(request) ? done() : hook(request, reply, done));
}

const foreign = new PublicError('BAD_REQUEST', 'Event streams with a key in the URL are for pages of --cors-origins.');

/** `EventSource` of browsers sends no headers of the page, so its key may stand in the URL. That proves nothing of the page. */
function keyFromUrl(config: Config): Hook {
  return ({ raw, url }, _reply, done) => {
    const { headers, rawHeaders, method } = raw;
    if (method === 'GET' && headers.apikey === undefined && answerTypeOf(headers.accept) === 'text/event-stream') {
      const key = new URLSearchParams(url.slice(url.indexOf('?') + 1)).get('apikey');
      if (key !== null) {
        if (isForeignPage(headers, config.corsOrigins)) return done(foreign);
        headers.apikey = key;
        rawHeaders.push('apikey', key);
      }
    }
    done();
  };
}

function authenticateHook(find: FindCaller): Hook {
  return (request, _reply, done) => {
    const { state } = request;
    const accept = ({ identity, caller }: KnownCaller): void => {
      state.identity = identity;
      state.caller = caller;
      state.authenticateMs = performance.now() - state.startedAt;
      done();
    };
    try {
      const found = find(request);
      if (found instanceof Promise) found.then(accept, done);
      else accept(found);
    } catch (error) {
      done(error as Error);
    }
  };
}

const busy = new PublicError('UNAVAILABLE', 'All database connections are busy. Try again in a moment.');

/** Refuses requests for which the queue has no room, before their body is read. */
function shedHook({ executor, observe }: GraphqlParts): Hook {
  const note = reportCounts((count) => observe({ kind: 'requests_shed', count }));
  return ({ state }, _reply, done) => {
    const { identity, address } = state;
    if (identity === null || executor.admits(identity.role, countedAs(identity.subject, address))) return done();
    state.shed = true;
    note();
    done(busy);
  };
}

function createPostHandler(
  parts: GraphqlParts,
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> {
  let handler: Promise<YogaHandler> | null = null;
  return async (request, reply) => {
    const requestType = acceptedRequestType(request);
    const answerType = answerTypeOf(request.headers.accept);
    const body = (request.body as Buffer | undefined) ?? Buffer.alloc(0);
    const execute = (graphql: GraphQLRequest): Promise<Answer> => run(parts, request, graphql);
    const contentType = request.headers['content-type'] ?? '';
    handler ??= openYogaHandler();
    const yoga = await handler;
    const { answer, response } = await yoga({ requestType, contentType, answerType, body, execute });
    if (answerType === 'text/event-stream') return sendOnce(parts, request, reply, answer);
    writeHead(parts, request, reply, { answer, answerType });
    reply.header('content-type', response.headers.get('content-type') ?? `${answerType}; charset=utf-8`);
    return sendText(request, reply, await response.text());
  };
}

/** Loaded with the first request that needs it: yoga takes 20 MB of memory, and most gateways never need it. */
async function openYogaHandler(): Promise<YogaHandler> {
  const { createYogaHandler } = await import('./yoga-handler.ts');
  return createYogaHandler();
}

function acceptedRequestType({ headers }: FastifyRequest): RequestType {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw new PublicError('UNSUPPORTED_MEDIA_TYPE', 'Compressed request bodies are not supported.');
  }
  const type = requestTypeOf(headers['content-type']);
  if (type === null) {
    const hint = 'Send the header "Content-Type: application/json".';
    throw new PublicError('UNSUPPORTED_MEDIA_TYPE', 'Send the request as "Content-Type: application/json" in UTF-8.', {
      hint,
    });
  }
  // Any web page may post a form to any address. A custom header proves that the browser sent a preflight first.
  const isForm = type === 'urlencoded' || type === 'multipart';
  if (isForm && headers.apikey === undefined && headers.authorization === undefined) {
    const hint = 'Send the header "Content-Type: application/json"; curl sends a form without it.';
    throw new PublicError('UNSUPPORTED_MEDIA_TYPE', 'Forms need the header "apikey". Or send application/json.', {
      hint,
    });
  }
  return type;
}
