/**
 * With `--freshness bounded`, the model of the catalog before answers a role until its new one is built: within limits.
 * Nothing is polled here, and a model is built when it is asked for, so each test decides when.
 */
import { expect, onTestFinished, test, vi } from 'vitest';
import { maxMeanwhileMs } from '../../src/graphql/execute/reflection.ts';
import { testGateway } from '../support/gateway.ts';
import { token } from '../support/http.ts';
import { createDatabase } from '../support/postgres.ts';

const description = '{ __type(name: "Thing") { description } }';
const labels = '{ thingCollection { edges { node { label } } } }';
const answered = { thingCollection: { edges: [{ node: { label: 'x' } }] } };

async function start(more: Parameters<typeof testGateway>[1] = {}) {
  const database = await createDatabase(`
    comment on schema public is '@graphql({"inflect_names": true, "introspection": true})';
    create table thing (id int primary key, label text);
    insert into thing values (1, 'x');
    grant usage on schema public to anon, authenticated, service_role;
    grant select on thing to anon, authenticated, service_role;
    create schema other;
  `);
  await database.query(describe('first'));
  const gateway = await testGateway(database, { freshness: 'bounded', schemaPollMs: 600_000, ...more });
  const { reflector } = gateway.graphql;
  const ask = async (query: string, key?: string) => (await gateway.ask(query, key === undefined ? {} : { key })).body;
  const described = async () => (await ask(description)).data.__type.description;
  expect([await described(), (await ask(labels)).data]).toEqual(['first', answered]);
  return {
    database,
    gateway,
    ask,
    described,
    /** What the comparison at an interval does. */
    compare: () => reflector.refreshIfChanged('interval'),
    built: () => reflector.role('anon', null),
  };
}

function describe(text: string): string {
  return `comment on table thing is '@graphql({"description": "${text}"})'`;
}

test('a request is answered by the model before, until that of its role is built', async () => {
  const { database, described, compare, built } = await start();
  await database.query(describe('second'));
  await compare();
  expect(await described()).toBe('first');
  await built();
  expect(await described()).toBe('second');
});

test('a request that the old model answers begins to build the new one', async () => {
  const { database, described, compare } = await start();
  await database.query(describe('second'));
  await compare();
  expect(await described()).toBe('first');
  await expect.poll(described).toBe('second');
});

test('a request that the database refuses on the old model runs again on the new one', async () => {
  const { database, ask, compare } = await start();
  await database.query('alter table thing alter label type int using 7');
  await compare();
  expect(await ask(labels)).toEqual({ data: { thingCollection: { edges: [{ node: { label: 7 } }] } } });
  await database.query('revoke select on thing from anon');
  await compare();
  expect((await ask(labels)).errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
});

test('a role that is dropped is not answered by its old model', async () => {
  const { database, gateway, compare } = await start({ allowedRoles: '*' });
  const role = `${database.name}_reader`;
  await database.query(`create role ${role} in role anon; grant ${role} to authenticator`);
  await compare();
  const key = await token({ role });
  const ask = async () => (await gateway.ask(labels, { headers: { authorization: `Bearer ${key}` } })).body;
  expect(await ask()).toEqual({ data: answered });
  await database.query(`drop role ${role}`);
  await compare();
  expect(await gateway.graphql.reflector.answering(role)).toBeNull();
  expect((await ask()).errors[0].extensions.code).toBe('ROLE_NOT_ALLOWED');
});

test('another function before requests, and other settings of the role, hold at once', async () => {
  const { database, ask, compare } = await start();
  await database.query(`
    create function refuse() returns void language plpgsql as $$ begin
      raise exception 'Closed after %.', current_setting('statement_timeout') using errcode = 'PT403'; end $$;
    alter role authenticator in database ${database.name} set pgrst.db_pre_request = 'public.refuse';
    alter role anon in database ${database.name} set statement_timeout = '1234ms'`);
  onTestFinished(async () => {
    await database.query(`alter role authenticator in database ${database.name} reset all`);
    await database.query(`alter role anon in database ${database.name} reset all`);
  });
  await compare();
  // Of a model that is not built yet.
  expect((await ask(labels)).errors[0].message).toBe('Closed after 1234ms.');
});

test.each(['signal', 'asked'])('after a reload by an operator (%s), only the new model answers', async (reason) => {
  const { database, gateway, described, compare } = await start();
  await database.query(describe('second'));
  await gateway.reload(reason);
  expect(await described()).toBe('second');
  await database.query(describe('third'));
  await compare();
  expect(await described()).toBe('second');
  await gateway.reload(reason);
  expect(await described()).toBe('third');
});

test('after a notification, only the new model answers, also of a catalog that was read before it', async () => {
  const { database, gateway, described, compare } = await start();
  await database.query(describe('second'));
  await compare();
  const reload = vi.spyOn(gateway.graphql.reflector, 'reloadIfChanged');
  await vi.waitFor(async () => {
    // Again, as long as nobody may listen yet.
    await database.query("notify pgreflect, 'reload'");
    expect(reload).toHaveBeenCalled();
  });
  await reload.mock.results[0]!.value;
  expect(await described()).toBe('second');
});

test('after other schemas are exposed, only the new model answers', async () => {
  const { gateway, ask } = await start();
  await gateway.expose(['other']);
  expect((await ask(labels)).errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
});

test('a run of a live query waits for the new model, because nothing would make it run again', async () => {
  const { database, gateway, compare } = await start();
  const caller = { role: 'anon', claims: '{"role": "anon"}', headers: '{}', method: 'POST', path: '/graphql/v1' };
  const request = { query: `subscription ${labels}`, documentId: null, operationName: null, variables: null };
  const context = { queuedAs: 'a test', requestId: 'test', signal: null, showHints: false, unlimited: false };
  const run = async () => {
    const more = { ...context, anyDocument: true, isLive: true };
    return JSON.parse(String((await gateway.graphql.executor.execute(caller, request, more)).body));
  };
  expect(await run()).toEqual({ data: answered });
  await database.query(`comment on column thing.label is '@graphql({"name": "caption"})'`);
  await compare();
  expect((await run()).errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
});

test('the old model answers for some time only, after which requests wait for the new one', async () => {
  const { database, gateway, described, compare } = await start();
  await database.query(describe('second'));
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  await compare();
  const answering = async () => (await gateway.graphql.reflector.answering('authenticated'))?.catalog;
  const { catalog } = gateway.graphql.reflector.current()!;
  vi.advanceTimersByTime(maxMeanwhileMs);
  vi.useRealTimers();
  expect(await answering()).toBe(catalog);
  expect(await described()).toBe('second');
});
