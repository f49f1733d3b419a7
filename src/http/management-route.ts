/**
 * `/v1/projects/{ref}/config/auth`: GET and PATCH of the auth configuration, for holders of an access token (auth.md 7).
 *
 * Errors are `{"message", "code"}`, whatever made them; the causes of those that say nothing go to the log.
 */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ManagementApi, ManagementCaller } from '../management/management-api.ts';
import { ManagementError } from '../management/management-error.ts';
import type { Observe } from '../shared/observation.ts';
import { managementCors } from './cors.ts';
import { ignoredHeader, warningsHeader } from './management-description.ts';

/** What the routes need. */
export interface ManagementParts {
  readonly api: ManagementApi;
  /**
   * Counts a request of a token.
   *
   * @returns Null where it may go on, else the milliseconds until one may again.
   */
  readonly takeRequest: (tokenId: string) => Promise<number | null>;
}

/** Largest body in bytes: all thirteen emails with room to spare. */
const maxBodyBytes = 2 * 1024 * 1024;

const path = '/v1/projects/:ref/config/auth';
const allow = 'GET, HEAD, PATCH, OPTIONS';

/** Adds the routes, in a scope of their own because of the shape of their errors. */
export async function registerManagementRoutes(
  app: FastifyInstance,
  parts: ManagementParts,
  observe: Observe,
): Promise<void> {
  await app.register(async (scope) => {
    answerErrors(scope, observe);
    const authorize = (request: FastifyRequest) => authorizeRequest(parts, request);
    const callers = new WeakMap<FastifyRequest, ManagementCaller>();
    // Before the body is received: nobody without a token may make us hold two megabytes.
    const onRequest = async (request: FastifyRequest): Promise<void> => {
      callers.set(request, await authorize(request));
    };
    scope.get(path, { onRequest, config: managementCors }, async (request, reply) => {
      return send(reply, await parts.api.readConfig(callers.get(request) as ManagementCaller));
    });
    scope.patch(path, { onRequest, bodyLimit: maxBodyBytes, config: managementCors }, async (request, reply) => {
      const caller = callers.get(request) as ManagementCaller;
      const { config, ignored, warnings } = await parts.api.changeConfig(caller, () => readBody(request));
      if (ignored.length > 0) reply.header(ignoredHeader, headerText(ignored.join(',')));
      if (warnings.length > 0) reply.header(warningsHeader, headerText(warnings.join('; ')));
      return send(reply, config);
    });
    scope.route({
      method: ['POST', 'PUT', 'DELETE'],
      url: path,
      onRequest: (_request, reply, done) => {
        reply.header('allow', allow);
        done(new ManagementError('method_not_allowed'));
      },
      handler: () => {},
    });
  });
}

async function authorizeRequest({ api, takeRequest }: ManagementParts, request: FastifyRequest) {
  const { ref } = request.params as { readonly ref: string };
  const caller = await api.authorize(ref, request.headers.authorization);
  const waitMs = await takeRequest(caller.tokenId);
  if (waitMs === null) return caller;
  throw new ManagementError('rate_limited', undefined, { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) });
}

/** @throws ManagementError `unsupported_media_type`, `invalid_body` */
function readBody({ headers, body }: FastifyRequest): unknown {
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (!/^application\/([\w.-]+\+)?json$/.test(type)) throw new ManagementError('unsupported_media_type');
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') throw new ManagementError('unsupported_media_type');
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode((body as Buffer | undefined) ?? Buffer.alloc(0));
    return JSON.parse(text);
  } catch {
    throw new ManagementError('invalid_body');
  }
}

function send(reply: FastifyReply, value: unknown): FastifyReply {
  const text = JSON.stringify(value);
  reply.request.state.bytes = Buffer.byteLength(text);
  return reply.type('application/json; charset=utf-8').send(text);
}

/** Headers hold one line of ASCII; a long list is cut. */
function headerText(text: string): string {
  const line = text.replace(/[^\x20-\x7e]/g, '?');
  return line.length > 4000 ? `${line.slice(0, 4000)}...` : line;
}

function answerErrors(scope: FastifyInstance, observe: Observe): void {
  scope.setErrorHandler((error: FastifyError | ManagementError, request, reply) => {
    const known = toManagementError(error, request.method);
    const { status, code, message, cause, retryAfterSeconds } = known;
    if (status >= 500) observe({ kind: 'masked_error', id: request.id, requestId: request.id, error: cause ?? known });
    if (retryAfterSeconds !== null) reply.header('retry-after', retryAfterSeconds);
    // The rest of a body that was refused is not worth receiving.
    if (status === 413) reply.header('connection', 'close');
    request.state.errorCode = code;
    return send(reply.code(status), { message, code });
  });
}

function toManagementError(error: FastifyError | ManagementError, method: string): ManagementError {
  if (error instanceof ManagementError) return error;
  if (error.statusCode === 413) return new ManagementError('body_too_large');
  if (error.code?.startsWith('FST_ERR_') && error.statusCode === 400) return new ManagementError('invalid_body');
  return new ManagementError(method === 'PATCH' ? 'update_failed' : 'read_failed', undefined, { cause: error });
}
