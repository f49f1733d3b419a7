/** Which statements are planned for their values, by what their flights took. */
import { beforeEach, expect, test } from 'vitest';
import { SlowPlans } from '../../../src/postgres/pool/slow-plans.ts';

let slowPlans: SlowPlans;
beforeEach(() => {
  slowPlans = new SlowPlans();
});

test('a statement that took long is planned for its values for a thousand flights, and the next time for twice as many', () => {
  slowPlans.note('read', 1);
  expect(slowPlans.wantsPlanForValues('read')).toBe(false);
  const plannedFlights = () => {
    let flights = 0;
    for (; slowPlans.wantsPlanForValues('read'); flights += 1) slowPlans.note('read', 1);
    return flights;
  };
  slowPlans.note('read', 250);
  expect(plannedFlights()).toBe(1000);
  slowPlans.note('read', 250);
  expect(plannedFlights()).toBe(2000);
});

test('one that takes long for all its values is not counted anew while it is planned for them', () => {
  slowPlans.note('read', 250);
  for (let flight = 0; flight < 999; flight += 1) slowPlans.note('read', 250);
  expect(slowPlans.wantsPlanForValues('read')).toBe(true);
  slowPlans.note('read', 1);
  expect(slowPlans.wantsPlanForValues('read')).toBe(false);
});

test('one that has taken as long planned for its values is suspected of twice that, and of 200 ms at most', () => {
  const isSuspected = (ms: number) => {
    slowPlans.note('read', ms);
    return slowPlans.wantsPlanForValues('read');
  };
  const run = (times: number, ms: number) => {
    for (let flight = 0; flight < times; flight += 1) slowPlans.note('read', ms);
  };
  expect(isSuspected(30)).toBe(true);
  run(999, 1);
  run(1, 40);
  expect([isSuspected(75), isSuspected(81)]).toEqual([false, true]);
  run(1999, 1);
  run(1, 1000);
  expect([isSuspected(190), isSuspected(201)]).toEqual([false, true]);
});

test('the limit falls while it is planned for its values, so that what it took long ago does not count', () => {
  const run = (times: number, ms: number) => {
    for (let flight = 0; flight < times; flight += 1) slowPlans.note('read', ms);
  };
  run(1, 30);
  run(1, 1000);
  run(999, 1);
  run(1, 100);
  expect(slowPlans.wantsPlanForValues('read')).toBe(false);
  for (let phase = 1; phase <= 3; phase += 1) {
    run(1, 250);
    run(1000 * 2 ** phase, 1);
  }
  run(1, 25);
  expect(slowPlans.wantsPlanForValues('read')).toBe(true);
});

test('a statement that is slow now and then for a busy machine is seldom planned for its values', () => {
  let [planned, seed] = [0, 1];
  for (let flight = 0; flight < 100_000; flight += 1) {
    if (slowPlans.wantsPlanForValues('read')) planned += 1;
    // One of a hundred takes 20 ms or more; each 12 ms more are half as frequent.
    seed = (seed * 16_807) % 2_147_483_647;
    slowPlans.note('read', 20 + 12 * Math.log2(0.01 / (seed / 2_147_483_647)));
  }
  expect(planned).toBeLessThan(10_000);
});
