/**
 * Refuses invalid requests before any route: bytes that are not HTTP, several hosts, methods of other protocols. Gives
 * clients that still send a body time to read the refusal.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Code, PublicError } from '../../shared/errors.ts';
import { errorAnswer } from '../error-body.ts';
import { sniffHeaders } from '../response-head.ts';

const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The error of a request, independent of its route; null: none. */
export function generalRefusal({ method, headers, httpVersion }: IncomingMessage): PublicError | null {
  if (!methods.has(method ?? ''))
    return new PublicError('METHOD_NOT_ALLOWED', 'The server does not support this HTTP method.');
  const { host } = headers;
  // Node joins the values of a repeated header.
  if (host?.includes(',') || (host === undefined && httpVersion !== '1.0')) {
    return new PublicError('BAD_REQUEST', 'The request must have exactly one Host header.');
  }
  return null;
}

/** For `Allow`. */
export const allowedMethods = [...methods].join(', ');

/** How long a connection stays open after the answer, for a client that is still sending, in milliseconds. */
const lingerMs = 2000;
const lingering = new WeakSet<Duplex>();

/** Answers bytes that are not a complete HTTP request. */
export function refuseConnection(error: Error & { code?: string }, socket: Duplex): void {
  if (lingering.has(socket)) return;
  const response = (socket as { _httpMessage?: ServerResponse | null })._httpMessage ?? null;
  // The client would take this for the answer to its previous request.
  const isAnswering = response !== null && (response.headersSent || response.req.complete);
  if (error.code === 'ECONNRESET' || !socket.writable || isAnswering) return void socket.destroy();
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    endWith(socket, '431 Request Header Fields Too Large', 'The request headers are too large.');
  } else if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    endWith(socket, '408 Request Timeout', 'The request did not arrive in time.');
  } else endWith(socket, '400 Bad Request', 'The HTTP request is malformed.');
}

/** Refuses `CONNECT`, which asks for a proxy. */
export function refuseTunnel(_request: IncomingMessage, socket: Duplex): void {
  socket.on('error', () => {});
  endWith(socket, '405 Method Not Allowed', 'The server does not support this HTTP method.', 'METHOD_NOT_ALLOWED');
}

function endWith(socket: Duplex, line: string, message: string, code: Code = 'BAD_REQUEST'): void {
  const { body } = errorAnswer(new PublicError(code, message));
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
    ...sniffHeaders,
    ...(code === 'METHOD_NOT_ALLOWED' && { allow: allowedMethods }),
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  lingering.add(socket);
  socket.end(`HTTP/1.1 ${line}\r\n${head.join('')}\r\n${body}`);
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
}

/** Limit in bytes for reading and dropping a refused body. */
const droppedBytes = 32 * 1024 * 1024;

/**
 * The payload of an answer to a request whose body is incomplete. Sends the whole answer at once but delays its end:
 * the end would close the connection, and a client that reads only after sending would lose the answer.
 */
export function replyBeforeBodyEnds(
  { raw }: FastifyRequest,
  reply: FastifyReply,
  payload: string | Buffer,
): string | Buffer | Readable {
  const { headers } = raw;
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  if (!hasBody || raw.complete || raw.readableEnded) return payload;
  reply.removeHeader('connection').header('content-length', Buffer.byteLength(payload));
  return Readable.from(sendThenRead(raw, reply, payload), { objectMode: false });
}

async function* sendThenRead(raw: IncomingMessage, reply: FastifyReply, payload: string | Buffer) {
  yield Buffer.from(payload as string);
  if (await isRead(raw)) return;
  reply.raw.once('finish', () => raw.socket.destroySoon());
}

/** Reads and drops the rest of a body; false: it is too long. */
function isRead(raw: IncomingMessage): Promise<boolean> {
  return new Promise((resolve) => {
    let left = droppedBytes;
    raw.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) resolve(false);
    });
    raw.once('end', () => resolve(true)).once('close', () => resolve(true));
    if (raw.complete || raw.destroyed) resolve(true);
  });
}
