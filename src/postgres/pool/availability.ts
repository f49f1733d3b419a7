/**
 * Watches whether the database answers, in one place, and reports each outage once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Observe } from '../../shared/observation.ts';
import { DatabaseError, isAway } from '../database-error.ts';
import type { SystemPool } from '../system/run-system.ts';

/** The cause, for operators; clients learn only that the database is unavailable. */
function reasonOf(problem: Error): string {
  const reason = problem instanceof DatabaseError && problem.cause instanceof Error ? problem.cause.message : '';
  return reason || problem.message;
}

const firstDelayMs = 250;
const longestDelayMs = 5000;

/**
 * Every part that loses a connection calls `suspect`. One query then tells a lost connection from a lost database; an
 * outage is observed once, with its end.
 */
export function watchAvailability(pool: SystemPool, observe: Observe, onBack: () => void) {
  const stopping = new AbortController();
  const { signal } = stopping;
  let isAsking = false;

  async function ask(problem: Error): Promise<void> {
    let delayMs = firstDelayMs;
    for (let outage = false; !signal.aborted; outage = true) {
      const answers = await pool.query('select 1').then(
        () => true,
        (error) => !isAway(error),
      );
      if (answers && outage) {
        observe({ kind: 'database_back' });
        onBack();
      }
      if (answers || signal.aborted) return;
      if (!outage) observe({ kind: 'database_lost', reason: reasonOf(problem) });
      await sleep(delayMs, undefined, { signal }).catch(() => {});
      delayMs = Math.min(delayMs * 2, longestDelayMs);
    }
  }

  return {
    suspect(problem: Error): void {
      if (isAsking || signal.aborted) return;
      isAsking = true;
      void ask(problem).finally(() => {
        isAsking = false;
      });
    },
    stop: () => stopping.abort(),
  };
}
