/**
 * `/studio`: the pages of the browser application, and the requests that only they send: exchange a ticket, describe
 * the project, and operators' requests (studio-operations.ts).
 *
 * The pages are public and contain no data; they request it from the APIs with the user's token. Other origins get none
 * of these answers.
 */

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../config/config.ts';
import { findSigningKey, makeApiKey } from '../../config/keys.ts';
import type { ManagementCaller } from '../../management/management-caller.ts';
import { ManagementError } from '../../management/management-error.ts';
import { countedAs } from '../../server/caller/client-address.ts';
import { readBearerToken } from '../../shared/bearer-token.ts';
import { PublicError } from '../../shared/errors.ts';
import { isObject, parseJson } from '../../shared/json.ts';
import type { PageParts, StudioParts } from './studio-parts.ts';
import type { StudioProject } from './studio-project.ts';

/** The path of the studio. */
export const studioPath = '/studio';

/**
 * Allows only our own files, no inline scripts and no `eval`. Styles may be inline and images of any origin, because
 * frames with emails inherit the policy; a worker computes the layout of the schema.
 */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; " +
  "img-src 'self' https: http: data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const closed = { config: { cors: false } } as const;
const small = { ...closed, bodyLimit: 4096 };

/** The same from src/ and from dist/. */
const root = fileURLToPath(new URL('../../../dist/studio-app/', import.meta.url));

/** Lets replies send the files, which were compressed at build time. */
export async function allowStudioFiles(app: FastifyInstance): Promise<void> {
  await app.register(fastifyStatic, {
    root,
    serve: false,
    dotfiles: 'ignore',
    preCompressed: true,
    suppressWarning: true,
  });
}

/** Sends the page; the application routes by the path itself. */
function sendStudioPage(_request: FastifyRequest, reply: FastifyReply): FastifyReply {
  builtFile('index.html');
  return setPagePolicy(reply).sendFile('index.html', { cacheControl: false });
}

/** The path of a file of the studio. @throws PublicError if there is none. */
export function builtFile(name: string): string {
  if (existsSync(root + name)) return root + name;
  throw new PublicError('NOT_FOUND', 'The studio is not built.', { hint: 'Run npm run build:studio.' });
}

/** Sets the content security policy of a page. */
export function setPagePolicy(reply: FastifyReply): FastifyReply {
  reply.header('content-security-policy', contentSecurityPolicy).header('cache-control', 'no-cache');
  return reply.header('cross-origin-opener-policy', 'same-origin');
}

/** Cached for good, because a changed file gets a new name. A worker takes its policy from its own response. */
export function sendStudioFile(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { '*': name } = request.params as { readonly '*': string };
  reply.header('content-security-policy', contentSecurityPolicy);
  return reply.sendFile(`assets/${name}`, { maxAge: '1y', immutable: true });
}

/** Adds the routes; without a management API, only those of the pages, which the inbox needs. */
export function registerStudio(app: FastifyInstance, parts: PageParts): void {
  const { studio } = parts;
  app.register(async (scope) => {
    scope.addHook('onSend', keepToThisOrigin);
    scope.get(studioPath, closed, sendStudioPage);
    scope.get(`${studioPath}/*`, closed, sendStudioPage);
    scope.get(`${studioPath}/assets/*`, closed, sendStudioFile);
    if (!studio) return;
    scope.post(`${studioPath}/session`, small, async ({ body }) => {
      const token = parts.config.accessToken;
      const ticket = readTicket(body as Buffer | undefined);
      if (token !== null && ticket !== null && studio.redeemTicket(ticket)) return { accessToken: token };
      const message = 'The one-time token is invalid, already used, or older than ten minutes.';
      throw new PublicError('UNAUTHENTICATED', message);
    });
    scope.get(`${studioPath}/project`, closed, async (request) =>
      describeProject(await authorize(request, studio), parts, studio),
    );
    const operate = (path: string, options: object, answer: Operate) =>
      scope.post(`${studioPath}/${path}`, options, async (request, reply) => {
        const operator = await authorizeOperator(request, studio);
        // Loaded on demand: they need the auth service, which is optional.
        return answer(await import('./studio-operations.ts'), request, operator, reply);
      });
    operate('graphql', closed, (all, request, by, reply) => all.answerAsService(request, reply, parts, by));
    operate('users', small, (all, request) => all.answerUsers(request, parts));
    operate('explain', closed, (all, request) => all.answerExplain(request, parts, studio.explain));
    operate('act-as', small, (all, request, by) => all.answerActAs(request, parts, by));
    operate('sign-out', small, (all, request, by) => all.answerSignOut(request, parts, by));
  });
}

type Operations = typeof import('./studio-operations.ts');
type Operate = (
  operations: Operations,
  request: FastifyRequest,
  operator: ManagementCaller,
  reply: FastifyReply,
) => Promise<unknown>;

async function authorize(request: FastifyRequest, { ref, api }: StudioParts): Promise<ManagementCaller> {
  const from = countedAs(null, request.state.address);
  return api.authorize(await ref(), readBearerToken(request.headers.authorization), from).catch((error) => {
    if (!(error instanceof ManagementError)) throw error;
    if (error.code === 'rate_limited') throw new PublicError('RATE_LIMITED', error.message);
    throw new PublicError('UNAUTHENTICATED', 'The studio needs an access token of this project.');
  });
}

async function authorizeOperator(request: FastifyRequest, studio: StudioParts): Promise<ManagementCaller> {
  const caller = await authorize(request, studio);
  if (caller.scopes.includes('project:operate')) return caller;
  throw new PublicError('ROLE_NOT_ALLOWED', 'The access token lacks the scope "project:operate".');
}

async function describeProject(
  caller: ManagementCaller,
  { config, inbox }: PageParts,
  studio: StudioParts,
): Promise<StudioProject> {
  const ref = await studio.ref();
  return {
    ref,
    isLocal: config.localProject,
    scopes: caller.scopes,
    keys: await keysFor(caller, config),
    roles: { anon: config.anonRole, authenticated: config.authenticatedRole, service: config.serviceRole },
    isEmailCaptured: inbox?.isCaptured() ?? false,
    exampleOperations: config.exampleOperations,
  };
}

/**
 * Operators get the anon key, which every client has. The service key outlives their tokens, so only a local project
 * shows it.
 */
async function keysFor({ scopes }: ManagementCaller, config: Config): Promise<StudioProject['keys']> {
  const { anonKey, serviceKey, localProject } = config;
  const seesService = localProject && scopes.includes('auth_config:write');
  if (!seesService && !scopes.includes('project:operate')) return null;
  return { anon: anonKey ?? (await makeAnonKey(config)), service: (seesService && serviceKey) || '' };
}

/** The anon key that `pgreflect keys` makes; empty if no key signs. */
async function makeAnonKey({ jwtSecret, jwtKeys, anonRole }: Config): Promise<string> {
  const signer = findSigningKey(jwtKeys) ?? jwtSecret;
  return signer ? makeApiKey(signer, anonRole) : '';
}

function readTicket(body: Buffer | undefined): string | null {
  const json = parseJson(String(body));
  return isObject(json) && typeof json.token === 'string' ? json.token : null;
}

/** Runs after the server's hooks, one of which adds the CORS headers. */
export function keepToThisOrigin(
  _request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error: null, payload: unknown) => void,
): void {
  reply.removeHeader('access-control-allow-origin').removeHeader('access-control-expose-headers');
  // A link in an email must open as from a mail client, without a referrer.
  reply.header('referrer-policy', 'no-referrer').header('cross-origin-resource-policy', 'same-origin');
  done(null, payload);
}
