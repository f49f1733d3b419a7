/**
 * `/v1/projects/{ref}/config/auth`: GET and PATCH of the auth configuration, for holders of an access token (auth.md 7), and
 * below it what people see of emails and versions before they change something; beside it, for operators, the schema of a role.
 *
 * Errors are `{"message", "code"}`, whatever made them; the causes of those that say nothing go to the log.
 */

import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../config/config.ts';
import type { DescribedSchema } from '../../execute/describe-schema.ts';
import type { PresentedConfig, ReadResult } from '../../management/management-api.ts';
import { demand, type ManagementCaller, masked } from '../../management/management-caller.ts';
import { ManagementError } from '../../management/management-error.ts';
import type { Observe } from '../../shared/observation.ts';
import { managementCors } from '../server/cors.ts';
import type { ManagementParts, RequestKind } from '../server/parts.ts';
import { ignoredHeader, warningsHeader } from './management-description.ts';

/** Largest body in bytes: all thirteen emails with room to spare. */
const maxBodyBytes = 2 * 1024 * 1024;

const project = '/v1/projects/:ref';
const path = `${project}/config/auth`;

/** A route below the path of a project: what it answers to a caller who may ask. */
interface ManagementRoute {
  readonly method: 'GET' | 'PATCH' | 'POST';
  readonly url: string;
  readonly kind?: RequestKind;
  readonly answer: (caller: ManagementCaller, request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;
}

/** Adds the routes, in a scope of their own because of the shape of their errors. */
export async function registerManagementRoutes(
  app: FastifyInstance,
  parts: ManagementParts,
  observe: Observe,
): Promise<void> {
  await app.register(async (scope) => {
    answerErrors(scope, observe);
    const routes = managementRoutes(parts);
    for (const route of routes) addRoute(scope, parts, route);
    for (const url of new Set(routes.map((route) => route.url))) refuseOthers(scope, routes, url);
  });
}

function managementRoutes({ api, deliver, describeSchema, allowedRoles }: ManagementParts): readonly ManagementRoute[] {
  return [
    {
      method: 'GET',
      url: `${project}/schema`,
      answer: (caller, request) => readSchema(caller, readRole(request, allowedRoles), describeSchema),
    },
    { method: 'GET', url: path, answer: async (caller, _, reply) => sendConfig(reply, await api.readConfig(caller)) },
    {
      method: 'PATCH',
      url: path,
      async answer(caller, request, reply) {
        const result = await api.changeConfig(
          caller,
          () => readBody(request),
          readVersion(request.headers['if-match']),
        );
        const { ignored, warnings } = result;
        if (ignored.length > 0) reply.header(ignoredHeader, headerText(ignored.join(',')));
        if (warnings.length > 0) reply.header(warningsHeader, headerText(warnings.join('; ')));
        return sendConfig(reply, result);
      },
    },
    { method: 'GET', url: `${path}/emails`, answer: (caller) => api.describeEmails(caller) },
    {
      method: 'POST',
      url: `${path}/emails/render`,
      kind: 'rendering',
      answer: (caller, request) => api.renderDraft(caller, () => readBody(request)),
    },
    {
      method: 'POST',
      url: `${path}/emails/send`,
      async answer(caller, request) {
        if (deliver === null) throw new ManagementError('send_failed', 'This gateway has no auth service to send with');
        await api.sendDraft(caller, () => readBody(request), deliver);
        return {};
      },
    },
    { method: 'GET', url: `${path}/versions`, answer: (caller) => api.listVersions(caller) },
    {
      method: 'GET',
      url: `${path}/versions/:version`,
      async answer(caller, request) {
        const { version } = request.params as { readonly version: string };
        if (!/^\d{1,15}$/.test(version)) throw new ManagementError('not_found');
        return api.readVersion(caller, Number(version));
      },
    },
  ];
}

/** The schema names what its role cannot see, so it is for those who may act as anyone. */
async function readSchema(
  caller: ManagementCaller,
  role: string,
  describe: ManagementParts['describeSchema'],
): Promise<DescribedSchema> {
  demand(caller, 'project:operate');
  const schema = await masked('schema_unavailable', () => describe(role));
  if (schema === null)
    throw new ManagementError('not_found', `There is no role "${role.slice(0, 63)}" in the database`);
  return schema;
}

/** @throws ManagementError `validation_failed` */
function readRole({ query }: FastifyRequest, allowed: Config['allowedRoles']): string {
  const { role } = query as { readonly role?: unknown };
  if (typeof role === 'string' && role !== '' && (allowed === '*' || allowed.includes(role))) return role;
  throw new ManagementError('validation_failed', 'role must be one of the roles that requests may have');
}

function addRoute(
  scope: FastifyInstance,
  parts: ManagementParts,
  { method, url, kind, answer }: ManagementRoute,
): void {
  const callers = new WeakMap<FastifyRequest, ManagementCaller>();
  scope.route({
    method,
    url,
    ...(method !== 'GET' && { bodyLimit: maxBodyBytes }),
    config: managementCors,
    // Before the body is received: nobody without a token may make us hold two megabytes.
    onRequest: async (request) => {
      callers.set(request, await authorizeRequest(parts, request, kind ?? 'request'));
    },
    handler: async (request, reply) =>
      send(reply, await answer(callers.get(request) as ManagementCaller, request, reply)),
  });
}

/** The methods that a path does not have. */
function refuseOthers(scope: FastifyInstance, routes: readonly ManagementRoute[], url: string): void {
  const known = routes.filter((route) => route.url === url).map(({ method }) => method);
  const allow = [...known.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])), 'OPTIONS'].join(', ');
  scope.route({
    method: (['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).filter(
      (method) => !known.some((name) => name === method),
    ),
    url,
    exposeHeadRoute: false,
    config: managementCors,
    onRequest: (_request, reply, done) => {
      reply.header('allow', allow);
      done(new ManagementError('method_not_allowed'));
    },
    handler: () => {},
  });
}

async function authorizeRequest({ api, takeRequest }: ManagementParts, request: FastifyRequest, kind: RequestKind) {
  const { ref } = request.params as { readonly ref: string };
  const caller = await api.authorize(ref, request.headers.authorization);
  const waitMs = await takeRequest(caller.tokenId, kind);
  if (waitMs === null) return caller;
  throw new ManagementError('rate_limited', undefined, { retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) });
}

/** The version of an `If-Match` header, which is the `ETag` of an answer; null for none, and for `*`. */
function readVersion(header: string | undefined): number | null {
  if (header === undefined || header === '*') return null;
  const [, version] = /^"(\d{1,15})"$/.exec(header) ?? [];
  // What is no version of ours cannot be the stored one.
  return version === undefined ? -1 : Number(version);
}

function sendConfig(reply: FastifyReply, { config, version }: ReadResult): PresentedConfig {
  reply.header('etag', `"${version}"`);
  return config;
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
