/**
 * `/studio/inbox.json` and `/studio/inbox.events`: the emails of a project without a mail server, for tests, and for the page
 * `/studio/inbox`, which waits for the events.
 *
 * The emails are for holders of an access token, and with `pgreflect start` also for people on this machine. The answers never reach
 * other origins: the CORS headers of the APIs are taken off again.
 */

import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { PublicError } from '../../shared/errors.ts';
import { type InboxParts, inboxPath } from '../server/parts.ts';
import { keepToThisOrigin } from './studio-route.ts';

/** Pages that may wait for emails at once, in a process. */
const maxStreams = 20;

/** Between two looks for emails, and between two signs of life for whatever stands between, in milliseconds. */
const lookMs = 500;
const aliveMs = 15_000;

/**
 * Adds the routes. `?to=address` leaves only the emails to one recipient, `?after=id` only those that are newer than one.
 *
 * The JSON is a list of `CapturedEmail`, newest first.
 */
export function registerInbox(app: FastifyInstance, parts: InboxParts): void {
  app.get(`${inboxPath}.json`, { onSend: keepToThisOrigin }, async (request, reply) => {
    await admit(request, reply, parts);
    const emails = await parts.inbox.read({ to: parameter(request, 'to'), after: readId(parameter(request, 'after')) });
    return reply.type('application/json; charset=utf-8').send(JSON.stringify(emails));
  });
  const closing = new AbortController();
  let streams = 0;
  // A page that waits must not keep the server from stopping.
  app.addHook('preClose', async () => closing.abort());
  app.get(`${inboxPath}.events`, { onSend: keepToThisOrigin }, async (request, reply) => {
    await admit(request, reply, parts);
    if (streams >= maxStreams) {
      throw new PublicError('UNAVAILABLE', 'Too many pages wait for emails. Close some of them.');
    }
    streams += 1;
    const leaving = new AbortController();
    const signal = AbortSignal.any([closing.signal, leaving.signal]);
    reply.raw.once('close', () => {
      streams -= 1;
      leaving.abort();
    });
    return reply.type('text/event-stream').send(Readable.from(newEmails(request, parts, signal)));
  });
}

/** Events with a list of `CapturedEmail`, newest first: at once what there is, then what is new, until the reader may not read it. */
async function* newEmails(request: FastifyRequest, parts: InboxParts, signal: AbortSignal): AsyncGenerator<string> {
  const to = parameter(request, 'to');
  let after = readId(parameter(request, 'after'));
  let saidAt = Number.NEGATIVE_INFINITY;
  while (!signal.aborted && (await refusalOf(request, parts)) === null) {
    const emails = await parts.inbox.read({ to, after });
    const isFirst = saidAt === Number.NEGATIVE_INFINITY;
    if (isFirst || emails.length > 0 || performance.now() - saidAt > aliveMs) {
      saidAt = performance.now();
      yield isFirst || emails.length > 0 ? `data: ${JSON.stringify(emails)}\n\n` : ': nothing new\n\n';
    }
    after = emails[0]?.id ?? after;
    await sleep(lookMs, null, { signal }).catch(() => {});
  }
}

async function admit(request: FastifyRequest, reply: FastifyReply, parts: InboxParts): Promise<void> {
  reply.header('cache-control', 'no-store');
  const refusal = await refusalOf(request, parts);
  if (refusal !== null) throw refusal;
}

/** Why the caller may not read the inbox now; null where it may. */
async function refusalOf(request: FastifyRequest, parts: InboxParts): Promise<PublicError | null> {
  if (!parts.isCaptured()) {
    return new PublicError(
      'NOT_FOUND',
      'This gateway sends emails through a mail server (smtp_host), so it has no inbox.',
    );
  }
  if (parts.isOpen && isLocal(request)) return null;
  const [, token] = /^bearer +(\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
  if (token !== undefined && (await parts.verifyAccessToken(token))) return null;
  const local = parts.isOpen ? ', or open it as http://localhost:<port>/studio/inbox' : '';
  return new PublicError('UNAUTHENTICATED', 'The inbox needs an access token.', {
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

/**
 * Emails carry codes and links that sign people in. "On this machine" therefore means that the browser asked for a loopback name
 * itself: a page of another site that makes the browser ask, a name that somebody points at 127.0.0.1, and a proxy on this machine
 * that forwards strangers are all refused. What a server stands behind cannot be told from its requests: a proxy may send no header
 * that tells of it, so `serve` takes nobody's word for being local.
 */
function isLocal({ headers, socket }: FastifyRequest): boolean {
  if (!/^((::ffff:)?127\.|::1$)/.test(socket.remoteAddress ?? '')) return false;
  if (['x-forwarded-for', 'x-forwarded-host', 'forwarded', 'x-real-ip', 'via'].some((name) => name in headers))
    return false;
  if (!isLoopbackHost(headers.host ?? '')) return false;
  const site = headers['sec-fetch-site'];
  // A link on another page may lead here; anything that could read the answer, or frame it, may not.
  if (site === 'cross-site' || site === 'same-site') return headers['sec-fetch-dest'] === 'document';
  const { origin } = headers;
  return origin === undefined || origin === `http://${headers.host}` || origin === `https://${headers.host}`;
}

function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase().replace(/:\d+$/, '');
  return /^([a-z0-9-]+\.)*localhost$/.test(name) || /^127(\.\d{1,3}){3}$/.test(name) || name === '[::1]';
}
