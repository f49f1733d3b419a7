/**
 * `/studio/inbox.json`: the emails of a project without a mail server, for tests and for the page `/studio/inbox`.
 *
 * Emails require an access token that could become every user anyway; with `pgreflect start`, browsers on this machine
 * need none. Other origins never get the answers.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { capturedEmail } from '../../email/transport/inbox.ts';
import { countedAs } from '../../server/caller/client-address.ts';
import { studioPath } from '../../server/paths.ts';
import type { RouteFacts, RouteTable } from '../../server/route.ts';
import { sendJson } from '../../server/send-body.ts';
import { readBearerToken } from '../../shared/bearer-token.ts';
import { PublicError } from '../../shared/errors.ts';
import { listOf } from '../../shared/schema.ts';
import { isFromHere } from './from-here.ts';
import type { InboxParts } from './studio-parts.ts';

const whose =
  'the token needs `auth_config:write` or `project:operate`, with `pgreflect start` this machine needs none';

/** The description of the route. */
export const inboxRoutes: RouteTable<'GET', RouteFacts> = {
  'GET /inbox.json': {
    access: 'any_scope',
    id: 'listCapturedEmails',
    summary: `List the captured emails, newest first; ${whose}`,
    query: { to: 'Only emails to this address.', after: 'Only emails with a greater id.' },
    answer: listOf(capturedEmail),
  },
};

/** Adds the route. */
export function registerInbox(scope: FastifyInstance, parts: InboxParts): void {
  scope.get(`${studioPath}/inbox.json`, { config: { cors: false } }, async (request, reply) => {
    reply.header('cache-control', 'no-store');
    await authorize(request, parts);
    return sendJson(reply, await parts.inbox.read(readFilter(request)));
  });
}

/** @throws PublicError Why the caller may not read the inbox now. */
async function authorize(request: FastifyRequest, parts: InboxParts): Promise<void> {
  if (!parts.isCaptured()) {
    throw new PublicError(
      'NOT_FOUND',
      'This gateway sends emails through a mail server (smtp_host), so it has no inbox.',
    );
  }
  if (parts.isOpen && isFromHere(request)) return;
  const token = readBearerToken(request.headers.authorization);
  if (token !== null && (await parts.verifyAccessToken(token, countedAs(null, request.state.address)))) return;
  const local = parts.isOpen ? ', or open it as http://localhost:<port>/studio/inbox' : '';
  throw new PublicError('UNAUTHENTICATED', 'The inbox needs an access token.', {
    hint: `Send "Authorization: Bearer <access token>", of one with the scope auth_config:write or project:operate${local}.`,
  });
}

function readFilter(request: FastifyRequest) {
  return { to: parameter(request, 'to'), after: readId(parameter(request, 'after')) };
}

/** A malformed id counts as absent. */
function readId(text: string | null): number {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : 0;
}

function parameter(request: FastifyRequest, name: string): string | null {
  const value = (request.query as Readonly<Record<string, unknown>>)[name];
  // PostgreSQL cannot read NUL.
  return typeof value === 'string' && value !== '' && !value.includes('\0') ? value : null;
}
