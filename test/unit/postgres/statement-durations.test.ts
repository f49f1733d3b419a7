/** Which statements share a connection with others, by what is known of their durations. */
import { beforeEach, expect, test } from 'vitest';
import { StatementDurations } from '../../../src/postgres/pool/statement-durations.ts';

let durations: StatementDurations;
beforeEach(() => {
  durations = new StatementDurations();
});

test('a statement that nobody knows runs alone', () => {
  expect(durations.expectedMs('new')).toBeNull();
});

test('the shortest time counts at once, longer ones slowly', () => {
  durations.noteSuccess('read', 5);
  durations.noteSuccess('read', 1);
  expect(durations.expectedMs('read')).toBe(1);
  durations.noteSuccess('read', 5);
  expect(durations.expectedMs('read')).toBeCloseTo(1.02);
  for (let flight = 0; flight < 1000; flight += 1) durations.noteSuccess('read', 5);
  expect(durations.expectedMs('read')).toBeGreaterThan(4.9);
});

test('to keep others waiting is tolerated now and then', () => {
  durations.noteSuccess('read', 1);
  for (let time = 0; time < 10; time += 1) {
    durations.noteStall('read');
    expect(durations.expectedMs('read')).toBe(1);
    for (let flight = 0; flight < 100; flight += 1) durations.noteSuccess('read', 1);
  }
});

test('a statement that does it again and again runs alone, and longer each time', () => {
  durations.noteSuccess('read', 1);
  const flightsAlone = () => {
    let flights = 0;
    for (; durations.expectedMs('read') === null; flights += 1) durations.noteSuccess('read', 1);
    return flights;
  };
  const stall = (times: number) => {
    for (let time = 0; time < times; time += 1) durations.noteStall('read');
  };
  stall(2);
  const first = flightsAlone();
  stall(5);
  const later = flightsAlone();
  expect(first).toBeGreaterThan(10);
  expect(later).toBeGreaterThan(first);
});

test('a statement that writes runs alone for good', () => {
  durations.noteSuccess('read', 1);
  durations.noteWrite('read');
  for (let flight = 0; flight < 1000; flight += 1) durations.noteSuccess('read', 1);
  expect(durations.expectedMs('read')).toBeNull();
});

test('a statement that took long is planned for its values for a thousand flights, and the next time for twice as many', () => {
  durations.noteSuccess('read', 1);
  expect(durations.wantsPlanForValues('read')).toBe(false);
  const plannedFlights = () => {
    let flights = 0;
    for (; durations.wantsPlanForValues('read'); flights += 1) durations.noteSuccess('read', 1);
    return flights;
  };
  durations.noteSuccess('read', 250);
  expect(plannedFlights()).toBe(1000);
  durations.noteSuccess('read', 250);
  expect(plannedFlights()).toBe(2000);
});

test('one that takes long for all its values is not counted anew while it is planned for them', () => {
  durations.noteSuccess('read', 250);
  for (let flight = 0; flight < 999; flight += 1) durations.noteSuccess('read', 250);
  expect(durations.wantsPlanForValues('read')).toBe(true);
  durations.noteSuccess('read', 1);
  expect(durations.wantsPlanForValues('read')).toBe(false);
});

test('one that has taken as long planned for its values is suspected of twice that, and of 200 ms at most', () => {
  const isSuspected = (ms: number) => {
    durations.noteSuccess('read', ms);
    return durations.wantsPlanForValues('read');
  };
  const run = (times: number, ms: number) => {
    for (let flight = 0; flight < times; flight += 1) durations.noteSuccess('read', ms);
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
    for (let flight = 0; flight < times; flight += 1) durations.noteSuccess('read', ms);
  };
  run(1, 30);
  run(1, 1000);
  run(999, 1);
  run(1, 100);
  expect(durations.wantsPlanForValues('read')).toBe(false);
  for (let phase = 1; phase <= 3; phase += 1) {
    run(1, 250);
    run(1000 * 2 ** phase, 1);
  }
  run(1, 25);
  expect(durations.wantsPlanForValues('read')).toBe(true);
});

test('a statement that is slow now and then for a busy machine is seldom planned for its values', () => {
  let [planned, seed] = [0, 1];
  for (let flight = 0; flight < 100_000; flight += 1) {
    if (durations.wantsPlanForValues('read')) planned += 1;
    // One of a hundred takes 20 ms or more; each 12 ms more are half as frequent.
    seed = (seed * 16_807) % 2_147_483_647;
    durations.noteSuccess('read', 20 + 12 * Math.log2(0.01 / (seed / 2_147_483_647)));
  }
  expect(planned).toBeLessThan(10_000);
});

test('a statement that failed after long, by a limit of time, is planned for its values; one that failed at once is not', () => {
  durations.noteFailure('slow', 8000);
  durations.noteFailure('wrong', 1);
  expect(durations.wantsPlanForValues('slow')).toBe(true);
  expect(durations.wantsPlanForValues('wrong')).toBe(false);
});
