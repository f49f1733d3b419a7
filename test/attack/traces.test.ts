/**
 * Traces against the operator: clients that want every request recorded, a collector that is away, slow or hostile. The damage
 * would be slow requests, memory, a flooded log, or a key of the collector in it.
 */
import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Observation } from '../../src/shared/observation.ts';
import { sendTracesTo, startCollector } from '../support/collector.ts';
import { testGateway } from '../support/gateway.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase(
  'create table public.note (id integer primary key); grant select on public.note to anon',
);
const query = '{ noteCollection { edges { node { id } } } }';

const sampled = (traceId: string) => ({ traceparent: `00-${traceId}-00f067aa0ba902b7-01` });
const random = () => sampled(randomBytes(16).toString('hex'));
/** Which the usual sampler by ids takes, whatever the ratio. */
const chosen = () => sampled(`${randomBytes(8).toString('hex')}0000000000000001`);

const warningsOf = (observations: readonly Observation[]) =>
  observations.flatMap((each) => (each.kind === 'warning' && each.message.startsWith('Traces') ? [each.message] : []));

test.each([
  ['the flag of a traceparent', 'parentbased_traceidratio', random],
  ['chosen trace ids', 'traceidratio', chosen],
])('a client has no more than its share recorded by %s', async (_what, sampler, headers) => {
  const collector = await startCollector();
  sendTracesTo(collector, { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: '0.1' });
  const gateway = await testGateway(database);
  for (let sent = 0; sent < 120; sent += 30) {
    const replies = await Promise.all(Array.from({ length: 30 }, () => gateway.ask(query, { headers: headers() })));
    expect(replies.every(({ status }) => status === 200)).toBe(true);
  }
  await gateway.stop();
  const recorded = collector.spans.filter(({ kind }) => kind === 'server').length;
  expect(recorded).toBeGreaterThan(0);
  // Ten at the start, and a tenth of all.
  expect(recorded).toBeLessThanOrEqual(10 + 12);
});

test('a collector that refuses or hangs holds up no request, and is one line of the log for each reason', async () => {
  const collector = await startCollector();
  sendTracesTo(collector, {
    OTEL_BSP_MAX_QUEUE_SIZE: '20',
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '10',
    OTEL_EXPORTER_OTLP_TIMEOUT: '3000',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20a-key-of-the-operator',
  });
  const gateway = await testGateway(database);
  const askAll = async () => {
    const replies = await Promise.all(Array.from({ length: 50 }, () => gateway.ask(query)));
    expect(replies.every(({ status }) => status === 200)).toBe(true);
  };
  collector.answer(403);
  await askAll();
  await vi.waitFor(() => expect(warningsOf(gateway.observations)).toHaveLength(1));
  await askAll();
  collector.answer(null);
  await askAll();
  await vi.waitFor(() => expect(warningsOf(gateway.observations)).toHaveLength(2), { timeout: 30_000 });
  await askAll();
  expect(warningsOf(gateway.observations)).toEqual([
    'Traces cannot be sent: the collector answers 403. Those of meanwhile are lost.',
    'Traces cannot be sent: the collector is busy, or does not answer in time. Those of meanwhile are lost.',
  ]);
  expect(collector.requests[0]?.headers.authorization).toBe('Bearer a-key-of-the-operator');
  expect(JSON.stringify(gateway.observations)).not.toMatch(/a-key-of-the-operator|secret of the collector/);
  // What waited is no more than the queue and what was under way, however many requests there were.
  collector.answer(200);
  await gateway.stop();
  expect(collector.spans.length).toBeLessThanOrEqual(20 + 10);
});

test('a collector that is away at the end does not keep the gateway from stopping', async () => {
  sendTracesTo({ url: 'http://127.0.0.1:9' });
  const gateway = await testGateway(database);
  await gateway.ask(query);
  await gateway.stop();
  expect(await vi.waitUntil(() => gateway.observations.some(({ kind }) => kind === 'stopped'))).toBe(true);
});

test.each([
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
  ['OTEL_TRACES_SAMPLER', 'sometimes'],
  ['OTEL_TRACES_SAMPLER_ARG', '10%'],
  ['OTEL_BSP_MAX_QUEUE_SIZE', 'many'],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
])('a wrong value of %s is named and keeps no gateway from starting', async (name, value) => {
  const collector = await startCollector();
  sendTracesTo(collector, { OTEL_TRACES_SAMPLER: 'traceidratio', [name]: value });
  const gateway = await testGateway(database);
  onTestFinished(() => gateway.stop());
  const warnings = gateway.observations.filter(({ kind }) => kind === 'warning');
  expect(warnings).toMatchObject([{ message: expect.stringContaining(name) }]);
  expect(JSON.stringify(warnings)).not.toContain(value);
  expect((await gateway.ask(query)).status).toBe(200);
});
