/** The series of several workers as one scrape. */
import { expect, test } from 'vitest';
import { WorkerSeries } from '../../../src/cli/serve/worker-series.ts';
import { combineSnapshots, type Snapshot } from '../../../src/server/metrics/snapshot.ts';

const worker = (flights: number, waiting: number, ageSeconds: number, isReady = 1): Snapshot => ({
  pgreflect_pool_flights_total: [{ labels: ['api'], value: flights }],
  pgreflect_pool_waiting_requests: [{ labels: ['api'], value: waiting }],
  pgreflect_pool_wait_duration_seconds: [{ labels: ['api'], value: flights / 10, counts: [flights, 0] }],
  pgreflect_model_age_seconds: [{ labels: [], value: ageSeconds }],
  pgreflect_ready: [{ labels: [], value: isReady }],
});

/** Flights, their waits and the requests that wait, the largest age, and whether all are ready. */
function read(snapshots: readonly Snapshot[]) {
  const all = combineSnapshots(snapshots);
  const value = (name: keyof Snapshot) => all[name]?.[0]?.value ?? null;
  return [
    value('pgreflect_pool_flights_total'),
    all.pgreflect_pool_wait_duration_seconds?.[0]?.counts?.[0] ?? null,
    value('pgreflect_pool_waiting_requests'),
    value('pgreflect_model_age_seconds'),
    value('pgreflect_ready'),
  ];
}

test('the series of workers are sums of counts and gauges, the largest age, and ready only where all are', () => {
  expect(read([worker(5, 1, 20), worker(7, 2, 10)])).toEqual([12, 12, 3, 20, 1]);
  expect(read([worker(5, 1, 20), worker(7, 2, 10, 0)])).toEqual([12, 12, 3, 20, 0]);
});

test('sums of workers never fall: not for one that is silent, nor when it ends or another takes its place', () => {
  const series = new WorkerSeries();
  const take = (...answers: readonly (readonly [number, Snapshot | null])[]) => read(series.take(new Map(answers)));
  expect(take([1, worker(5, 1, 20)], [2, worker(7, 2, 10)])).toEqual([12, 12, 3, 20, 1]);
  // What it has now is unknown, and it is not ready.
  expect(take([1, null], [2, worker(8, 0, 11)])).toEqual([13, 13, 0, 11, 0]);
  series.ended(1);
  expect(take([2, worker(8, 0, 12)])).toEqual([13, 13, 0, 12, 1]);
  expect(take([2, worker(8, 0, 12)], [3, worker(1, 0, 1)])).toEqual([14, 14, 0, 12, 1]);
  series.ended(3);
  series.ended(2);
  expect(take()).toEqual([14, 14, null, null, null]);
});
