/**
 * `/studio/inbox.json` and `/studio/inbox.events`: the emails of a project without a mail server, for tests and for the
 * page `/studio/inbox`, which listens to the events.
 *
 * Emails require an access token that could become every user anyway; with `pgreflect start`, browsers on this machine
 * need none. Other origins never get the answers.
 */
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { capturedEmail } from '../../email/transport/inbox.ts';
import { countedAs } from '../../server/caller/client-address.ts';
import { studioPath } from '../../server/paths.ts';
import { type RouteFacts, type RouteTable, routesOf } from '../../server/route.ts';
import { readBearerToken } from '../../shared/bearer-token.ts';
import { PublicError } from '../../shared/errors.ts';
import { listOf } from '../../shared/schema.ts';
import { isFromHere } from './from-here.ts';
import type { InboxParts } from './studio-parts.ts';

/** Most open event streams per process. */
const maxStreams = 20;

/** Interval between checks for emails, and of keep-alives for proxies, in milliseconds. */
const lookMs = 500;
const aliveMs = 15_000;

/** The event streams of a server. */
interface Streams {
  open: number;
  /** The server stops. */
  readonly closing: AbortSignal;
}

/** A request with what answers it. */
interface Asked {
  readonly parts: InboxParts;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly streams: Streams;
}

interface InboxRoute extends RouteFacts {
  readonly access: 'any_scope';
  readonly run: (asked: Asked) => Promise<FastifyReply>;
}

const whose =
  'the token needs `auth_config:write` or `project:operate`, with `pgreflect start` this machine needs none';
const filter = { to: 'Only emails to this address.', after: 'Only emails with a greater id.' };

/** The routes. */
export const inboxRoutes: RouteTable<'GET', InboxRoute> = {
  'GET /inbox.json': {
    access: 'any_scope',
    id: 'listCapturedEmails',
    summary: `List the captured emails, newest first; ${whose}`,
    query: filter,
    answer: listOf(capturedEmail),
    async run({ parts, request, reply }) {
      const emails = await parts.inbox.read(readFilter(request));
      return reply.type('application/json; charset=utf-8').send(JSON.stringify(emails));
    },
  },
  'GET /inbox.events': {
    access: 'any_scope',
    id: 'watchCapturedEmails',
    summary: `Wait for captured emails; ${whose}`,
    query: filter,
    answer: null,
    page: { type: 'text/event-stream', description: 'Events with a list of captured emails, newest first.' },
    run: async (asked) => sendEvents(asked),
  },
};

/** Adds the routes. */
export function registerInbox(scope: FastifyInstance, parts: InboxParts): void {
  const closing = new AbortController();
  const streams: Streams = { open: 0, closing: closing.signal };
  // An open event stream must not delay the server's stop.
  scope.addHook('preClose', async () => closing.abort());
  for (const { method, path, run } of routesOf(inboxRoutes)) {
    scope.route({
      method,
      url: `${studioPath}${path}`,
      config: { cors: false },
      handler: async (request, reply) => {
        reply.header('cache-control', 'no-store');
        const refusal = await refusalOf(request, parts);
        if (refusal !== null) throw refusal;
        return run({ parts, request, reply, streams });
      },
    });
  }
}

function sendEvents({ parts, request, reply, streams }: Asked): FastifyReply {
  if (streams.open >= maxStreams) {
    throw new PublicError('UNAVAILABLE', 'Too many pages wait for emails. Close some of them.');
  }
  streams.open += 1;
  const leaving = new AbortController();
  const signal = AbortSignal.any([streams.closing, leaving.signal]);
  reply.raw.once('close', () => {
    streams.open -= 1;
    leaving.abort();
  });
  return reply.type('text/event-stream').send(Readable.from(newEmails(request, parts, signal)));
}

/**
 * Events with a list of `CapturedEmail`, newest first: first the present ones, then new ones, until the reader loses
 * access.
 */
async function* newEmails(request: FastifyRequest, parts: InboxParts, signal: AbortSignal): AsyncGenerator<string> {
  const { to, ...first } = readFilter(request);
  let { after } = first;
  let saidAt = Number.NEGATIVE_INFINITY;
  while (!signal.aborted && (await refusalOf(request, parts)) === null) {
    const emails = await parts.inbox.read({ to, after });
    const isFirst = saidAt === Number.NEGATIVE_INFINITY;
    // Whether a reader that sends nothing more still reads shows only on a write.
    const isDoubtful = request.socket.readableEnded;
    if (isFirst || emails.length > 0 || isDoubtful || performance.now() - saidAt > aliveMs) {
      saidAt = performance.now();
      yield isFirst || emails.length > 0 ? `data: ${JSON.stringify(emails)}\n\n` : ': nothing new\n\n';
    }
    after = emails[0]?.id ?? after;
    await sleep(lookMs, null, { signal }).catch(() => {});
  }
}

/** Why the caller may not read the inbox now; null if allowed. */
async function refusalOf(request: FastifyRequest, parts: InboxParts): Promise<PublicError | null> {
  if (!parts.isCaptured()) {
    return new PublicError(
      'NOT_FOUND',
      'This gateway sends emails through a mail server (smtp_host), so it has no inbox.',
    );
  }
  if (parts.isOpen && isFromHere(request)) return null;
  const token = readBearerToken(request.headers.authorization);
  if (token !== null && (await parts.verifyAccessToken(token, countedAs(null, request.state.address)))) return null;
  const local = parts.isOpen ? ', or open it as http://localhost:<port>/studio/inbox' : '';
  return new PublicError('UNAUTHENTICATED', 'The inbox needs an access token.', {
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
