/** The line of live queries, on a clock of its own. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Answer } from '../../../../src/graphql/execute/executor.ts';
import { LiveGroup, type LiveOperation } from '../../../../src/graphql/live/live-group.ts';
import { RunLine } from '../../../../src/graphql/live/run-line.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

interface World {
  readonly poolSize?: number;
  /** Requests are answered during this part of the time. */
  readonly busy?: number;
  /** How long the runs of a group take, in milliseconds. */
  readonly takes: readonly number[];
}

const seconds = 10;

/** Groups that are always due. @returns What was seen in ten seconds. */
async function live({ poolSize = 8, busy = 0, takes }: World) {
  const operation = { context: { queuedAs: 'caller' } } as LiveOperation;
  const groups = takes.map((ms, index) => ({ ms, group: new LiveGroup(String(index), operation) }));
  const tookOf = new Map(groups.map(({ ms, group }) => [group, ms]));
  const running = new Set<LiveGroup>();
  const runs = new Map(groups.map(({ group }) => [group, 0]));
  const waitedSince = new Map<LiveGroup, number>();
  let [most, longestWait, activeMs, activeSince] = [0, 0, 0, 0];
  const line = new RunLine({
    poolSize,
    isBusy: () => false,
    busyMs: () => performance.now() * busy,
    run: async (group) => {
      longestWait = Math.max(longestWait, performance.now() - waitedSince.get(group)!);
      if (running.size === 0) activeSince = performance.now();
      running.add(group);
      most = Math.max(most, running.size);
      await new Promise((done) => setTimeout(done, tookOf.get(group)!));
      running.delete(group);
      if (running.size === 0) activeMs += performance.now() - activeSince;
      group.tookMs = tookOf.get(group)!;
      runs.set(group, runs.get(group)! + 1);
      setTimeout(() => add(group), 1);
    },
  });
  const add = (group: LiveGroup) => {
    waitedSince.set(group, performance.now());
    line.add(group);
  };
  await vi.advanceTimersByTimeAsync(1000);
  for (const { group } of groups) add(group);
  await vi.advanceTimersByTimeAsync(seconds * 1000);
  return { most, longestWait, part: activeMs / (seconds * 1000), runs: [...runs.values()] };
}

const many = (count: number, ms: number) => Array.from({ length: count }, () => ms);

test('The line takes most of the time of its places where there are no requests', async () => {
  const { most, part } = await live({ takes: many(64, 3) });
  expect(most).toBe(2 * 16);
  expect(part).toBeGreaterThan(0.6);
});

test('The line runs a few at once, and for a sixth of the time, where requests are answered all the time', async () => {
  const { most, part } = await live({ busy: 1, takes: many(64, 3) });
  expect(most).toBeLessThanOrEqual(2 * 4);
  expect(part).toBeLessThan(1 / 6);
  expect(part).toBeGreaterThan(1 / 15);
});

test('The line takes no more time where it has more connections', async () => {
  const { part } = await live({ poolSize: 100, busy: 1, takes: many(64, 3) });
  expect(part).toBeLessThan(1 / 6);
});

test('The line takes more where requests are answered for a part of the time', async () => {
  const { part } = await live({ busy: 0.3, takes: many(64, 3) });
  expect(part).toBeGreaterThan(1 / 5);
});

test.each([0, 1])(
  'The line runs slow queries too, one after the other, and quick ones beside them (%s)',
  async (busy) => {
    const { runs, longestWait } = await live({ busy, takes: [...many(3, 2000), ...many(4, 5)] });
    expect(Math.min(...runs.slice(0, 3))).toBeGreaterThan(0);
    expect(Math.min(...runs.slice(3))).toBeGreaterThan(50);
    expect(longestWait).toBeGreaterThan(1900);
  },
);

test('The line keeps queries together which are slow because the machine is', async () => {
  const { most } = await live({ takes: many(64, 90) });
  expect(most).toBe(2 * 16);
});

test('The line has a single place where there are few connections, and still runs all', async () => {
  const { runs } = await live({ poolSize: 4, busy: 1, takes: [200, 5, 5] });
  expect(Math.min(...runs)).toBeGreaterThan(1);
});

test('The line and the group do not rest for the time in which the database was away', async () => {
  const group = new LiveGroup('key', { context: { queuedAs: 'caller' } } as LiveOperation);
  const away = { codes: ['UNAVAILABLE'], executed: true } as unknown as Answer;
  const begun: number[] = [];
  const line = new RunLine({
    poolSize: 8,
    isBusy: () => false,
    busyMs: () => performance.now(),
    run: async () => {
      begun.push(performance.now());
      await group.run(async () => {
        await new Promise((done) => setTimeout(done, 20_000));
        return away;
      });
      setTimeout(() => line.add(group), group.readyAt - performance.now());
    },
  });
  await vi.advanceTimersByTimeAsync(1000);
  line.add(group);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(begun.map((at) => at - begun[0]!)).toEqual([0, 21_000, 42_000]);
});
