/**
 * `/studio/inbox` and `/studio/inbox.json`: the emails of a project without a mail server, for people and for tests. The first is
 * a page of the studio, which shows what the second says.
 *
 * The answers never reach other origins: the CORS headers of the APIs are taken off again.
 */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { PublicError } from '../../shared/errors.ts';
import type { InboxParts } from '../server/parts.ts';
import { mayReadInbox } from './inbox-access.ts';
import { keepToThisOrigin, sendStudioPage } from './studio-route.ts';

/** The page's path. */
export const inboxPath = '/studio/inbox';

/**
 * Adds both routes. `?to=address` leaves only the emails to one recipient, `?after=id` only those that are newer than one;
 * `?id=` opens one of them on the page.
 *
 * The JSON is a list of `CapturedEmail`, newest first.
 */
export function registerInbox(app: FastifyInstance, parts: InboxParts): void {
  app.get(`${inboxPath}.json`, { onSend: keepToThisOrigin }, async (request, reply) => {
    await admit(request, reply, parts);
    const emails = await parts.inbox.read({ to: parameter(request, 'to'), after: readId(parameter(request, 'after')) });
    return reply.type('application/json; charset=utf-8').send(JSON.stringify(emails));
  });
  app.get(inboxPath, { onSend: keepToThisOrigin }, async (request, reply) => {
    await admit(request, reply, parts);
    return sendStudioPage(request, reply);
  });
}

async function admit(request: FastifyRequest, reply: FastifyReply, parts: InboxParts): Promise<void> {
  reply.header('cache-control', 'no-store');
  if (!parts.isCaptured()) {
    throw new PublicError(
      'NOT_FOUND',
      'This gateway sends emails through a mail server (smtp_host), so it has no inbox.',
    );
  }
  if (await mayReadInbox(request, { isOpen: parts.isOpen, verify: parts.verifyAccessToken })) return;
  reply.header('www-authenticate', 'Basic realm="pgreflect inbox: the access token as password", charset="UTF-8"');
  const local = parts.isOpen ? ', or open it as http://localhost:<port>/studio/inbox' : '';
  throw new PublicError('UNAUTHENTICATED', 'The inbox needs an access token.', {
    hint: `Send "Authorization: Bearer <access token>"${local}.`,
  });
}

/** What is no id is as good as none. */
function readId(text: string | null): number {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : 0;
}

function parameter(request: FastifyRequest, name: string): string | null {
  const value = (request.query as Readonly<Record<string, unknown>>)[name];
  // PostgreSQL reads no NUL.
  return typeof value === 'string' && value !== '' && !value.includes('\0') ? value : null;
}
