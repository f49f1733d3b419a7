/**
 * The Prometheus metrics: who may read them, what they count, and what never gets into a label.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Gateway, startGateway } from '../../src/gateway.ts';
import { type SeriesDefinition, series, unitOf } from '../../src/server/metrics/series.ts';
import { version } from '../../src/shared/version.ts';
import { parseExposition } from '../support/exposition.ts';
import { anonKey, operation, testConfig } from '../support/http.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';

const accessToken = `sbp_${'1'.repeat(40)}`;

let database: TestDatabase;
let gateway: Gateway;
beforeAll(async () => {
  database = await createAuthDatabase();
  await database.query('create table note (id int primary key); grant select on note to anon');
  const databaseUrl = database.urlAs('authenticator', 'test');
  const config = testConfig({ databaseUrl, adminDatabaseUrl: database.url, schemas: ['public'], port: 0, accessToken });
  gateway = await startGateway({ ...config, metricsPort: 0, poolSize: 2 }, { observe: () => {} });
});
afterAll(() => gateway.stop());

async function get(url: string, headers: Record<string, string> = {}, method = 'GET') {
  const response = await fetch(url, { method, headers });
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
}

const own = (path = '/metrics') => `http://127.0.0.1:${gateway.metricsPort}${path}`;
const ask = (body: string, headers: Record<string, string> = { apikey: anonKey }) =>
  fetch(`${gateway.url}/graphql/v1`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  }).then((response) => response.json());

/** The value of one series; null where there is none. */
async function seriesValue(series: string): Promise<number | null> {
  const { text } = await get(own());
  return valueIn(text, series);
}

function valueIn(text: string, series: string): number | null {
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? null : Number(line.slice(series.length + 1));
}

describe('who may read them', () => {
  test('everyone who reaches their own port, which serves nothing else', async () => {
    const { status, type, text } = await get(own());
    expect([status, type]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    expect(text).toContain('# TYPE pgreflect_http_requests_total counter');
    expect((await get(own('/metrics?x=1'))).status).toBe(200);
    expect((await get(own('/health'))).status).toBe(404);
    expect((await get(own(), {}, 'POST')).status).toBe(405);
  });

  test('on the port of the APIs a holder of an access token', async () => {
    const url = `${gateway.url}/metrics`;
    const allowed = await get(url, { authorization: `Bearer ${accessToken}` });
    expect([allowed.status, allowed.type]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    expect(allowed.text).toContain('# TYPE pgreflect_http_requests_total counter');
    for (const headers of [{}, { apikey: anonKey }, { authorization: `Bearer ${accessToken}2` }]) {
      const { status, text } = await get(url, headers as Record<string, string>);
      expect([status, JSON.parse(text).errors[0].extensions.code]).toEqual([401, 'UNAUTHENTICATED']);
    }
  });
});

describe('what they count', () => {
  test('requests by route, method and status, with their durations and bytes', async () => {
    const series = 'pgreflect_http_requests_total{route="/graphql/v1",method="POST",status="200"}';
    const before = (await seriesValue(series)) ?? 0;
    const durations =
      (await seriesValue('pgreflect_http_request_duration_seconds_count{route="/graphql/v1",outcome="success"}')) ?? 0;
    for (let round = 0; round < 3; round += 1) await ask(operation('{ noteCollection { edges { node { id } } } }'));
    expect(await seriesValue(series)).toBe(before + 3);
    expect(
      await seriesValue('pgreflect_http_request_duration_seconds_count{route="/graphql/v1",outcome="success"}'),
    ).toBe(durations + 3);
    expect(await seriesValue('pgreflect_http_response_bytes_total')).toBeGreaterThan(0);
  });

  test('a method that a path of the auth service lacks counts for its route, as with the other APIs', async () => {
    for (const path of ['/graphql/v1', '/auth/v1/signup', '/auth/v1/admin/users/1?x=2', '/auth/v1/nothing'])
      await fetch(`${gateway.url}${path}`, { method: 'PATCH' });
    const count = (route: string, status: number) =>
      seriesValue(`pgreflect_http_requests_total{route="${route}",method="PATCH",status="${status}"}`);
    expect(await count('/graphql/v1', 405)).toBe(1);
    expect(await count('/auth/v1/signup', 405)).toBe(1);
    expect(await count('/auth/v1/admin/users/:id', 405)).toBe(1);
    expect(await count('none', 404)).toBe(1);
  });

  test('errors by their codes', async () => {
    await ask(operation('{ nothing }'));
    await ask(operation('{ noteCollection { edges { node { id } } } }'), { apikey: 'wrong' });
    expect(await seriesValue('pgreflect_errors_total{code="GRAPHQL_VALIDATION_FAILED"}')).toBe(1);
    expect(await seriesValue('pgreflect_errors_total{code="UNAUTHENTICATED"}')).toBeGreaterThan(0);
  });

  test('flights of requests, connections, and documents that were known', async () => {
    const hits = 'pgreflect_graphql_document_lookups_total{result="hit"}';
    const [flights, known] = [await seriesValue('pgreflect_pool_flights_total{pool="api"}'), await seriesValue(hits)];
    for (let round = 0; round < 3; round += 1) await ask(operation('{ noteCollection { pageInfo { hasNextPage } } }'));
    expect(await seriesValue('pgreflect_pool_flights_total{pool="api"}')).toBe((flights ?? 0) + 3);
    expect(await seriesValue(hits)).toBe((known ?? 0) + 2);
    expect(await seriesValue('pgreflect_pool_connections{pool="api",state="idle"}')).toBeGreaterThan(0);
    expect(await seriesValue('pgreflect_pool_connections_max{pool="api"}')).toBe(2);
    expect(await seriesValue('pgreflect_pool_waiting_requests{pool="api"}')).toBe(0);
    expect(await seriesValue('pgreflect_pool_wait_duration_seconds_count{pool="api"}')).toBeGreaterThan(0);
  });

  test('reloads of the model, and its age', async () => {
    const series = 'pgreflect_model_reload_duration_seconds_count{outcome="success"}';
    const reloads = (await seriesValue(series)) ?? 0;
    await gateway.reload();
    expect(await seriesValue(series)).toBe(reloads + 1);
    expect(await seriesValue('pgreflect_model_age_seconds')).toBeGreaterThan(0);
  });

  test('emails that wait in the outbox', async () => {
    expect(await seriesValue('pgreflect_email_queue_messages')).toBe(0);
    await database.query(`insert into pgreflect_queue.emails (kind, user_id, message, created_at, expires_at, due_at)
      values ('recovery', gen_random_uuid(), '{}', now() - interval '1 minute', now() + interval '1 day', now() + interval '1 day')`);
    expect(await seriesValue('pgreflect_email_queue_messages')).toBe(1);
    expect(await seriesValue('pgreflect_email_queue_oldest_seconds')).toBeGreaterThanOrEqual(60);
  });

  test('memory, processor and event loop of the process', async () => {
    const { text } = await get(own());
    for (const name of [
      'process_resident_memory_bytes',
      'process_cpu_seconds_total',
      'nodejs_eventloop_lag_p99_seconds',
      'nodejs_eventloop_busy_seconds_total',
    ]) {
      expect(text).toMatch(new RegExp(`^${name} [0-9.e-]+$`, 'm'));
    }
    expect(text).toContain(`pgreflect_build_info{version="${version}",node="${process.versions.node}"} 1\n`);
    const startedAt = valueIn(text, 'process_start_time_seconds') ?? 0;
    expect(Math.abs(startedAt - performance.timeOrigin / 1000)).toBeLessThan(1);
  });

  test('the stages of GraphQL requests, and how requests end', async () => {
    const stage = (name: string, outcome: string) =>
      `pgreflect_graphql_stage_duration_seconds_count{stage="${name}",outcome="${outcome}"}`;
    const refused = 'pgreflect_http_request_duration_seconds_count{route="/graphql/v1",outcome="client_error"}';
    const before = await get(own());
    await ask(operation('{ noteCollection { pageInfo { hasPreviousPage } } }'));
    await ask(operation('{ mistake }'));
    const after = await get(own());
    const grown = (series: string) => (valueIn(after.text, series) ?? 0) - (valueIn(before.text, series) ?? 0);
    for (const name of ['authenticate', 'parse', 'compile', 'wait', 'flight', 'serialize'])
      expect(grown(stage(name, 'success'))).toBe(1);
    expect([grown(stage('parse', 'client_error')), grown(stage('compile', 'client_error'))]).toEqual([1, 0]);
    expect(grown(refused)).toBe(1);
  });

  test('whether the gateway can answer, and the requests that it is answering', async () => {
    expect(await seriesValue('pgreflect_ready')).toBe(1);
    const own = await get(`${gateway.url}/metrics`, { authorization: `Bearer ${accessToken}` });
    expect(valueIn(own.text, 'pgreflect_http_requests_in_flight')).toBe(1);
    expect(await seriesValue('pgreflect_http_requests_in_flight')).toBe(0);
  });
});

describe('how they are written', () => {
  const openMetrics = 'application/openmetrics-text';
  // What Prometheus sends, of two versions.
  const collectors = [
    `${openMetrics};version=1.0.0,${openMetrics};version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1`,
    `${openMetrics};version=1.0.0;escaping=allow-utf-8;q=0.6,${openMetrics};version=0.0.1;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2`,
  ];

  test('as OpenMetrics for whoever prefers it, otherwise in the format of Prometheus', async () => {
    for (const accept of [...collectors, openMetrics]) {
      const { type, text } = await get(own(), { accept });
      expect(type).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
      expect(text.endsWith('\n# EOF\n')).toBe(true);
      expect(text).toContain('# TYPE pgreflect_http_requests counter\n');
      expect(text).toContain('# TYPE pgreflect_build info\n');
      expect(text).toContain('# UNIT pgreflect_model_age_seconds seconds\n');
      expect(text).toContain('le="1.0"');
    }
    for (const accept of ['text/plain', '*/*', `text/plain,${openMetrics};q=0.5`, 'application/json', '']) {
      const { type, text } = await get(own(), { accept });
      expect(type).toBe('text/plain; version=0.0.4; charset=utf-8');
      expect(text).not.toContain('# EOF');
    }
  });

  test('every series is as the table of series says, in both formats', async () => {
    const plain = parseExposition((await get(own())).text);
    const open = parseExposition((await get(own(), { accept: openMetrics })).text);
    expect([...open.keys()]).toEqual([...plain.keys()].map((name) => name.replace(/_(total|info)$/, '')));
    for (const [name, { type, help, samples }] of plain) {
      const definition = (series as Readonly<Record<string, SeriesDefinition>>)[name];
      expect(definition, name).toBeDefined();
      expect([type, help]).toEqual([definition?.type === 'info' ? 'gauge' : definition?.type, definition?.help]);
      for (const { labels } of samples) {
        const { le: _bound, ...own } = labels;
        expect(Object.keys(own)).toEqual(definition?.labels);
        expect(Object.values(own).join('')).not.toMatch(/\s/);
      }
    }
    for (const [name, { unit }] of open) expect(unit).toBe(unitOf(name));
  });
});

test('names, types, units and labels of all series are as promtool asks', () => {
  for (const [name, { type, help, labels }] of Object.entries(series)) {
    expect(name).toMatch(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/);
    expect(help).toMatch(/^[A-Z0-9].{4,120}\.$/);
    expect(name.endsWith('_total')).toBe(type === 'counter');
    expect(name.endsWith('_info')).toBe(type === 'info');
    expect(name).not.toMatch(/_(count|sum|bucket)$/);
    expect(name).not.toMatch(
      /_(gauge|counter|histogram|summary|ms|milliseconds|minutes|hours|days|kb|kilobytes|mb)(_|$)/,
    );
    if (type === 'histogram') expect(unitOf(name)).toBe('seconds');
    for (const label of labels) {
      expect(label).toMatch(/^[a-z]+$/);
      expect(['le', 'quantile', 'job', 'instance']).not.toContain(label);
    }
  }
});

test('no label has a value that a client can choose', async () => {
  const made = 'made_up_by_a_client';
  await ask(operation(`query ${made} { ${made} }`, { operationName: made }));
  await get(`${gateway.url}/${made}?${made}`);
  await get(`${gateway.url}/auth/v1/admin/users/${made}`, { apikey: anonKey });
  await get(`${gateway.url}/v1/projects/${made}/config/auth`);
  const { text } = await get(own());
  expect(text).not.toContain(made);
  expect(text).toContain('{route="none",method="GET",status="404"}');
});
