/** Signs of life on connections, on a clock of its own. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { KeepAlive } from '../../../../src/graphql/routes/keep-alive.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const connections = (count: number) => Array.from({ length: count }, () => ({ beat: vi.fn() }));

test('Each connection is written to once in 12 seconds, and few in the same second', async () => {
  const kept = new KeepAlive();
  const all = connections(48);
  for (const connection of all) kept.add(connection);
  const beats = () => all.reduce((sum, { beat }) => sum + beat.mock.calls.length, 0);
  for (let second = 1; second <= 12; second += 1) {
    const before = beats();
    await vi.advanceTimersByTimeAsync(1000);
    expect(beats() - before).toBe(4);
  }
  expect(all.every(({ beat }) => beat.mock.calls.length === 1)).toBe(true);
});

test('A connection that has gone is not written to, and the clock stops with the last one', async () => {
  const kept = new KeepAlive();
  const [gone, there] = connections(2);
  kept.add(gone!);
  kept.add(there!);
  kept.delete(gone!);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(gone!.beat).not.toHaveBeenCalled();
  expect(there!.beat.mock.calls.length).toBeGreaterThan(1);
  expect([...kept.all()]).toEqual([there]);
  kept.delete(there!);
  expect(vi.getTimerCount()).toBe(0);
});
