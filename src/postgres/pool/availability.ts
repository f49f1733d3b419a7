/**
 * Watches whether the database answers, in one place, and reports each outage once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { backoff } from '../../shared/backoff.ts';
import type { Observe } from '../../shared/observation.ts';
import { DatabaseError, isAway } from '../database-error.ts';
import type { SystemPool } from '../system/run-system.ts';

/** The cause, for operators; clients learn only that the database is unavailable. */
function reasonOf(problem: Error): string {
  const reason = problem instanceof DatabaseError && problem.cause instanceof Error ? problem.cause.message : '';
  return reason || problem.message;
}

const pauseAfter = backoff(250, 5000);

/**
 * Every part that loses a connection calls `suspect`. One query then tells a lost connection from a lost database; an
 * outage is observed once, with its end.
 */
export function watchAvailability(pool: SystemPool, observe: Observe, onBack: () => void) {
  const stopping = new AbortController();
  const { signal } = stopping;
  let isAsking = false;

  async function ask(problem: Error): Promise<void> {
    for (let failures = 0; !signal.aborted; failures += 1) {
      const answers = await pool.query('select 1').then(
        () => true,
        (error) => !isAway(error),
      );
      if (answers && failures > 0) {
        observe({ kind: 'database_back' });
        onBack();
      }
      if (answers || signal.aborted) return;
      if (failures === 0) observe({ kind: 'database_lost', reason: reasonOf(problem) });
      await sleep(pauseAfter(failures + 1), undefined, { signal }).catch(() => {});
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
