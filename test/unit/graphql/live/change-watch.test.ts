/** How often the exact mode of live queries looks for changes. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ChangeWatch } from '../../../../src/graphql/live/change-watch.ts';

const everyMs = 50;
const answer = { is_exact: true, is_watched: false, snapshot: '1:1:', at: '0', relations: '' };

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A watch whose looks are counted; `relations` of the next one can be set. */
function startWatch() {
  const looks = { relations: '', count: 0 };
  const watch = new ChangeWatch({
    systemPool: {
      async query() {
        const { relations } = looks;
        looks.relations = '';
        return [{ ...answer, relations }];
      },
    },
    everyMs,
    onLook: () => {
      looks.count += 1;
    },
    onReset: () => {},
    hasOtherTables: async () => false,
    observe: () => {},
  });
  watch.start();
  return {
    async looksIn(ms: number) {
      const before = looks.count;
      await vi.advanceTimersByTimeAsync(ms);
      return looks.count - before;
    },
    write: () => {
      looks.relations = '16384';
    },
  };
}

test('changes are looked for every --live-poll-ms, and twice as often for a second after one', async () => {
  const watch = startWatch();
  await watch.looksIn(1000);
  expect(await watch.looksIn(1000)).toBe(20);
  watch.write();
  expect(await watch.looksIn(everyMs)).toBe(1);
  expect(await watch.looksIn(1000)).toBe(40);
  await watch.looksIn(everyMs);
  expect(await watch.looksIn(1000)).toBe(20);
});
