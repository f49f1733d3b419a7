/**
 * Limits requests per minute and caller (`--rate-limit`): the token's user where there is one, else the
 * address of the client, or its network (client-address.ts).
 */
import type { FastifyInstance } from 'fastify';
import { PublicError } from '../../shared/errors.ts';
import { countedAs } from '../caller/client-address.ts';
import type { Hook } from '../server/parts.ts';

/** Callers counted at once; the least recently seen is forgotten first. */
const maxCallers = 50_000;

/** Makes the hook that counts; it runs after the caller is known. @throws (in the hook) PublicError `RATE_LIMITED`. */
export async function createRateLimit(app: FastifyInstance, perMinute: number): Promise<Hook> {
  // Most gateways have no such limit.
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
