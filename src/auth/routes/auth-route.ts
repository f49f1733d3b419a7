/** Mounts the auth service: the rules of all its routes (keys, time limit, errors, methods) around their handlers. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import type { HttpParts } from '../../server/parts.ts';
import { authPath } from '../../server/paths.ts';
import { routesOf } from '../../server/route.ts';
import type { AuthAttempt } from '../../shared/observation.ts';
import { AuthError, type AuthErrorCode } from '../model/auth-error.ts';
import { admitOperator, readmitOperator } from './admit-operator.ts';
import { adminRoutes } from './auth-admin-routes.ts';
import { authDocuments, registerAuthDocuments } from './auth-documents.ts';
import { adminFactorRoutes, factorRoutes } from './auth-factor-routes.ts';
import type { AuthParts } from './auth-parts.ts';
import { providerRoutes } from './auth-provider-routes.ts';
import { type AuthReply, sendReply, toErrorReply } from './auth-reply.ts';
import { type AuthRequest, isForm, readAuthRequest } from './auth-request.ts';
import { type AuthRoute, runRoute } from './auth-route-table.ts';
import { ownRoutes, userRoutes } from './auth-user-routes.ts';
import { asLinkPage } from './refused-link-page.ts';
import { apiKeyOf } from './request-headers.ts';

/** Largest body in bytes. */
export const maxAuthBodyBytes = 1_048_576;

const methods: readonly string[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** All routes with JSON and redirects. */
export const authRoutes: readonly AuthRoute[] = routesOf(
  userRoutes,
  providerRoutes,
  ownRoutes,
  factorRoutes,
  adminRoutes,
  adminFactorRoutes,
);

/** Parts of Supabase Auth that this service lacks, with a star for the rest of a path: answered as if disabled. */
const unserved: readonly (readonly [AuthErrorCode, string | null, ...(readonly string[])])[] = [
  ['saml_provider_disabled', null, '/sso', '/sso/*', '/admin/sso/*'],
  ['passkey_disabled', null, '/passkeys', '/passkeys/*', '/admin/users/:id/passkeys', '/admin/users/:id/passkeys/*'],
  [
    'feature_disabled', 'OAuth server is disabled',
    '/oauth/*', '/user/oauth/grants', '/admin/oauth/*', '/.well-known/oauth-authorization-server',
  ],
  ['feature_disabled', 'SCIM server is disabled', '/scim/v2/*'],
  ['feature_disabled', 'Custom OAuth providers are disabled', '/admin/custom-providers', '/admin/custom-providers/*'],
]; // biome-ignore format: one feature a line

/** Adds the routes. */
export async function registerAuth(app: FastifyInstance, parts: HttpParts, auth: AuthParts): Promise<void> {
  await app.register(
    async (scope) => {
      scope.setErrorHandler((error, request, reply) =>
        sendReply(request, reply, toErrorReply(request, error, parts.observe)),
      );
      scope.setNotFoundHandler(refuseUnserved);
      registerAuthDocuments(scope, parts.config, auth);
      for (const route of authRoutes) addRoute(scope, route, parts, auth);
    },
    { prefix: authPath },
  );
}

function addRoute(scope: FastifyInstance, route: AuthRoute, parts: HttpParts, auth: AuthParts): void {
  scope.route({
    method: route.method,
    url: route.path,
    // A HEAD request must not use up a link.
    exposeHeadRoute: false,
    bodyLimit: maxAuthBodyBytes,
    // A browser has no key for a form; only the body shows whether it is one.
    [route.form === undefined ? 'onRequest' : 'preHandler']: async (request: FastifyRequest) => {
      if (route.access === 'admin' && (await admitOperator(request, auth))) return;
      if (route.access !== 'anyone' && !(route.form && isForm(request))) await checkKey(request, parts);
    },
    ...(route.opensFromEmail && {
      errorHandler: (error, request, reply) => {
        const answer = toErrorReply(request, error, parts.observe);
        if (route.method === 'POST' && !isForm(request)) return sendReply(request, reply, answer);
        return sendReply(request, reply, asLinkPage(request, answer, auth.knownConfig().site_url));
      },
    }),
    handler: async (request, reply) => {
      await readmitOperator(request, auth);
      return sendReply(request, reply, await run(route, request, auth));
    },
  });
}

/** Checks the API key; the routes authenticate the user. @throws PublicError `UNAUTHENTICATED` */
async function checkKey(request: FastifyRequest, { authenticate }: HttpParts): Promise<void> {
  const key = apiKeyOf(request);
  request.state.identity = await authenticate(key === undefined ? {} : { apikey: key });
}

/** Answers within the deadline. The request has the same deadline and writes nothing after it. */
async function run(route: AuthRoute, request: FastifyRequest, auth: AuthParts): Promise<AuthReply> {
  const limitMs = auth.knownConfig().api_max_request_duration * 1000;
  const deadline = request.state.startedAt + limitMs;
  const work = async (): Promise<AuthReply> => {
    await assertInstalled(auth);
    const read = (config: AuthConfig) => {
      const own = readAuthRequest(request, auth, config, deadline);
      request.state.attempt = attemptOf(route, own);
      return own;
    };
    return runRoute(route, await admit(route, auth, read));
  };
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new AuthError('request_timeout')), Math.max(0, deadline - performance.now()));
  });
  try {
    return await Promise.race([work(), timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** Null also for one that cannot be read: it is refused behind its limits, as any other. */
function attemptOf(route: AuthRoute, request: AuthRequest): AuthAttempt | null {
  try {
    return route.attempt?.(request) ?? null;
  } catch {
    return null;
  }
}

/** Counts the request and checks for a newer configuration, at the same time. A newer one alone decides. */
async function admit(
  route: AuthRoute,
  auth: AuthParts,
  read: (config: AuthConfig) => AuthRequest,
): Promise<AuthRequest> {
  const known = auth.knownConfig();
  const enter = async (config: AuthConfig): Promise<AuthRequest> => {
    const request = read(config);
    const limit = route.limit?.(request) ?? null;
    if (limit !== null) await request.count(limit);
    return request;
  };
  const [config, [entered]] = await Promise.all([auth.currentConfig(), Promise.allSettled([enter(known)])]);
  if (config !== known) return enter(config);
  if (entered.status === 'rejected') throw entered.reason;
  return entered.value;
}

async function assertInstalled({ isInstalled }: AuthParts): Promise<void> {
  if (await isInstalled()) return;
  throw new AuthError('feature_disabled', notInstalled);
}

/** What is said where the tables are missing, or others own them. */
export const notInstalled =
  'The auth service is not set up in this database: `pgreflect init --auth` makes its tables, --admin-database-url names their owner.';

/** Matches what a path of a route stands for: a segment for `:name`, the rest for a star. */
const patternOf = (path: string): RegExp =>
  new RegExp(`^${path.replaceAll('.', '\\.').replace('*', '.*').replaceAll(/:\w+/g, '[^/]*')}$`);

const unservedPaths = unserved.flatMap(([code, message, ...paths]) =>
  paths.map((path) => ({ pattern: patternOf(path), code, message })),
);

const servedPaths = [...authDocuments.map(({ path }) => ({ path, method: 'GET' })), ...authRoutes]
  // The configuration decides whether a HEAD request is served.
  .filter(({ method }) => method !== 'HEAD')
  .map(({ path, method }) => ({ path, pattern: patternOf(path), method: String(method) }));

/**
 * Answers what no route takes: a part that this service lacks, another method, an unknown path. One handler, because a
 * route for each of them and each method would take most of the time in which a server is built.
 */
function refuseUnserved(request: FastifyRequest, reply: FastifyReply): never {
  const path = `/${(request.params as { readonly '*'?: string })['*'] ?? ''}`;
  const lacking = unservedPaths.find(({ pattern }) => pattern.test(path));
  if (lacking) throw new AuthError(lacking.code, lacking.message);
  const like =
    servedPaths.find((served) => served.path === path) ?? servedPaths.find(({ pattern }) => pattern.test(path));
  if (like === undefined || !methods.includes(request.method)) {
    throw new AuthError('unknown', 'Nothing is served at this path.', { status: 404 });
  }
  const known = servedPaths.filter((served) => served.path === like.path).map(({ method }) => method);
  request.state.refusedPath = `${authPath}${like.path}`;
  reply.header('allow', [...known, 'OPTIONS'].join(', '));
  throw new AuthError('unknown', 'The path does not support this method.', { status: 405 });
}
