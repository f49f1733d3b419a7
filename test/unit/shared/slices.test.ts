import { expect, test } from 'vitest';
import { inSlices, sliceIsOver, withoutPauses } from '../../../src/shared/slices.ts';

/** Works until so many slices are over. */
function* work(slices: number, onSlice: () => void = () => {}): Generator<void, number> {
  for (let done = 0; done < slices; done += 1) {
    onSlice();
    while (!sliceIsOver());
    yield;
  }
  return slices;
}

test('A long computation lets the event loop turn between its slices', async () => {
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 0);
  expect(await inSlices(work(10))).toBe(10);
  clearInterval(timer);
  expect(turns).toBeGreaterThan(3);
});

test('Several get their slices in turn', async () => {
  const order: string[] = [];
  const runs = ['a', 'b', 'c'].map((name) => inSlices(work(2, () => void order.push(name))));
  await Promise.all(runs);
  expect(order).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
});

test('An error ends it, and the next one runs', async () => {
  // biome-ignore lint/correctness/useYield: it fails before
  const failing = function* (): Generator<void, void> {
    throw new Error('no');
  };
  await expect(inSlices(failing())).rejects.toThrow('no');
  expect(await inSlices(work(1))).toBe(1);
});

test('Without pauses it is finished at once', () => {
  expect(withoutPauses(inSteps(3))).toBe(3);
});

function* inSteps(steps: number): Generator<void, number> {
  for (let step = 0; step < steps; step += 1) yield;
  return steps;
}
