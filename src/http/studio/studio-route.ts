/**
 * `/studio`: the pages of the browser application, and the questions that only they ask: what a one-time token is worth,
 * what the project is, and what operators may see of it (studio-operations.ts).
 *
 * The pages are the same for everyone and hold no data; what they show they ask of the APIs, with the token of the person
 * before them. None of these answers reaches another origin.
 */

import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../../config/config.ts';
import { findSigningKey, makeApiKey } from '../../config/keys.ts';
import type { ManagementCaller } from '../../management/management-caller.ts';
import { ManagementError } from '../../management/management-error.ts';
import { PublicError } from '../../shared/errors.ts';
import { graphqlPath, type HttpParts, type StudioParts } from '../server/parts.ts';

/** The path of the studio. */
export const studioPath = '/studio';

/**
 * Everything comes from here, no script is written in a page and none is made of text. Styles may be written anywhere and
 * images come from anywhere, because frames with emails have to live under the same rules; the schema is laid out in a worker.
 */
const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; " +
  "img-src 'self' https: http: data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const closed = { config: { cors: false } } as const;
const small = { ...closed, bodyLimit: 4096 };

/** The same from src/http and from dist/http. */
const root = fileURLToPath(new URL('../../../dist/studio/', import.meta.url));

/** Lets replies send the files; they were compressed when they were built. */
export async function allowStudioFiles(app: FastifyInstance): Promise<void> {
  await app.register(fastifyStatic, {
    root,
    serve: false,
    dotfiles: 'ignore',
    preCompressed: true,
    suppressWarning: true,
  });
}

/** Sends the page; the application finds out by itself which of its pages is asked for. */
function sendStudioPage(_request: FastifyRequest, reply: FastifyReply): FastifyReply {
  builtFile('index.html');
  return setPagePolicy(reply).sendFile('index.html', { cacheControl: false });
}

/** The path of a file of the studio. @throws PublicError where there is none. */
export function builtFile(name: string): string {
  if (existsSync(root + name)) return root + name;
  throw new PublicError('NOT_FOUND', 'The studio is not built.', { hint: 'Run npm run build:studio.' });
}

/** What browsers may do with a page of ours. */
export function setPagePolicy(reply: FastifyReply): FastifyReply {
  reply.header('content-security-policy', contentSecurityPolicy).header('cache-control', 'no-cache');
  return reply.header('cross-origin-opener-policy', 'same-origin');
}

/** A changed file has another name. A worker gets its policy from its own answer. */
export function sendStudioFile(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { '*': name } = request.params as { readonly '*': string };
  reply.header('content-security-policy', contentSecurityPolicy);
  return reply.sendFile(`assets/${name}`, { maxAge: '1y', immutable: true });
}

/** Adds the routes; without a management API those of the pages alone, of which the inbox needs no more. */
export function registerStudio(app: FastifyInstance, parts: HttpParts): void {
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
        // They need the auth service, which a gateway may be without.
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

async function authorize({ headers }: FastifyRequest, { ref, api }: StudioParts): Promise<ManagementCaller> {
  return api.authorize(await ref(), headers.authorization).catch((error) => {
    if (!(error instanceof ManagementError)) throw error;
    throw new PublicError('UNAUTHENTICATED', 'The studio needs an access token of this project.');
  });
}

async function authorizeOperator(request: FastifyRequest, studio: StudioParts): Promise<ManagementCaller> {
  const caller = await authorize(request, studio);
  if (caller.scopes.includes('project:operate')) return caller;
  throw new PublicError('ROLE_NOT_ALLOWED', 'The access token lacks the scope "project:operate".');
}

/** Who may see what of the project: whoever holds an access token of it. */
async function describeProject(caller: ManagementCaller, { config, inbox }: HttpParts, studio: StudioParts) {
  const ref = await studio.ref();
  return {
    ref,
    isLocal: config.localProject,
    scopes: caller.scopes,
    keys: await keysFor(caller, config),
    roles: { anon: config.anonRole, authenticated: config.authenticatedRole, service: config.serviceRole },
    graphqlPath,
    isEmailCaptured: inbox?.isCaptured() ?? false,
    exampleOperations: config.exampleOperations,
  };
}

/**
 * Operators get the anon key, which every client of the project has. The service key, which outlives their tokens, is told on a
 * local project only.
 */
async function keysFor({ scopes }: ManagementCaller, config: Config) {
  const { anonKey, serviceKey, localProject } = config;
  if (localProject && scopes.includes('auth_config:write')) return { anon: anonKey, service: serviceKey };
  if (!scopes.includes('project:operate')) return null;
  return { anon: anonKey ?? (await makeAnonKey(config)), service: '' };
}

/** The one that `pgreflect keys` makes; empty where no key signs. */
async function makeAnonKey({ jwtSecret, jwtKeys, anonRole }: Config): Promise<string> {
  const signer = findSigningKey(jwtKeys) ?? jwtSecret;
  return signer ? makeApiKey(signer, anonRole) : '';
}

function readTicket(body: Buffer | undefined): string | null {
  try {
    const { token } = JSON.parse((body ?? '').toString()) as { readonly token?: unknown };
    return typeof token === 'string' ? token : null;
  } catch {
    return null;
  }
}

/** Runs behind the hooks of the whole server, one of which opens the APIs to pages of other origins. */
export function keepToThisOrigin(
  _request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error: null, payload: unknown) => void,
): void {
  reply.removeHeader('access-control-allow-origin').removeHeader('access-control-expose-headers');
  // A link in an email must look as if it was opened from a mail client: without a referrer.
  reply.header('referrer-policy', 'no-referrer').header('cross-origin-resource-policy', 'same-origin');
  done(null, payload);
}
