/** Spans as a collector of OpenTelemetry gets them, by OTLP over HTTP: of requests, of sign-ups with hooks and emails, of live queries. */
import { expect, test, vi } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { version } from '../../src/shared/version.ts';
import { type Collector, type ReceivedSpan, sendTracesTo, startCollector } from '../support/collector.ts';
import { type TestGateway, testGateway } from '../support/gateway.ts';
import { hookSecret, startHookServer } from '../support/hook-server.ts';
import { anonKey, serviceKey } from '../support/http.ts';
import { overEvents } from '../support/live.ts';
import { createAuthDatabase } from '../support/postgres.ts';

const database = await createAuthDatabase(`
  create table public.note (id integer primary key, body text);
  insert into public.note values (1, 'a'), (2, 'b');
  grant select on public.note to anon;
  grant insert on public.note to service_role;
`);

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';
const traceparent = `00-${traceId}-${spanId}-01`;
const query = 'query notes { noteCollection(filter: {body: {eq: "the secret"}}) { edges { node { id } } } }';

interface Traced {
  readonly collector: Collector;
  readonly gateway: TestGateway;
}

async function traced(variables: Readonly<Record<string, string>> = {}, given: Partial<Config> = {}): Promise<Traced> {
  const collector = await startCollector();
  sendTracesTo(collector, variables);
  return { collector, gateway: await testGateway(database, given) };
}

/** The spans of a trace, when its first one has arrived with all that ended before. */
async function traceOf({ spans }: Collector, root: (span: ReceivedSpan) => boolean): Promise<readonly ReceivedSpan[]> {
  return vi.waitFor(() => {
    const found = spans.find(root);
    expect(found).toBeDefined();
    return spans.filter((span) => span.traceId === found?.traceId);
  });
}

const isServer = ({ kind }: ReceivedSpan) => kind === 'server';

test('a query has spans of its stages, within the span of its request, within that of its caller', async () => {
  const { collector, gateway } = await traced({
    OTEL_SERVICE_NAME: 'shop',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
  });
  await gateway.ask(query, { headers: { traceparent, tracestate: 'vendor=a' } });
  const spans = await traceOf(collector, isServer);
  const root = spans.find(isServer)!;
  expect(root).toMatchObject({
    traceId,
    parentId: spanId,
    state: 'vendor=a',
    name: 'POST /graphql/v1',
    isError: false,
  });
  expect(root.facts).toMatchObject({
    'http.request.method': 'POST',
    'http.route': '/graphql/v1',
    'http.response.status_code': 200,
    'url.path': '/graphql/v1',
    'graphql.operation.name': 'notes',
    'graphql.operation.type': 'query',
    'pgreflect.role': 'anon',
  });
  expect(root.resource).toMatchObject({
    'service.name': 'shop',
    'service.version': version,
    'deployment.environment.name': 'test',
  });
  const parts = spans.filter((span) => span !== root);
  const flight = parts.find(({ kind }) => kind === 'client')!;
  const names = parts.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['parse', 'compile', flight.name]));
  // On a fast machine these may take too little.
  const short = ['authenticate', 'wait for a connection', 'serialize'];
  expect(names.filter((name) => !short.includes(name))).toHaveLength(3);
  expect(flight.facts).toMatchObject({
    'db.system.name': 'postgresql',
    'db.operation.name': 'SELECT',
    'server.address': expect.any(String),
  });
  for (const part of parts) {
    expect(part.parentId).toBe(root.spanId);
    expect(part.start >= root.start && part.end <= root.end, part.name).toBe(true);
  }
  expect(
    JSON.stringify([collector.spans, collector.requests], (_, value) =>
      typeof value === 'bigint' ? String(value) : value,
    ),
  ).not.toContain('the secret');
  const line = gateway.observations.find(({ kind }) => kind === 'request');
  expect(line).toMatchObject({ span: { traceId, spanId: root.spanId } });
});

test('a statement that the database refuses is an error of its span, with the code alone', async () => {
  const { collector, gateway } = await traced();
  const mutation = 'mutation { insertIntonoteCollection(objects: [{id: 1, body: "the secret"}]) { affectedCount } }';
  await gateway.ask(mutation, { key: serviceKey });
  const spans = await traceOf(collector, isServer);
  const flight = spans.find(({ kind }) => kind === 'client');
  expect(flight).toMatchObject({ isError: true, facts: { 'error.type': '23505', 'db.response.status_code': '23505' } });
  expect(spans.find(isServer)?.facts).toMatchObject({
    'graphql.operation.type': 'mutation',
    'pgreflect.error.codes': 'CONSTRAINT_VIOLATION',
  });
});

test('a sign-up has spans of password, hook and email, and the hook gets the span that called it', async () => {
  const hook = await startHookServer();
  const { collector, gateway } = await traced(
    {},
    {
      authValues: {
        hook_before_user_created_enabled: true,
        hook_before_user_created_uri: hook.url,
        hook_before_user_created_secrets: hookSecret,
        hook_send_email_enabled: true,
        hook_send_email_uri: hook.url,
        hook_send_email_secrets: hookSecret,
      },
      allowPrivateNetworks: true,
    },
  );
  const answer = await fetch(`${gateway.url}/auth/v1/signup`, {
    method: 'POST',
    headers: { apikey: anonKey, 'content-type': 'application/json', traceparent, baggage: 'user=secret' },
    body: JSON.stringify({ email: 'a@traces.test', password: 'a good password' }),
  });
  expect(answer.status).toBe(200);
  const send = await vi.waitFor(() => {
    const found = collector.spans.find(({ kind }) => kind === 'consumer');
    expect(found).toBeDefined();
    return found!;
  });
  const spans = await traceOf(collector, isServer);
  const root = spans.find(isServer)!;
  expect(root).toMatchObject({ traceId, parentId: spanId, name: 'POST /auth/v1/signup' });
  const asked = spans.find(({ name }) => name === 'hook before_user_created')!;
  const call = spans.find(({ parentId }) => parentId === asked.spanId)!;
  expect(call).toMatchObject({
    kind: 'client',
    name: 'POST',
    facts: { 'server.address': '127.0.0.1', 'http.response.status_code': 200 },
  });
  expect(spans.map(({ name }) => name)).toContain('hash password');
  const queued = spans.find(({ kind }) => kind === 'producer')!;
  expect(queued.name).toBe('queue email confirmation');
  expect(send).toMatchObject({ name: 'send email confirmation', parentId: '', links: [`${traceId}/${queued.spanId}`] });
  expect(send.traceId).not.toBe(traceId);
  const [first, second] = hook.requests.map(({ headers }) => headers);
  expect(first?.traceparent).toBe(`00-${traceId}-${call.spanId}-01`);
  expect(second?.traceparent).toMatch(new RegExp(`^00-${send.traceId}-[0-9a-f]{16}-01$`));
  expect([first?.baggage, second?.baggage]).toEqual([undefined, undefined]);
});

test('a live query has a trace for each run, linked to its subscription', async () => {
  const { collector, gateway } = await traced({}, { liveIntervalMs: 20 });
  const query = 'subscription { noteCollection { edges { node { id } } } }';
  const heard = overEvents(gateway.url, { query, headers: { apikey: anonKey, traceparent } });
  await heard.next();
  const run = await vi.waitFor(() => {
    const found = collector.spans.find(({ name }) => name === 'live query');
    expect(found).toBeDefined();
    return found!;
  });
  expect(run).toMatchObject({ parentId: '', links: [expect.stringMatching(new RegExp(`^${traceId}/`))] });
  expect(collector.spans.some(({ traceId: of, kind }) => of === run.traceId && kind === 'client')).toBe(true);
});

test.each([
  ['no collector is named', { OTEL_EXPORTER_OTLP_ENDPOINT: '' }],
  ['the SDK is off', { OTEL_SDK_DISABLED: 'true' }],
  ['no exporter is wanted', { OTEL_TRACES_EXPORTER: 'none' }],
  ['the sampler is always_off', { OTEL_TRACES_SAMPLER: 'always_off' }],
])('nothing is exported where %s', async (_what, variables) => {
  const { collector, gateway } = await traced(variables);
  await gateway.ask(query, { headers: { traceparent } });
  await gateway.stop();
  expect(collector.requests).toEqual([]);
});

test('probes are no traces', async () => {
  const { collector, gateway } = await traced();
  await fetch(`${gateway.url}/health`);
  await fetch(`${gateway.url}/ready`);
  await gateway.ask('{ __typename }');
  await gateway.stop();
  expect(collector.spans.filter(isServer).map(({ name }) => name)).toEqual(['POST /graphql/v1']);
});

test('the histogram of requests names traces that are recorded, in OpenMetrics alone', async () => {
  const { gateway } = await traced(
    { OTEL_TRACES_SAMPLER: 'parentbased_always_off' },
    { accessToken: 'an-access-token', metricsPort: 0 },
  );
  await gateway.ask('{ __typename }');
  await gateway.ask('{ __typename }', { headers: { traceparent } });
  const read = async (accept: string) => {
    const text = await (await fetch(`http://127.0.0.1:${gateway.metricsPort}/metrics`, { headers: { accept } })).text();
    return text.split('\n').filter((line) => line.includes('trace_id'));
  };
  const [line, ...more] = await read('application/openmetrics-text; version=1.0.0');
  expect(line).toMatch(
    new RegExp(
      `^pgreflect_http_request_duration_seconds_bucket\\{route="/graphql/v1",.*\\} [12] # \\{trace_id="${traceId}"\\} [\\d.e-]+ \\d+\\.\\d{3}$`,
    ),
  );
  expect(more).toEqual([]);
  expect(await read('text/plain')).toEqual([]);
});

test('spans go through a proxy to a collector elsewhere, which only the proxy can look up', async () => {
  const proxy = await startCollector();
  sendTracesTo({ url: 'http://collector.test:4318' }, { http_proxy: proxy.url });
  const gateway = await testGateway(database);
  await gateway.ask(query, { headers: { traceparent } });
  await traceOf(proxy, isServer);
  expect(proxy.requests[0]).toMatchObject({
    path: 'http://collector.test:4318/v1/traces',
    headers: { host: 'collector.test:4318' },
  });
});
