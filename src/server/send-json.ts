/** JSON for the pages of operators, which read hours by the minute and lists of examples: 17 kB, and 2 kB in gzip. */
import type { FastifyReply } from 'fastify';
import { appendVary } from './append-vary.ts';
import { compress } from './compress.ts';

/** Sends a value as JSON, compressed if the client takes it. */
export async function sendJson(reply: FastifyReply, value: unknown): Promise<FastifyReply> {
  const text = JSON.stringify(value);
  reply.request.state.bytes = Buffer.byteLength(text);
  const { body, encoding } = await compress(text, reply.request.headers['accept-encoding']);
  reply.header('vary', appendVary(reply.getHeader('vary'), 'Accept-Encoding'));
  if (encoding !== null) reply.header('content-encoding', encoding);
  return reply.type('application/json; charset=utf-8').send(body);
}
