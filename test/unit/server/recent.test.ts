/** What is kept of the last hour by itself: percentiles, several processes, an hour that goes by, and no text of a document. */
import { expect, test } from 'vitest';
import { mergeMinutes, mergeRequests, percentile } from '../../../src/server/recent/merge-recent.ts';
import { durationBounds, Minutes } from '../../../src/server/recent/minutes.ts';
import { readRequestFilter } from '../../../src/server/recent/recent-schemas.ts';
import { RequestRing } from '../../../src/server/recent/request-ring.ts';
import type { RequestObservation } from '../../../src/shared/observation.ts';
import { noStages } from '../../../src/shared/stopwatch.ts';
import { untraced } from '../../../src/shared/trace/span.ts';

const request = (given: Partial<RequestObservation> = {}): RequestObservation => ({
  kind: 'request',
  requestId: 'a',
  span: untraced.begin('POST', 'server'),
  method: 'POST',
  path: '/graphql/v1',
  route: '/graphql/v1',
  status: 200,
  address: '127.0.0.1',
  role: 'anon',
  operationName: null,
  operationType: null,
  documentHash: null,
  codes: [],
  stages: { ...noStages, authenticateMs: 0, serializeMs: 0 },
  attempt: null,
  totalMs: 1,
  bytes: 0,
  aborted: false,
  shed: false,
  fromStudio: false,
  ...given,
});

const noon = Date.parse('2026-11-29T12:00:00Z');
const minuteMs = 60_000;

test('the percentiles of a minute are within the bounds of a fifth', () => {
  const minutes = new Minutes();
  for (let ms = 1; ms <= 1000; ms += 1) minutes.addRequest(request({ totalMs: ms }), noon);
  const last = mergeMinutes([minutes.read(noon)], noon).at(-1);
  for (const [found, wanted] of [
    [last?.p50Ms, 500],
    [last?.p95Ms, 950],
    [last?.p99Ms, 990],
  ] as const) {
    expect(Math.abs((found as number) - wanted) / wanted).toBeLessThan(0.2);
  }
  const beyond = new Array(durationBounds.length + 1).fill(0).with(-1, 3);
  expect(percentile(beyond, 0.99)).toBe(Math.round((durationBounds.at(-1) as number) * 100) / 100);
  expect(percentile(beyond.with(-1, 0), 0.5)).toBeNull();
});

test('the last hour of several processes is one, also where some had no requests', () => {
  const [one, other, idle] = [new Minutes(), new Minutes(), new Minutes()];
  one.addRequest(request({ totalMs: 2 }), noon);
  one.addRequest(request({ status: 503, codes: ['UNAVAILABLE'] }), noon);
  other.addRequest(request({ codes: ['GRAPHQL_VALIDATION_FAILED'] }), noon);
  other.addRequest(request({ aborted: true }), noon - minuteMs);
  other.addRequest(request({ status: 429 }), noon);
  const pool = { size: 10, open: 4, waiting: 2, waits: { sum: 0, counts: [] }, flights: 0, batches: 0, refused: 0 };
  one.sample({ ...pool, idle: 1 }, 5, noon);
  one.sample({ ...pool, idle: 4, waiting: 0 }, 8, noon);
  other.sample({ ...pool, idle: 2 }, 1, noon);
  const minutes = mergeMinutes([one.read(noon), other.read(noon), idle.read(noon)], noon);
  expect(minutes.at(-1)).toMatchObject({
    time: '2026-11-29T12:00:00.000Z',
    requests: 4,
    clientErrors: 1,
    serverErrors: 1,
    refused: 1,
    aborted: 0,
    connectionsUsed: 5,
    connectionsMax: 20,
    requestsWaiting: 4,
    liveEvents: 9,
  });
  expect(minutes.at(-2)).toMatchObject({ requests: 1, aborted: 1, connectionsMax: 0 });
});

test('an hour later the minutes are empty again, however many went by without a request', () => {
  const minutes = new Minutes();
  minutes.addRequest(request(), noon);
  minutes.addEmail('sent', noon);
  const at = (later: number) => {
    const now = noon + later * minuteMs;
    return mergeMinutes([minutes.read(now)], now).reduce((sum, { requests }) => sum + requests, 0);
  };
  expect([at(0), at(59), at(60), at(120)]).toEqual([1, 1, 0, 0]);
  minutes.addRequest(request(), noon + 60 * minuteMs);
  expect(at(60)).toBe(1);
});

test('the last requests of several processes are in one order, and as many as were asked for', () => {
  const [one, other] = [new RequestRing(1), new RequestRing(2)];
  for (let at = 0; at < 6; at += 1) (at % 2 === 0 ? one : other).add(request({ requestId: `r${at}` }), noon + at);
  const filter = readRequestFilter({ limit: '4' });
  const merged = mergeRequests([one.find(filter), other.find(filter)], filter);
  expect(merged.requests.map(({ id, worker }) => `${id} ${worker}`)).toEqual(['r5 2', 'r4 1', 'r3 2', 'r2 1']);
});

test('three different messages of a request are kept', () => {
  const ring = new RequestRing(null);
  ring.add(request({ messages: ['a', 'a', 'b', 'c', 'd'] }), noon);
  ring.add(request(), noon + 1);
  const { requests } = ring.find(readRequestFilter({}));
  expect(requests.map(({ messages }) => messages)).toEqual([[], ['a', 'b', 'c']]);
});

test('the last requests say since when none of them is missing', () => {
  const [quiet, busy] = [new RequestRing(1), new RequestRing(2)];
  const since = (limit: number) => {
    const filter = readRequestFilter({ limit: String(limit), role: 'anon' });
    const found = mergeRequests([quiet.find(filter), busy.find(filter)], filter).since;
    return found === null ? null : Date.parse(found) - noon;
  };
  for (let at = 0; at < 500; at += 1) quiet.add(request({ role: at < 3 ? 'anon' : 'other' }), noon + at);
  // A ring that is full may have forgotten some.
  expect([since(100), since(2)]).toEqual([0, 1]);
  busy.add(request(), noon + 900);
  expect(since(100)).toBe(0);
  for (let at = 0; at < 510; at += 1) busy.add(request({ role: 'other' }), noon + 1000 + at);
  expect([since(100), since(2)]).toEqual([1010, 1010]);
  expect(new RequestRing(1).find(readRequestFilter({})).since).toBeNull();
});
