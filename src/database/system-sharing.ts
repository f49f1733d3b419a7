/**
 * Statements of several requests in one round trip: whatever is asked for while a flight is under way goes with the next one.
 *
 * For short statements that every request sends: reads by key, counts. A request that is alone waits for nobody; of many at
 * once, most of the reading and writing of sockets is saved. Each statement sees what was committed before it was asked for.
 *
 * A flight is one transaction, in the order of the first values, so that two of them that write the same rows never wait for
 * each other. Where one statement is refused nothing has happened, and each is run again alone: nobody meets the mistakes of
 * others.
 */
import type { SystemSession } from './run-system.ts';
import type { SystemResult, SystemStatement } from './system-connection.ts';
import type { Rows } from './system-flight.ts';

/** More would hold the locks of the first for too long. */
const maxStatements = 64;

interface Asked extends SystemStatement {
  readonly resolve: (rows: Rows | Promise<Rows>) => void;
  readonly reject: (problem: unknown) => void;
}

/**
 * @param runAlone Runs one statement in a round trip of its own.
 * @param runTogether Runs several in one; rejects where there is no connection.
 */
export function shareFlights(
  runAlone: SystemSession['query'],
  runTogether: (statements: readonly SystemStatement[]) => Promise<SystemResult>,
): SystemSession {
  const waiting: Asked[] = [];
  let isFlying = false;

  async function flyWhileAsked(): Promise<void> {
    while (waiting.length > 0) {
      const asked = waiting.splice(0, maxStatements).sort(byFirstValue);
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
    isFlying = false;
  }

  return {
    query(text, values) {
      if (values === undefined) return runAlone(text);
      return new Promise((resolve, reject) => {
        waiting.push({ text, values, resolve, reject });
        if (isFlying) return;
        isFlying = true;
        // Whoever asks now, before anything else happens, shares the flight.
        queueMicrotask(() => void flyWhileAsked());
      });
    },
  };
}

function byFirstValue(a: SystemStatement, b: SystemStatement): number {
  const [first, second] = [String(a.values[0]), String(b.values[0])];
  return first < second ? -1 : first > second ? 1 : 0;
}
