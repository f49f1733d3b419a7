/**
 * `/v1/projects/{ref}/config/auth`: GET and PATCH of the auth configuration, for holders of an access token
 * (docs/management-api.md). Below it: previews of emails and versions of the configuration. Beside it, for operators:
 * the schema of a role.
 *
 * Every error is `{"message", "code"}`; causes of masked errors go to the log.
 */

import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { countedAs } from '../../server/caller/client-address.ts';
import { frameworkStatus } from '../../server/framework-status.ts';
import { projectPath } from '../../server/paths.ts';
import { routesOf } from '../../server/route.ts';
import { sendJson } from '../../server/send-body.ts';
import { hasSlowBody, noteSlowBody } from '../../server/slow-bodies.ts';
import { readBearerToken } from '../../shared/bearer-token.ts';
import type { Observe } from '../../shared/observation.ts';
import { authorizeCaller } from '../authorize.ts';
import { countRequest } from '../count-request.ts';
import { demand, type ManagementCaller } from '../management-caller.ts';
import { ManagementError, type ManagementErrorCode } from '../management-error.ts';
import { accessRoutes } from './access-routes.ts';
import { activityRoutes } from './activity-routes.ts';
import { databaseRoutes } from './database-routes.ts';
import { deliveryRoutes, eventRoute } from './delivery-routes.ts';
import { type ManagementParts, maxManagementBodyBytes } from './management-parts.ts';
import { configRoutes, type ManagementRoute, type OpenManagementRoute } from './management-route-table.ts';
import { operatorRoutes } from './operator-routes.ts';

const ofTokens: readonly ManagementRoute[] = routesOf(
  configRoutes,
  accessRoutes,
  databaseRoutes,
  deliveryRoutes,
  activityRoutes,
  operatorRoutes,
);

/** All routes. */
export const managementRoutes: readonly (ManagementRoute | OpenManagementRoute)[] = [...ofTokens, eventRoute];

/** Adds the routes, in their own scope because of their error format. */
export async function registerManagementRoutes(
  app: FastifyInstance,
  parts: ManagementParts,
  observe: Observe,
): Promise<void> {
  await app.register(async (scope) => {
    answerErrors(scope, observe);
    for (const route of ofTokens) addRoute(scope, parts, route);
    addOpenRoute(scope, parts, eventRoute);
    for (const path of new Set(managementRoutes.map((route) => route.path))) refuseOthers(scope, path);
  });
}

function addRoute(scope: FastifyInstance, parts: ManagementParts, route: ManagementRoute): void {
  const { method, path, access, failure, run } = route;
  // A page of the studio reads several things at once, and again as time passes.
  const kind = route.kind ?? (method === 'GET' && access === 'project:operate' ? 'read' : 'request');
  const callers = new WeakMap<FastifyRequest, ManagementCaller>();
  const authorize = async (request: FastifyRequest, isNew: boolean): Promise<ManagementCaller> => {
    const caller = await authorizeRequest(parts, request);
    if (isNew) await countRequest(parts, caller, kind);
    demand(caller, access);
    return caller;
  };
  scope.route({
    method,
    url: `${projectPath}${path}`,
    ...(method !== 'GET' && { bodyLimit: maxManagementBodyBytes }),
    // Before the body is received: a client without a token must not make us buffer two megabytes.
    onRequest: async (request) => {
      await noteSlowBody(request);
      callers.set(request, await authorize(request, true));
    },
    handler: async (request, reply) => {
      const caller = hasSlowBody(request)
        ? await authorize(request, false)
        : (callers.get(request) as ManagementCaller);
      return sendJson(reply, await masked(failure, async () => run(parts, request, { caller, reply })));
    },
  });
}

/** Runs a function and masks its failures as `code`; a `ManagementError` stays as it is. */
async function masked<T>(code: ManagementErrorCode, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw error instanceof ManagementError ? error : new ManagementError(code, undefined, { cause: error });
  }
}

/** Largest body from anybody, in bytes: more than the services send. */
const maxOpenBodyBytes = 1024 * 1024;

function addOpenRoute(
  scope: FastifyInstance,
  parts: ManagementParts,
  { method, path, failure, run }: OpenManagementRoute,
): void {
  scope.route({
    method,
    url: `${projectPath}${path}`,
    bodyLimit: maxOpenBodyBytes,
    handler: async (request, reply) => send(reply, await masked(failure, () => run(parts, request))),
  });
}

/** Answers methods that a path lacks. */
function refuseOthers(scope: FastifyInstance, path: string): void {
  const known = managementRoutes.filter((route) => route.path === path).map(({ method }) => method);
  const allow = [...known.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])), 'OPTIONS'].join(', ');
  scope.route({
    method: (['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).filter(
      (method) => !known.some((name) => name === method),
    ),
    url: `${projectPath}${path}`,
    exposeHeadRoute: false,
    onRequest: (_request, reply, done) => {
      reply.header('allow', allow);
      done(new ManagementError('method_not_allowed'));
    },
    handler: () => {},
  });
}

function authorizeRequest({ project }: ManagementParts, request: FastifyRequest): Promise<ManagementCaller> {
  const { ref } = request.params as { readonly ref: string };
  const token = readBearerToken(request.headers.authorization);
  return authorizeCaller(project, ref, { token, from: countedAs(null, request.state.address) });
}

function send(reply: FastifyReply, value: unknown): FastifyReply {
  const text = JSON.stringify(value);
  reply.request.state.bytes = Buffer.byteLength(text);
  return reply.type('application/json; charset=utf-8').send(text);
}

function answerErrors(scope: FastifyInstance, observe: Observe): void {
  scope.setErrorHandler((error: FastifyError | ManagementError, request, reply) => {
    const known = toManagementError(error, request.method);
    const { status, code, message, cause, retryAfterSeconds, problems } = known;
    if (status >= 500) observe({ kind: 'masked_error', id: request.id, requestId: request.id, error: cause ?? known });
    if (retryAfterSeconds !== null) reply.header('retry-after', retryAfterSeconds);
    // Close: do not receive the rest of a refused body.
    if (status === 413) reply.header('connection', 'close');
    request.state.errorCode = code;
    return send(reply.code(status), { message, code, ...(problems !== null && { problems }) });
  });
}

function toManagementError(error: FastifyError | ManagementError, method: string): ManagementError {
  if (error instanceof ManagementError) return error;
  const status = frameworkStatus(error);
  if (status === 413) return new ManagementError('body_too_large');
  if (status === 400) return new ManagementError('invalid_body');
  return new ManagementError(method === 'GET' ? 'read_failed' : 'update_failed', undefined, { cause: error });
}
