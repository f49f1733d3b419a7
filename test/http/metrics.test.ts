/**
 * The Prometheus metrics: who may read them, what they count, and what never gets into a label.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Gateway, startGateway } from '../../src/gateway.ts';
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
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? null : Number(line.slice(series.length + 1));
}

describe('who may read them', () => {
  test('everyone who reaches their own port, which serves nothing else', async () => {
    const { status, type, text } = await get(own());
    expect([status, type]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    expect(text).toContain('# TYPE pgreflect_requests_total counter');
    expect((await get(own('/metrics?x=1'))).status).toBe(200);
    expect((await get(own('/health'))).status).toBe(404);
    expect((await get(own(), {}, 'POST')).status).toBe(405);
  });

  test('on the port of the APIs a holder of an access token', async () => {
    const url = `${gateway.url}/metrics`;
    const allowed = await get(url, { authorization: `Bearer ${accessToken}` });
    expect([allowed.status, allowed.type]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    expect(allowed.text).toContain('# TYPE pgreflect_requests_total counter');
    for (const headers of [{}, { apikey: anonKey }, { authorization: `Bearer ${accessToken}2` }]) {
      const { status, text } = await get(url, headers as Record<string, string>);
      expect([status, JSON.parse(text).errors[0].extensions.code]).toEqual([401, 'UNAUTHENTICATED']);
    }
  });
});

describe('what they count', () => {
  test('requests by route, method and status, with their durations and bytes', async () => {
    const series = 'pgreflect_requests_total{route="/graphql/v1",method="POST",status="200"}';
    const before = (await seriesValue(series)) ?? 0;
    const durations = (await seriesValue('pgreflect_request_duration_seconds_count{route="/graphql/v1"}')) ?? 0;
    for (let round = 0; round < 3; round += 1) await ask(operation('{ noteCollection { edges { node { id } } } }'));
    expect(await seriesValue(series)).toBe(before + 3);
    expect(await seriesValue('pgreflect_request_duration_seconds_count{route="/graphql/v1"}')).toBe(durations + 3);
    expect(await seriesValue('pgreflect_response_bytes_total')).toBeGreaterThan(0);
  });

  test('a method that a path of the auth service lacks counts for its route, as with the other APIs', async () => {
    for (const path of ['/graphql/v1', '/auth/v1/signup', '/auth/v1/admin/users/1?x=2', '/auth/v1/nothing'])
      await fetch(`${gateway.url}${path}`, { method: 'PATCH' });
    const count = (route: string, status: number) =>
      seriesValue(`pgreflect_requests_total{route="${route}",method="PATCH",status="${status}"}`);
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
    const hits = 'pgreflect_document_lookups_total{result="hit"}';
    const [flights, known] = [await seriesValue('pgreflect_flights_total{pool="api"}'), await seriesValue(hits)];
    for (let round = 0; round < 3; round += 1) await ask(operation('{ noteCollection { pageInfo { hasNextPage } } }'));
    expect(await seriesValue('pgreflect_flights_total{pool="api"}')).toBe((flights ?? 0) + 3);
    expect(await seriesValue(hits)).toBe((known ?? 0) + 2);
    expect(await seriesValue('pgreflect_pool_connections{pool="api"}')).toBeGreaterThan(0);
    expect(await seriesValue('pgreflect_pool_waiting{pool="api"}')).toBe(0);
  });

  test('reloads of the model, and its age', async () => {
    const reloads = (await seriesValue('pgreflect_model_reload_duration_seconds_count')) ?? 0;
    await gateway.reload();
    expect(await seriesValue('pgreflect_model_reload_duration_seconds_count')).toBe(reloads + 1);
    expect(await seriesValue('pgreflect_events_total{kind="reloaded"}')).toBe(reloads + 1);
    expect(await seriesValue('pgreflect_model_age_seconds')).toBeGreaterThan(0);
  });

  test('emails that wait in the outbox', async () => {
    expect(await seriesValue('pgreflect_outbox_messages')).toBe(0);
    await database.query(`insert into pgreflect_queue.emails (kind, user_id, message, created_at, expires_at, due_at)
      values ('recovery', gen_random_uuid(), '{}', now() - interval '1 minute', now() + interval '1 day', now() + interval '1 day')`);
    expect(await seriesValue('pgreflect_outbox_messages')).toBe(1);
    expect(await seriesValue('pgreflect_outbox_oldest_seconds')).toBeGreaterThanOrEqual(60);
  });

  test('memory, processor and event loop of the process', async () => {
    const { text } = await get(own());
    for (const name of [
      'process_resident_memory_bytes',
      'process_cpu_seconds_total',
      'nodejs_eventloop_lag_p99_seconds',
    ]) {
      expect(text).toMatch(new RegExp(`^${name} [0-9.e-]+$`, 'm'));
    }
  });
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
