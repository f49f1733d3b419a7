/** Which statements share a connection with others, by what is known of their pace. */
import { beforeEach, expect, test } from 'vitest';
import { StatementPace } from '../../../src/postgres/pool/statement-pace.ts';

let pace: StatementPace;
beforeEach(() => {
  pace = new StatementPace();
});

test('a statement that nobody knows runs alone', () => {
  expect(pace.expectedMs('new')).toBeNull();
});

test('the shortest time counts at once, longer ones slowly', () => {
  pace.note('read', 5);
  pace.note('read', 1);
  expect(pace.expectedMs('read')).toBe(1);
  pace.note('read', 5);
  expect(pace.expectedMs('read')).toBeCloseTo(1.02);
  for (let flight = 0; flight < 1000; flight += 1) pace.note('read', 5);
  expect(pace.expectedMs('read')).toBeGreaterThan(4.9);
});

test('to keep others waiting is tolerated now and then', () => {
  pace.note('read', 1);
  for (let time = 0; time < 10; time += 1) {
    pace.noteStall('read');
    expect(pace.expectedMs('read')).toBe(1);
    for (let flight = 0; flight < 100; flight += 1) pace.note('read', 1);
  }
});

test('a statement that does it again and again runs alone, and longer each time', () => {
  pace.note('read', 1);
  const flightsAlone = () => {
    let flights = 0;
    for (; pace.expectedMs('read') === null; flights += 1) pace.note('read', 1);
    return flights;
  };
  const stall = (times: number) => {
    for (let time = 0; time < times; time += 1) pace.noteStall('read');
  };
  stall(2);
  const first = flightsAlone();
  stall(5);
  const later = flightsAlone();
  expect(first).toBeGreaterThan(10);
  expect(later).toBeGreaterThan(first);
});

test('a statement that writes runs alone for good', () => {
  pace.note('read', 1);
  pace.noteWrite('read');
  for (let flight = 0; flight < 1000; flight += 1) pace.note('read', 1);
  expect(pace.expectedMs('read')).toBeNull();
});

test('a statement that took long is planned for its values for a thousand flights, and the next time for twice as many', () => {
  pace.note('read', 1);
  expect(pace.wantsPlanForValues('read')).toBe(false);
  const plannedFlights = () => {
    let flights = 0;
    for (; pace.wantsPlanForValues('read'); flights += 1) pace.note('read', 1);
    return flights;
  };
  pace.note('read', 250);
  expect(plannedFlights()).toBe(1000);
  pace.note('read', 250);
  expect(plannedFlights()).toBe(2000);
});

test('one that takes long for all its values is not counted anew while it is planned for them', () => {
  pace.note('read', 250);
  for (let flight = 0; flight < 999; flight += 1) pace.note('read', 250);
  expect(pace.wantsPlanForValues('read')).toBe(true);
  pace.note('read', 1);
  expect(pace.wantsPlanForValues('read')).toBe(false);
});

test('a statement that failed after long, by a limit of time, is planned for its values; one that failed at once is not', () => {
  pace.noteFailure('slow', 8000);
  pace.noteFailure('wrong', 1);
  expect(pace.wantsPlanForValues('slow')).toBe(true);
  expect(pace.wantsPlanForValues('wrong')).toBe(false);
});
