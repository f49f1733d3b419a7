/**
 * Statements of several requests in one round trip: whatever is asked for while others are under way goes with the next one.
 *
 * For short statements that are sent often: reads by key, counts, writes that wait for nobody's locks. A request that is alone
 * waits for nobody; of many at once, most of the reading and writing of sockets is saved, and of writes most of the commits.
 * Each statement sees what was committed before it was asked for.
 * Without it, sign-ins and refreshes of 64 clients take 1.3 × the CPU of the gateway and 1.1 × that of PostgreSQL.
 *
 * A round trip is one transaction, in the order of the first values, so that two of them that write the same rows never wait for
 * each other. Where one statement is refused nothing has happened, and each is run again alone: nobody meets the mistakes of
 * others. And where a round trip is not answered soon, the next goes without it, on another connection: nobody waits for a stuck one.
 */

import type { Queryable } from './queryable.ts';
import type { SystemResult, SystemStatement } from './system-connection.ts';
import type { Rows } from './system-rows.ts';

/** More would hold the locks of the first for too long. */
const maxStatements = 64;
/** While the answers of one round trip are worked on, the server works on the other. More would carry few statements each. */
const maxSenders = 2;
/** How long those who came later wait for a round trip, in milliseconds; many times what a healthy one takes. */
const patienceMs = 50;

interface Asked extends SystemStatement {
  readonly resolve: (rows: Rows | Promise<Rows>) => void;
  readonly reject: (problem: unknown) => void;
}

/**
 * @param runAlone Runs one statement in a round trip of its own.
 * @param runTogether Runs several in one; rejects where there is no connection.
 */
export function shareRoundTrips(
  runAlone: Queryable['query'],
  runTogether: (statements: readonly SystemStatement[]) => Promise<SystemResult>,
): Queryable {
  const waiting: Asked[] = [];
  /** Loops that send for all, without those that are stuck. */
  let senders = 0;
  let isStarting = false;

  function startSender(): void {
    senders += 1;
    isStarting = true;
    // Whoever asks now, before anything else happens, shares the round trip.
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
