/**
 * Limits requests per minute and caller (`--rate-limit`): by the token's user, or without one by the client's address
 * or network (client-address.ts).
 */
import type { FastifyInstance } from 'fastify';
import { PublicError } from '../../shared/errors.ts';
import { countedAs } from '../caller/client-address.ts';
import type { Hook } from '../server/parts.ts';

/** Most callers counted at once; the least recently seen are dropped first. */
const maxCallers = 50_000;

/** Makes the counting hook, which runs after authentication. @throws (in the hook) PublicError `RATE_LIMITED`. */
export async function createRateLimit(app: FastifyInstance, perMinute: number): Promise<Hook> {
  // Loaded on demand: most gateways have no such limit.
  const { default: rateLimit } = await import('@fastify/rate-limit');
  await app.register(rateLimit, { global: false, max: perMinute, timeWindow: '1 minute', cache: maxCallers });
  const check = app.createRateLimit({
    keyGenerator: ({ state }) => countedAs(state.identity?.subject ?? null, state.address),
  });
  return (request, reply, done) => {
    check(request).then((limit) => {
      if (limit.isAllowed || !limit.isExceeded) return done();
      reply.header('retry-after', limit.ttlInSeconds);
      const message = `More than ${perMinute} requests in a minute; wait ${limit.ttlInSeconds} seconds.`;
      done(new PublicError('RATE_LIMITED', message));
    }, done);
  };
}
