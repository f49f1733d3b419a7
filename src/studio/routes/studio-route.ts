/**
 * `/studio`: the pages of the browser application, and the requests that only they send. Other origins get none of
 * these answers.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { authorizeCaller } from '../../management/authorize.ts';
import type { ManagementCaller } from '../../management/management-caller.ts';
import { ManagementError } from '../../management/management-error.ts';
import { countedAs } from '../../server/caller/client-address.ts';
import { studioPath } from '../../server/paths.ts';
import { routesOf } from '../../server/route.ts';
import { hasSlowBody, noteSlowBody } from '../../server/slow-bodies.ts';
import { readBearerToken } from '../../shared/bearer-token.ts';
import { PublicError } from '../../shared/errors.ts';
import { registerInbox } from './inbox-route.ts';
import { keepToThisOrigin, sendStudioFile, sendStudioPage } from './studio-pages.ts';
import type { OperationParts, StudioParts } from './studio-parts.ts';
import { type StudioRoute, studioRoutes } from './studio-route-table.ts';

const closed = { config: { cors: false } } as const;

/** Adds the pages, which the inbox needs too, and the requests of those parts that there are. */
export function registerStudio(app: FastifyInstance, parts: OperationParts): void {
  const { inbox, studio } = parts;
  app.register(async (scope) => {
    scope.addHook('onSend', keepToThisOrigin);
    scope.get(studioPath, closed, sendStudioPage);
    scope.get(`${studioPath}/*`, closed, sendStudioPage);
    scope.get(`${studioPath}/assets/*`, closed, sendStudioFile);
    if (inbox) registerInbox(scope, inbox);
    if (studio) for (const route of routesOf(studioRoutes)) addRoute(scope, route, parts, studio);
  });
}

function addRoute(scope: FastifyInstance, route: StudioRoute, parts: OperationParts, studio: StudioParts): void {
  const callers = new WeakMap<FastifyRequest, ManagementCaller>();
  const { method, path, access } = route;
  const verify = (request: FastifyRequest) => authorize(request, studio, access);
  scope.route({
    ...closed,
    method,
    url: `${studioPath}${path}`,
    // Enough for a token; operations may be as large as elsewhere.
    ...(access === 'anyone' && { bodyLimit: 4096 }),
    // Before the body is received.
    onRequest: async (request) => {
      if (access === 'anyone') return;
      await noteSlowBody(request);
      callers.set(request, await verify(request));
    },
    handler: async (request, reply) => {
      if (hasSlowBody(request)) callers.set(request, await verify(request));
      return route.run({ parts, studio, verify, request, reply }, callers.get(request) as ManagementCaller);
    },
  });
}

async function authorize(
  request: FastifyRequest,
  { project }: StudioParts,
  access: StudioRoute['access'],
): Promise<ManagementCaller> {
  const from = countedAs(null, request.state.address);
  const token = readBearerToken(request.headers.authorization);
  const caller = await authorizeCaller(project, await project.ref(), { token, from }).catch((error) => {
    if (!(error instanceof ManagementError)) throw error;
    if (error.code === 'rate_limited') throw new PublicError('RATE_LIMITED', error.message);
    throw new PublicError('UNAUTHENTICATED', 'The studio needs an access token of this project.');
  });
  if (access !== 'project:operate' || caller.scopes.includes(access)) return caller;
  throw new PublicError('ROLE_NOT_ALLOWED', 'The access token lacks the scope "project:operate".');
}
