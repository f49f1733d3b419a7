/** What operators see of the last requests and of the last hour: who asked what, how it ended and what took time. */
import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { version } from '../../src/shared/version.ts';
import { anonKey } from '../support/http.ts';
import { createAuthDatabase, type TestDatabase } from '../support/postgres.ts';
import { addToken, type ManagedGateway, managedGateway, ref } from './management.ts';

let database: TestDatabase;
let token: string;
let managed: ManagedGateway;

beforeAll(async () => {
  database = await createAuthDatabase();
  await database.query(`create table public.book (id int primary key, title text);
    insert into public.book values (1, 'One'); grant select on public.book to anon`);
  token = await addToken(database, { scopes: ['project:operate'] });
});

beforeEach(async () => {
  managed = await managedGateway(database, token, { managementRateLimit: null });
});

const read = async (path: string) => {
  const { status, body } = await managed.call({ path: `/v1/projects/${ref}/${path}` });
  expect(status).toBe(200);
  return body;
};
const ask = (query: string, id: string) => managed.gateway.ask(query, { headers: { 'x-request-id': id } });

/** A request is noted when its connection has got the whole answer, which its client may know earlier. */
const found = (query: string) =>
  vi.waitFor(async () => {
    const { requests } = await read(`requests?${query}`);
    expect(requests).toHaveLength(1);
    return requests[0];
  });

test('a request is listed with its operation, role, status, stages and trace', async () => {
  const trace = '0af7651916cd43dd8448eb211c80319c';
  const headers = { 'x-request-id': 'first', traceparent: `00-${trace}-b7ad6b7169203331-01` };
  await managed.gateway.ask('query Books { bookCollection { edges { node { id } } } }', { headers });
  const request = await found('id=first');
  expect(request).toEqual({
    time: expect.stringMatching(/^20\d\d-.*Z$/),
    id: 'first',
    traceId: trace,
    errorIds: [],
    method: 'POST',
    path: '/graphql/v1',
    operation: 'Books',
    operationType: 'query',
    document: expect.stringMatching(/^[0-9a-f]+$/),
    role: 'anon',
    status: 200,
    codes: [],
    messages: [],
    aborted: false,
    ms: expect.any(Number),
    stages: expect.any(Object),
    bytes: expect.any(Number),
    worker: null,
  });
  const { stages } = request;
  const parts = Object.values<number>(stages);
  expect(parts.every((ms) => ms >= 0 && ms <= request.ms)).toBe(true);
  expect(stages.runMs).toBeGreaterThan(0);
  expect(stages.waitMs).toBeLessThanOrEqual(stages.runMs);
});

test('requests are found by what they were, how they ended, how long they took, and by a part of their id', async () => {
  await ask('query Books { bookCollection { edges { node { id } } } }', 'fine:1');
  await ask('query Wrong { bookCollection { edges { node { none } } } }', 'wrong:1');
  await found('id=fine:1');
  expect(await found('failed=true&id=:1')).toMatchObject({
    id: 'wrong:1',
    codes: ['GRAPHQL_VALIDATION_FAILED'],
    messages: ['Cannot query field "none" on type "book". (line 1, column 47)'],
    operation: 'Wrong',
  });
  const ids = async (query: string) => (await read(`requests?${query}`)).requests.map(({ id }: { id: string }) => id);
  expect(await ids('id=:1')).toEqual(['wrong:1', 'fine:1']);
  expect(await ids('id=:1&limit=1')).toEqual(['wrong:1']);
  expect(await ids('id=:1&operation=BOOK')).toEqual(['fine:1']);
  expect(await ids('id=:1&role=anon&path=graphql')).toEqual(['wrong:1', 'fine:1']);
  expect(await ids('id=:1&text=Books')).toEqual(['fine:1']);
  expect(await ids('text=FINE:1')).toEqual(['fine:1']);
  expect(await ids('id=:1&role=service_role')).toEqual([]);
  expect(await ids('id=:1&min_ms=600000')).toEqual([]);
  expect(await ids('id=:1&operation=&role=&min_ms=')).toEqual(['wrong:1', 'fine:1']);
});

test('a filter that cannot be read is refused with its name', async () => {
  for (const query of ['limit=0', 'limit=501', 'min_ms=-1', 'min_ms=soon', 'failed=maybe', 'id=a&id=b']) {
    const { status, body } = await managed.call({ path: `/v1/projects/${ref}/requests?${query}` });
    expect([status, body.code], query).toEqual([400, 'validation_failed']);
    expect(body.message).toMatch(new RegExp(`^${query.split('=')[0]} must`));
  }
});

test('a masked error is found by the id that its client was shown', async () => {
  await database.query(`create function public.break() returns int language plpgsql stable as
    $$ begin raise exception 'a private reason' using errcode = 'XX000'; end $$;
    grant execute on function public.break() to anon`);
  await managed.gateway.reload();
  const { body } = await ask('query Breaks { break }', 'broken');
  const [{ extensions }] = body.errors;
  expect(extensions).toMatchObject({ code: 'INTERNAL', id: expect.any(String) });
  const request = await found(`id=${extensions.id}`);
  expect(request).toMatchObject({
    id: 'broken',
    errorIds: [extensions.id],
    codes: ['INTERNAL'],
    messages: ['Unexpected error.'],
  });
  expect(JSON.stringify(request)).not.toContain('private');
});

test('requests of the auth service are listed by the pattern of their path', async () => {
  await fetch(`${managed.gateway.url}/auth/v1/verify?token=a-secret&type=signup`, {
    headers: { 'x-request-id': 'opened' },
    redirect: 'manual',
  });
  expect(await found('id=opened')).toMatchObject({ method: 'GET', path: '/auth/v1/verify', operation: null });
});

test('probes, preflights and what the studio asks on its own are left out, but no request that a visitor marks as its own', async () => {
  const { url } = managed.gateway;
  const studio = { 'x-pgreflect-studio': '1' };
  await fetch(`${url}/health`, { headers: { 'x-request-id': 'left-out-1' } });
  await fetch(`${url}/v1/projects/${ref}/usage`, {
    headers: { ...studio, authorization: `Bearer ${token}`, 'x-request-id': 'left-out-2' },
  });
  await fetch(`${url}/v1/projects/${ref}/usage`, { headers: { ...studio, 'x-request-id': 'kept-1' } });
  await fetch(`${url}/auth/v1/settings`, { headers: { ...studio, 'x-request-id': 'kept-2' } });
  await managed.gateway.ask('{ __typename }', { headers: { ...studio, 'x-request-id': 'kept-3' } });
  await fetch(`${url}/nowhere`, { headers: { ...studio, 'x-request-id': 'kept-4' } });
  await found('id=kept-4');
  const { requests } = await read('requests');
  const ids = requests.map(({ id }: { id: string }) => id);
  expect(ids.filter((id: string) => /^(left-out|kept)-/.test(id))).toEqual(['kept-4', 'kept-3', 'kept-2', 'kept-1']);
});

test('a process keeps its last 500 requests', async () => {
  const post = (id: number) => ask('{ __typename }', `many-${id}`);
  for (let id = 0; id < 510; id += 10) await Promise.all(Array.from({ length: 10 }, (_, at) => post(id + at)));
  await found('id=many-509');
  const { requests, since } = await read('requests?limit=500');
  expect(since).toBe(requests.at(-1).time);
  const ids = requests.map(({ id }: { id: string }) => id);
  expect(ids).toHaveLength(500);
  expect([ids.includes('many-0'), ids.includes('many-100')]).toEqual([false, true]);
});

test('the last hour has requests, errors, durations, sign-ins and connections by the minute', async () => {
  const before = await read('usage');
  expect(before).toMatchObject({ processes: 1, answered: 1 });
  expect(before.minutes).toHaveLength(60);
  const sum = (minutes: readonly Record<string, number>[], name: string) =>
    minutes.reduce((total, minute) => total + (minute[name] ?? 0), 0);
  const signUp = (email: string) =>
    fetch(`${managed.gateway.url}/auth/v1/signup`, {
      method: 'POST',
      headers: { apikey: anonKey, 'content-type': 'application/json' },
      body: JSON.stringify({ email, password: 'a good password' }),
    });
  await ask('query Wrong { none }', 'counted-1');
  await signUp('ana@x.test');
  await signUp('no address');
  await ask('{ __typename }', 'counted-2');
  await found('id=counted-2');
  const { minutes } = await vi.waitFor(async () => {
    const now = await read('usage');
    expect(sum(now.minutes, 'connectionsMax')).toBeGreaterThan(0);
    expect(sum(now.minutes, 'emails')).toBe(sum(before.minutes, 'emails') + 1);
    return now;
  });
  const more = (name: string) => sum(minutes, name) - sum(before.minutes, name);
  expect(more('requests')).toBeGreaterThanOrEqual(4);
  expect([more('clientErrors'), more('serverErrors'), more('signIns'), more('authFailures')]).toEqual([2, 0, 1, 1]);
  const last = minutes.filter(({ requests }: { requests: number }) => requests > 0).at(-1);
  expect(last.p50Ms).toBeGreaterThan(0);
  expect(last.p50Ms).toBeLessThanOrEqual(last.p95Ms);
  expect(last.p95Ms).toBeLessThanOrEqual(last.p99Ms);
  const times = minutes.map(({ time }: { time: string }) => Date.parse(time));
  expect(times.every((time: number, at: number) => at === 0 || time - times[at - 1] === 60_000)).toBe(true);
});

test('the health of a project has its versions, its database without login, its mail, and what visitors and users see', async () => {
  const health = await read('health');
  expect(health).toEqual({
    isReady: true,
    reason: null,
    versions: { pgreflect: version, postgres: expect.stringMatching(/^\d+\.\d+$/), authMigration: expect.any(Number) },
    database: { host: expect.any(String), port: expect.any(Number), name: expect.any(String) },
    schemaAgeSeconds: expect.any(Number),
    isLiveExact: false,
    roles: [
      { role: 'anon', tables: 1, withoutRowSecurity: ['public.book'] },
      { role: 'authenticated', tables: 0, withoutRowSecurity: [] },
    ],
    mail: { transport: 'inbox', waiting: expect.any(Number), oldestSeconds: expect.any(Number) },
    hasUsers: expect.any(Boolean),
    hasOwnTemplates: false,
  });
  expect(health.versions.authMigration).toBeGreaterThan(0);
  expect(JSON.stringify(health)).not.toMatch(/authenticator|postgresql:|test:/);
});

test('the findings of check are the worst first, without login and password, and seldom looked for', async () => {
  const report = await read('check');
  expect(report).toEqual({ checkedAt: expect.any(String), findings: expect.any(Array) });
  const kinds = report.findings.map(({ check }: { check: string }) => check);
  expect(kinds).toEqual(expect.arrayContaining(['row_security_off', 'trigger_missing', 'role_summary']));
  const weights = report.findings.map(({ severity }: { severity: string }) => severity);
  const order = ['error', 'warning', 'note'];
  expect(weights).toEqual(weights.toSorted((one: string, other: string) => order.indexOf(one) - order.indexOf(other)));
  expect(report.findings.find(({ check }: { check: string }) => check === 'row_security_off')).toMatchObject({
    object: 'public.book',
    fix: expect.stringContaining('enable row level security'),
    command: null,
  });
  const { password } = new URL(database.urlAs('authenticator', 'test'));
  expect(password).not.toBe('');
  expect(JSON.stringify(report)).not.toContain(`:${password}@`);
  const [again, another] = await Promise.all([read('check'), read('check')]);
  expect([again.checkedAt, another.checkedAt]).toEqual([report.checkedAt, report.checkedAt]);
});
