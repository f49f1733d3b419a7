/**
 * Answers with Server-Sent Events, in the distinct connections mode of GraphQL over SSE: an event `next` for each
 * answer, then `complete`. Queries and mutations have one answer, subscriptions as many as there are changes.
 */
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { constants, crc32, deflateRawSync } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { appendVary } from '../../server/append-vary.ts';
import { acceptedEncodings } from '../../server/compress.ts';
import { anyOriginHeaders } from '../../server/cors.ts';
import { errorAnswer } from '../../server/error-body.ts';
import { toldMessages } from '../../server/recent/told-message.ts';
import { commonHeaders } from '../../server/response-head.ts';
import { errorCodes, PublicError } from '../../shared/errors.ts';
import { noStages } from '../../shared/stopwatch.ts';
import { gzipEnd, gzipHead } from '../execute/answer/compressed-text.ts';
import type { Answer, GraphQLRequest } from '../execute/executor.ts';
import { eventOf, type LiveEvent, type Subscriber } from '../live/live-event.ts';
import type { LiveOperation } from '../live/live-group.ts';
import type { Subscription } from '../live/live-queries.ts';
import { contextOf, run, writeHead } from './graphql-answer.ts';
import type { GraphqlParts } from './graphql-parts.ts';
import { KeepAlive, type Kept } from './keep-alive.ts';
import { type AuthenticateAgain, whileAuthorized } from './while-authorized.ts';

const type = 'text/event-stream';
const completeText = 'event: complete\ndata:\n\n';

/** What differs where the caller is no caller of the API. */
interface StreamOptions {
  /** Asks again whether the caller may subscribe. */
  readonly authenticate?: AuthenticateAgain;
  /** In place of the CORS headers of the API. */
  readonly headers?: ReturnType<FastifyReply['getHeaders']>;
}

/** Answers with event streams, and ends those of subscriptions. */
export class EventStreams {
  readonly #parts: GraphqlParts;
  readonly #open = new KeepAlive<EventStream>();
  #isDraining = false;

  constructor(parts: GraphqlParts) {
    this.#parts = parts;
  }

  /** Answers one request whose caller is verified. Rejects before anything is sent. */
  async answer(
    request: FastifyRequest,
    reply: FastifyReply,
    graphql: GraphQLRequest,
    options: StreamOptions = {},
  ): Promise<FastifyReply> {
    if (await this.subscribe(request, reply, graphql, options)) return reply;
    return sendOnce(this.#parts, request, reply, await run(this.#parts, request, graphql));
  }

  /** Answers a subscription. @returns False if the request is none. */
  async subscribe(
    request: FastifyRequest,
    reply: FastifyReply,
    graphql: GraphQLRequest,
    options: StreamOptions = {},
  ): Promise<boolean> {
    const { caller, ...context } = contextOf(this.#parts, request);
    if (!(await this.#parts.executor.isSubscription(caller.role, graphql, context))) return false;
    if (request.state.aborted) return true;
    try {
      this.#begin(request, reply, { caller, context, request: graphql }, options);
    } catch (error) {
      if (!(error instanceof PublicError) || errorCodes[error.code].transport) throw error;
      sendOnce(this.#parts, request, reply, refused(error));
    }
    return true;
  }

  /** Ends them one after the other within this time, in milliseconds: each client that comes back begins with a run. */
  drain(withinMs: number): void {
    this.#isDraining = true;
    const streams = [...this.#open.all()];
    for (const [index, stream] of streams.entries()) {
      setTimeout(() => stream.destroy(), (index * withinMs) / streams.length);
    }
  }

  #begin(
    request: FastifyRequest,
    reply: FastifyReply,
    operation: LiveOperation,
    { authenticate = this.#parts.authenticate, headers: given }: StreamOptions,
  ): void {
    const parts = this.#parts;
    const { headers, state } = request;
    const lastId = headers['last-event-id'];
    const isCompressed = acceptedEncodings(String(headers['accept-encoding'] ?? 'identity')).gzip;
    const stream = new EventStream(reply.raw, { isCompressed, lastId: typeof lastId === 'string' ? lastId : null });
    // Throws before the head is written.
    const subscription = parts.live.subscribe(operation, stream);
    const stop = whileAuthorized(authenticate, headers, state.identity, (problem) => {
      subscription.leave(problem.code);
      stream.end(eventOf(errorAnswer(problem)));
    });
    // A browser that stops reading only closes its side. Who subscribes has nothing more to send.
    const { socket } = request.raw;
    const hangUp = () => stream.destroy();
    socket.once('end', hangUp);
    reply.raw.on('close', () => {
      socket.off('end', hangUp);
      stop();
      subscription.leave(this.#isDraining ? 'stopping' : 'client');
      this.#open.delete(stream);
    });
    // A write to a client that has just gone away.
    reply.raw.on('error', () => {});
    state.beginStream();
    const { operationName } = operation.request;
    const operationType = 'subscription';
    state.answer = { executed: true, codes: [], operationName, operationType, documentHash: null, stages: noStages };
    reply.hijack();
    const cors = given ?? (parts.config.corsOrigins === '*' ? anyOriginHeaders : reply.getHeaders());
    const encoding = isCompressed ? { 'content-encoding': 'gzip' } : {};
    const own = { 'content-type': type, 'x-accel-buffering': 'no', ...encoding };
    const vary = appendVary(reply.getHeader('vary'), 'Accept-Encoding');
    reply.raw.writeHead(200, { ...(cors as OutgoingHttpHeaders), ...commonHeaders(request.id), ...own, vary });
    stream.open(subscription);
    this.#open.add(stream);
  }
}

function refused(error: PublicError): Answer {
  const { body, code } = errorAnswer(error);
  const messages = toldMessages([error]);
  return { body, executed: false, codes: [code], messages, operationName: null, documentHash: null, stages: noStages };
}

/** Sends the only answer. */
export function sendOnce(
  parts: GraphqlParts,
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer,
): FastifyReply {
  writeHead(parts, request, reply, { answer, answerType: type });
  return reply.header('content-type', type).send(frameText(String(answer.body)) + completeText);
}

/** A response that is written as long as the client is there. */
class EventStream implements Subscriber, Kept {
  readonly #response: ServerResponse;
  /** Null: not compressed. */
  readonly #gzip: { checksum: number; bytes: number } | null;
  #isBlocked = false;
  #hasMissed = false;
  /** The last event is written, which a client that does not read has not got yet. */
  #isOver = false;
  lastId: string | null;

  constructor(response: ServerResponse, { isCompressed, lastId }: { isCompressed: boolean; lastId: string | null }) {
    this.#response = response;
    this.#gzip = isCompressed ? { checksum: 0, bytes: 0 } : null;
    this.lastId = lastId;
  }

  open(subscription: Subscription): void {
    this.#response.flushHeaders();
    if (this.#gzip !== null) this.#response.write(gzipHead);
    this.#response.on('drain', () => {
      this.#isBlocked = false;
      if (!this.#hasMissed) return;
      this.#hasMissed = false;
      subscription.refresh();
    });
  }

  destroy(): void {
    this.#response.destroy();
  }

  /** Nothing is queued for a client that does not read. */
  next(event: LiveEvent): void {
    if (this.#isOver) return;
    if (this.#isBlocked) {
      this.#hasMissed = true;
      return;
    }
    this.lastId = event.id;
    this.#isBlocked = !this.#write(frameOf(event));
  }

  /** Only once: its session may end, and its token after that. */
  end(last: LiveEvent): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#write(frameOf(last));
    this.#write(complete);
    this.#response.end(this.#gzip === null ? undefined : gzipEnd(this.#gzip.checksum, this.#gzip.bytes));
  }

  beat(): void {
    if (!this.#isBlocked && !this.#isOver) this.#write(heartbeat);
  }

  #write({ text, deflated }: Frame): boolean {
    if (this.#gzip === null) return this.#response.write(text);
    this.#gzip.checksum = crc32(text, this.#gzip.checksum);
    this.#gzip.bytes += text.length;
    return this.#response.write(deflated());
  }
}

/** A part of streams. */
interface Frame {
  readonly text: Buffer;
  /** The same compressed, for any stream: after a full flush nothing refers to what was before. */
  readonly deflated: () => Buffer;
}

function toFrame(text: string): Frame {
  const bytes = Buffer.from(text);
  let deflated: Buffer | null = null;
  return {
    text: bytes,
    deflated() {
      deflated ??= deflateRawSync(bytes, { level: 1, finishFlush: constants.Z_FULL_FLUSH });
      return deflated;
    },
  };
}

const complete = toFrame(completeText);
/** A comment. */
const heartbeat = toFrame(':\n\n');

/** Of each event once, for all who get it. */
const frames = new WeakMap<LiveEvent, Frame>();

function frameOf(event: LiveEvent): Frame {
  const known = frames.get(event);
  if (known !== undefined) return known;
  const frame = toFrame(`id: ${event.id}\n${frameText(event.body.toString())}`);
  frames.set(event, frame);
  return frame;
}

/** JSON may have line breaks between its tokens; each line is a field of its own. */
function frameText(json: string): string {
  return `event: next\ndata: ${json.replaceAll(/\r\n|\r|\n/g, '\ndata: ')}\n\n`;
}
