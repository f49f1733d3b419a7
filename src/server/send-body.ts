/** Bodies of answers, compressed where the client takes that. */
import type { FastifyReply } from 'fastify';
import { appendVary } from './append-vary.ts';
import { compress } from './compress.ts';

/** Sends a value as JSON, for pages of operators: an hour by the minute has 17 kB, and 2 kB in gzip. */
export async function sendJson(reply: FastifyReply, value: unknown): Promise<FastifyReply> {
  const text = JSON.stringify(value);
  reply.request.state.bytes = Buffer.byteLength(text);
  return sendCompressed(reply.type('application/json; charset=utf-8'), text);
}

/** Sends a body, compressed if the client takes it. */
export async function sendCompressed(reply: FastifyReply, text: string | Buffer): Promise<FastifyReply> {
  varyByEncoding(reply);
  const { body, encoding } = await compress(text, reply.request.headers['accept-encoding']);
  if (encoding !== null) reply.header('content-encoding', encoding);
  return reply.send(body);
}

/** Tells caches that other clients get other bytes. */
export function varyByEncoding(reply: FastifyReply): void {
  reply.header('vary', appendVary(reply.getHeader('vary'), 'Accept-Encoding'));
}
