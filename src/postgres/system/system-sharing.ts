/**
 * Sends statements of several requests in one round trip: those that arrive while others run wait for the next one.
 *
 * For short, frequent statements that wait for no locks. Saves most socket calls and commits: without it, sign-ins and
 * refreshes of 64 clients take 1.3 × the CPU of the gateway and 1.1 × that of PostgreSQL. Each statement sees what was
 * committed before it was sent. A round trip is one transaction, ordered by first value, so two that write the same
 * rows cannot deadlock. If one statement fails, all are rolled back and run again alone. If a round trip stalls, the
 * next uses another connection.
 */

import type { Queryable } from './queryable.ts';
import type { SystemResult, SystemStatement } from './system-connection.ts';
import type { Rows } from './system-rows.ts';

/** Limit of statements: more would hold the locks of the first for too long. */
const maxStatements = 64;
/**
 * While the answers of one round trip are processed, the server works on the other. More would carry few statements
 * each.
 */
const maxSenders = 2;
/** How long new statements wait for a running round trip, in milliseconds; many times a normal one. */
const patienceMs = 50;

interface Asked extends SystemStatement {
  readonly resolve: (rows: Rows | Promise<Rows>) => void;
  readonly reject: (problem: unknown) => void;
}

/**
 * @param runAlone Runs one statement in its own round trip.
 * @param runTogether Runs several in one; rejects without a connection.
 */
export function shareRoundTrips(
  runAlone: Queryable['query'],
  runTogether: (statements: readonly SystemStatement[]) => Promise<SystemResult>,
): Queryable {
  const waiting: Asked[] = [];
  /** Running senders, except stuck ones. */
  let senders = 0;
  let isStarting = false;

  function startSender(): void {
    senders += 1;
    isStarting = true;
    // Statements requested in the same microtask turn share the round trip.
    queueMicrotask(() => {
      isStarting = false;
      void sendWhileAsked();
    });
  }

  async function sendWhileAsked(): Promise<void> {
    let isStuck = false;
    while (!isStuck && waiting.length > 0) {
      const impatience = setTimeout(() => {
        isStuck = true;
        senders -= 1;
        if (waiting.length > 0) startSender();
      }, patienceMs);
      await send(waiting.splice(0, maxStatements).sort(byFirstValue));
      clearTimeout(impatience);
    }
    if (!isStuck) senders -= 1;
  }

  async function send(asked: readonly Asked[]): Promise<void> {
    try {
      const { results, error, isPreparedLost } = await runTogether(asked);
      for (const [at, each] of asked.entries()) {
        if (error === null) each.resolve(results[at] ?? []);
        else if (error.kind === 'statement' || isPreparedLost) each.resolve(runAlone(each.text, each.values));
        else each.reject(error);
      }
    } catch (problem) {
      for (const { reject } of asked) reject(problem);
    }
  }

  return {
    query(text, values) {
      if (values === undefined) return runAlone(text);
      return new Promise((resolve, reject) => {
        waiting.push({ text, values, resolve, reject });
        if (senders < maxSenders && !isStarting) startSender();
      });
    },
  };
}

function byFirstValue(a: SystemStatement, b: SystemStatement): number {
  const [first, second] = [String(a.values[0]), String(b.values[0])];
  return first < second ? -1 : first > second ? 1 : 0;
}
