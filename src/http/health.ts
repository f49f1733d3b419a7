/**
 * `/health`: the process lives. `/ready`: it can answer requests, or the reason why not.
 */
import type { FastifyInstance } from 'fastify';
import { retryAfterSeconds } from './error-body.ts';
import type { HttpParts } from './parts.ts';

/** Adds both routes; no key is needed for them. */
export function registerHealth(app: FastifyInstance, { ready }: HttpParts): void {
  app.get('/health', (_request, reply) => reply.type('application/json').send('{"status":"ok"}'));
  app.get('/ready', async (_request, reply) => {
    const reason = await ready();
    if (reason === null) return reply.type('application/json').send('{"status":"ready"}');
    reply.code(503).header('retry-after', retryAfterSeconds(503));
    return reply.type('application/json').send(JSON.stringify({ status: 'unavailable', reason }));
  });
}
