/**
 * Faults that are planted on the way to the subscribers, which the checker of random-changes.test.ts is to find.
 *
 * Planted by hand in src/graphql/live, these were found, too: an answer after one of a later run, a change during a run that is
 * forgotten, the kept answer for a newcomer, groups that ignore claims, and a revoked grant that ends nothing.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { createRandom } from '../property/random.ts';
import type { Heard, Result, Subscribing } from '../support/live.ts';
import { runChanges } from './run-changes.ts';
import { people, type Subscribe, subscribing } from './watcher.ts';

const random = createRandom(11);

/** Waits until it is too late for anything to come, or nobody is there any more. */
type Pause = () => Promise<unknown>;

/** Changes what a subscriber asks or hears. */
interface Fault {
  readonly found: RegExp;
  readonly withSchemaChanges?: true;
  readonly ask?: (given: Subscribing) => Subscribing;
  readonly next?: (heard: Heard, given: Subscribing, tooLong: Pause) => () => Promise<Result>;
  readonly end?: (heard: Heard, tooLong: Pause) => Promise<unknown>;
}

/** The last answer that anybody got, by what was asked. */
const kept = new Map<string, Result>();

const faults = {
  'an older answer after a newer one': {
    found: /version \d+ after \d+|no state since|has never got/,
    next({ next }) {
      const seen: Result[] = [];
      return async () => {
        if (seen.length >= 2 && random.chance(0.5)) return seen.splice(0)[0];
        seen.push(await next());
        return seen.at(-1);
      };
    },
  },
  'the loss of a change before it is quiet': {
    found: /has never got version/,
    next:
      ({ next }) =>
      async () => {
        const result = await next();
        return random.chance(0.1) ? next() : result;
      },
  },
  'the answer of somebody with other claims': {
    found: /at version \d+ instead of|no state since/,
    ask: (given) => ({ ...given, headers: given.headers === people[0]!.headers ? people[1]!.headers : given.headers! }),
  },
  'an answer from before somebody came': {
    // Where nothing has changed since, it is the next one, too.
    found: /version \d+ after \d+|no state since|the same twice/,
    next({ next }, given) {
      const key = JSON.stringify(given);
      let first = kept.get(key);
      return async () => {
        const result = first ?? (await next());
        first = undefined;
        kept.set(key, result);
        return result;
      };
    },
  },
  'an answer that is sent again': {
    found: /the same twice/,
    next({ next }) {
      let last: Result = null;
      return async () => {
        last = last !== null && random.chance(0.1) ? last : await next();
        return last;
      };
    },
  },
  'a revoked grant that ends nothing': {
    found: /^anon, .* has never/,
    withSchemaChanges: true,
    // It ends by errors, or by an answer instead of events.
    next:
      ({ next }, _, tooLong) =>
      async () => {
        const result = await next();
        if (result.errors !== undefined) await tooLong();
        return result;
      },
    async end({ end }, tooLong) {
      const how = await end;
      await tooLong();
      return how;
    },
  },
} as const satisfies Readonly<Record<string, Fault>>;

export type FaultName = keyof typeof faults;
export const faultNames = Object.keys(faults) as readonly FaultName[];

/**
 * @param settleMs How long the last state may take.
 * @param rounds As `runChanges` takes them.
 */
export async function expectFound(name: FaultName, settleMs: number, rounds?: 'small'): Promise<void> {
  const fault: Fault = faults[name];
  const plant =
    (subscribe: Subscribe['events']): Subscribe['events'] =>
    (url, given, whenOver = onTestFinished) => {
      const heard = subscribe(url, fault.ask?.(given) ?? given, whenOver);
      const left = new Promise<void>((resolve) => whenOver(async () => resolve()));
      const tooLong = () => Promise.race([left, sleep(2 * settleMs)]);
      const end = fault.end?.(heard, tooLong) ?? heard.end;
      return { ...heard, next: fault.next?.(heard, given, tooLong) ?? heard.next, end };
    };
  const subscribe = { events: plant(subscribing.events), socket: plant(subscribing.socket) };
  const { withSchemaChanges = false } = fault;
  const others: string[] = [];
  // On a busy machine, a second may pass before the fault shows.
  for (const seed of [5, 6]) {
    const options = { seed, seconds: 1, withSchemaChanges, subscribe, settleMs, ...(rounds && { rounds }) };
    const { faults } = await runChanges(options, onTestFinished);
    if (faults.some((text) => fault.found.test(text))) return;
    others.push(...faults);
  }
  expect.fail(others.join('\n'));
}
