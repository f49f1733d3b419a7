/** The headers of W3C Trace Context, which anyone may send: what is taken over, what is ignored, what is sent on. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createEgress } from '../../src/shared/egress/egress.ts';
import { createLogger } from '../../src/shared/logger.ts';
import type { Observation, RequestObservation } from '../../src/shared/observation.ts';
import { withSpan } from '../../src/shared/trace/current-span.ts';
import { untraced } from '../../src/shared/trace/span.ts';
import { readTraceParent, traceHeaders } from '../../src/shared/trace/trace-context.ts';
import { operation, testServer } from '../support/http.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';
const valid = `00-${traceId}-${spanId}-01`;

async function requestWith(headers: Readonly<Record<string, string>>): Promise<RequestObservation> {
  const server = await testServer();
  await server.send({ headers, body: operation('{ hello }') });
  return server.observations.find(({ kind }) => kind === 'request') as RequestObservation;
}

async function lineOf(observation: Observation): Promise<Readonly<Record<string, unknown>>> {
  const lines: string[] = [];
  const stream = { write: (line: string) => void lines.push(line) };
  const { observe } = await createLogger({ level: 'info', format: 'json', slowMs: 60_000, stream });
  observe(observation);
  expect(lines.join('').trimEnd().split('\n')).toHaveLength(1);
  return JSON.parse(lines.join(''));
}

test('a traceparent is taken over, and its ids are in the line of the request', async () => {
  const { span } = await requestWith({ traceparent: valid, tracestate: 'vendor=a, other@tenant=b:c' });
  expect(span.outgoing).toEqual({ traceId, spanId, isSampled: true, state: 'vendor=a,other@tenant=b:c' });
  const line = await lineOf(await requestWith({ traceparent: valid }));
  expect(line).toMatchObject({ msg: 'request', trace_id: traceId, span_id: spanId });
});

test('a request without a traceparent has a trace of its own, which nobody else is told of', async () => {
  const [one, other] = await Promise.all([requestWith({}), requestWith({})]);
  expect(one.span.traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(one.span.spanId).toMatch(/^[0-9a-f]{16}$/);
  expect(one.span.traceId).not.toBe(other.span.traceId);
  expect(one.span.outgoing).toBeNull();
});

test.each([
  ['of version ff', `ff-${traceId}-${spanId}-01`],
  ['with an empty trace', `00-${'0'.repeat(32)}-${spanId}-01`],
  ['with an empty span', `00-${traceId}-${'0'.repeat(16)}-01`],
  ['in capitals', valid.toUpperCase()],
  ['of version 00 with more behind it', `${valid}-more`],
  ['that is too short', valid.slice(0, -1)],
  ['that is two', `${valid}, 00-${'a'.repeat(32)}-${spanId}-01`],
  ['with a line break for the log', `00-${traceId}-${spanId}-01\n{"level":"fatal"}`],
  ['with a color for terminals', `00-\u001b[31m${traceId}-${spanId}-01`],
])('a traceparent %s is ignored', (_what, traceparent) => {
  expect(readTraceParent({ traceparent })).toBeNull();
});

test('a traceparent of a later version is read as far as it is known', () => {
  expect(readTraceParent({ traceparent: `01-${traceId}-${spanId}-03-more` })).toMatchObject({
    traceId,
    isSampled: true,
  });
  expect(readTraceParent({ traceparent: `00-${traceId}-${spanId}-fe` })).toMatchObject({ isSampled: false });
});

test.each([
  ['too many members', Array.from({ length: 33 }, (_, at) => `k${at}=v`).join(',')],
  ['a key twice', 'a=1,a=2'],
  ['a key in capitals', 'A=1'],
  ['too much text', `a=${'x'.repeat(600)}`],
  ['a control character', 'a=\u0007'],
])('a tracestate with %s is ignored, and its traceparent is not', (_what, tracestate) => {
  expect(readTraceParent({ traceparent: valid, tracestate })).toEqual({ traceId, spanId, isSampled: true, state: '' });
});

test('the database is not told of traces: each request would need settings of its own', async () => {
  const server = await testServer();
  for (const last of ['1', '2']) {
    await server.send({ headers: { traceparent: `${valid.slice(0, -4)}${last}-01` }, body: operation('{ hello }') });
  }
  const [first, second] = server.calls;
  expect(first?.caller).toBe(second?.caller);
  expect(first?.caller.headers).not.toContain('traceparent');
});

test('a request to another machine has the trace of the request that it is for, and never its baggage', async () => {
  const received: IncomingHttpHeaders[] = [];
  const receiver = createServer(({ headers }, response) => {
    received.push(headers);
    response.end();
  });
  await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done));
  onTestFinished(() => void receiver.close().closeAllConnections());
  const address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const call = () => createEgress(null).fetchFor(address)(address);
  const headers = { traceparent: valid, tracestate: 'vendor=a', baggage: 'user=secret' };
  await withSpan((await requestWith(headers)).span, call);
  await withSpan((await requestWith({ baggage: 'user=secret' })).span, call);
  await call();
  expect(received[0]).toMatchObject(traceHeaders({ traceId, spanId, isSampled: true, state: 'vendor=a' }));
  expect(received.map(({ traceparent }) => traceparent)).toEqual([valid, undefined, undefined]);
  expect(received.some(({ baggage }) => baggage !== undefined)).toBe(false);
});

test('lines of what happens during a request have its trace, and others have none', async () => {
  const span = untraced.begin('POST', 'server', { parent: readTraceParent({ traceparent: valid }) });
  const during = await withSpan(span, () => lineOf({ kind: 'hook_failed', hook: 'send_email', reason: 'no answer' }));
  expect(during).toMatchObject({ hook: 'send_email', trace_id: traceId, span_id: spanId });
  // The connection of a request may break during another one.
  const lost = await withSpan(span, () => lineOf({ kind: 'database_lost', reason: 'closed' }));
  expect(lost).not.toHaveProperty('trace_id');
});
