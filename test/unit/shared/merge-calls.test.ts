import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { mergeCalls } from '../../../src/shared/merge-calls.ts';

test('callers during a run share one next run, which begins after they called', async () => {
  let runs = 0;
  const ends: (() => void)[] = [];
  const call = mergeCalls(async () => {
    runs += 1;
    const run = runs;
    await new Promise<void>((resolve) => ends.push(resolve));
    return run;
  });
  const first = call();
  const later = [call(), call()];
  expect(runs).toBe(1);
  ends.shift()!();
  expect(await first).toBe(1);
  await turn();
  expect(runs).toBe(2);
  const third = call();
  ends.shift()!();
  expect(await Promise.all(later)).toEqual([2, 2]);
  await turn();
  ends.shift()!();
  expect(await third).toBe(3);
});

test('a run that fails fails its callers alone', async () => {
  let runs = 0;
  const call = mergeCalls(async () => {
    runs += 1;
    if (runs === 1) throw new Error('away');
    return runs;
  });
  const answers = await Promise.allSettled([call(), call()]);
  expect(answers).toEqual([
    { status: 'rejected', reason: new Error('away') },
    { status: 'fulfilled', value: 2 },
  ]);
  expect(await call()).toBe(3);
});
