/** `/health`: the process runs. `/ready`: it can answer requests, or the reason why not. */
import type { FastifyInstance } from 'fastify';
import { isAway } from '../postgres/database-error.ts';
import type { Queryable } from '../postgres/system/queryable.ts';
import { failureReason, failureReasons } from '../postgres/wire/connection-failure.ts';
import { finishesWithin } from '../shared/finishes-within.ts';
import { retryAfterSeconds } from './error-body.ts';

/** Why requests cannot be answered now, in one sentence; null if they can. */
export type Readiness = () => Promise<string | null>;

/** Adds both routes, which need no key. */
export function registerHealth(app: FastifyInstance, ready: Readiness): void {
  app.get('/health', (_request, reply) => reply.type('application/json').send('{"status":"ok"}'));
  app.get('/ready', async (_request, reply) => {
    const reason = await ready();
    if (reason === null) return reply.type('application/json').send('{"status":"ready"}');
    reply.code(503).header('retry-after', retryAfterSeconds(503));
    return reply.type('application/json').send(JSON.stringify({ status: 'unavailable', reason }));
  });
}

/** Cache lifetime of the answer of `/ready`, so that frequent probes cost the database nothing. */
const readyForMs = 500;

/** Longest wait for the database, in milliseconds. */
const patienceMs = 2000;

const isSilent = 'The database is not responding.';

/** Makes the check. @param notReady A reason although the database answers. */
export function createReadiness(notReady: () => string | null, database: Queryable): Readiness {
  let asked: { readonly at: number; readonly answer: Promise<string | null> } | null = null;
  return async () => {
    if (asked === null || performance.now() - asked.at > readyForMs) {
      const answer = finishesWithin(patienceMs, database.query('select 1')).then(
        (answered) => (answered ? null : isSilent),
        whyAway,
      );
      asked = { at: performance.now(), answer };
    }
    return (await asked.answer) ?? notReady();
  };
}

/** Names no login, host or database: everybody may read it. */
function whyAway(error: unknown): string {
  if (!isAway(error) || !(error.cause instanceof Error)) return isSilent;
  return failureReasons[failureReason(error.cause)];
}
