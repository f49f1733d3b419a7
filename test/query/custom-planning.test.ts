/**
 * Statements whose best plan depends on their values are planned for them once a plan for any values has taken long, unless the
 * operator has chosen. What a request was planned for is told by the setting that PostgreSQL goes by. And which operations are
 * light, as compiled.
 */
import { expect, test } from 'vitest';
import { rowsOf } from '../../src/graphql/execute/limits.ts';
import { runAs } from '../../src/postgres/caller/run-as.ts';
import { flightOf, openPool } from '../support/flights.ts';
import { startRecordingProxy } from '../support/recording-proxy.ts';
import { openReader } from './reader.ts';

// Who reads a heavy parcel waits: a plan that is bad for it takes as long.
const { ask, database, execution } = await openReader([
  `create schema lib;
   comment on schema lib is '@graphql({"inflect_names": true})';
   create table lib.parcel (id int primary key, kind text not null, seconds float8 not null, opened text,
     box jsonb not null default '{}', tags text[] not null default '{a}', words tsvector not null default '');
   comment on table lib.parcel is '@graphql({"aggregate": {"enabled": true}})';
   create table lib.part (id int primary key, parcel_id int references lib.parcel, box jsonb);
   insert into lib.parcel (id, kind, seconds, opened) values (1, 'light', 0, null), (2, 'heavy', 0.4, null);
   create function lib.mode(parcel lib.parcel) returns text stable language sql as $$ select current_setting('plan_cache_mode') $$;
   create function lib.wait(parcel lib.parcel) returns text stable language sql as $$ select pg_sleep(parcel.seconds)::text $$;
   grant usage on schema lib to anon;
   grant select, update on lib.parcel to anon; grant select on lib.part to anon;`,
]);
const light = { kind: 'light', id: 1 };
const heavy = { kind: 'heavy', id: 2 };

/** Reads light parcels, a heavy one, and a light one again. @returns The setting in the last of them. */
async function modeAfterHeavy(head: string, selection: string): Promise<string> {
  const query = `${head} { parcel: ${selection} }`;
  for (const values of [light, light, heavy]) await ask(query, values);
  const { parcel } = await ask(query, light);
  return (parcel.edges?.[0].node ?? parcel).mode;
}

const node = '{ edges { node { mode wait } } }';

test('a filter that has taken long is planned for its values', async () => {
  for (const filter of [
    '{kind: {eq: $kind}}',
    '{not: {kind: {neq: $kind}}}',
    '{or: [{kind: {in: [$kind]}}, {id: {gt: 2}}]}',
  ]) {
    const selection = `parcelCollection(filter: ${filter}) ${node}`;
    // Where this process waits for a processor itself, a long time is not the database's and does not count.
    await expect.poll(() => modeAfterHeavy('query ($kind: String!)', selection)).toBe('force_custom_plan');
  }
});

test('a filter by what JSON, texts or arrays hold is planned for its values always', async () => {
  for (const filter of [
    '{box: {contains: $box}}',
    '{or: [{id: {eq: 1}}, {box: {at: [{path: ["a"], json: {hasKey: "b"}}]}}]}',
    '{or: [{tags: {overlaps: ["a"]}}, {kind: {eq: "light"}}]}',
    '{not: {words: {plain: "nothing"}}}',
    '{partCollection: {none: {box: {contains: $box}}}}',
  ]) {
    const query = `query ($box: JSON = "{}") { parcelCollection(filter: ${filter}, first: 1) { edges { node { mode } } } }`;
    const { parcelCollection } = await ask(query);
    expect(parcelCollection.edges[0].node.mode, filter).toBe('force_custom_plan');
  }
});

test('a lookup by key is planned once, however long it has taken', async () => {
  expect(await modeAfterHeavy('query ($id: Int!)', 'parcelByPk(id: $id) { mode wait }')).toBe('auto');
  expect(await modeAfterHeavy('query ($id: Int!)', `parcelCollection(filter: {id: {eq: $id}}) ${node}`)).toBe('auto');
});

test('an operation without a filter by a value is planned once, however long it has taken', async () => {
  expect(await modeAfterHeavy('query', `parcelCollection ${node}`)).toBe('auto');
  expect(await modeAfterHeavy('query', `parcelCollection(filter: {opened: {is: NULL}}) ${node}`)).toBe('auto');
});

test('a write by a filter is planned for its values always, one by its key never', async () => {
  const update = async (filter: string) => {
    const selection = `updateParcelCollection(set: {opened: "today"}, filter: ${filter}) { records { mode } }`;
    const { updateParcelCollection } = await ask(`mutation { ${selection} }`);
    return updateParcelCollection.records[0].mode;
  };
  expect(await update('{kind: {eq: "light"}}')).toBe('force_custom_plan');
  expect(await update('{id: {eq: 1}}')).toBe('auto');
});

test('light are reads by keys and by columns of their own, and what counts those, with few rows', async () => {
  const rows = async (operation: string) => {
    const { shared } = await execution.role('anon');
    const document = shared.documents.prepare(operation, null);
    if (document.kind === 'refused') throw new Error(`${operation}: ${JSON.stringify(document)}`);
    const { lightPages } = shared.documents.choose(document, null).compiler.compile({});
    return lightPages && rowsOf(lightPages, {});
  };
  const page = (given: string, fields = 'id') => `{ parcelCollection${given} { edges { node { ${fields} } } } }`;
  expect(await rows('{ parcelByPk(id: 1) { kind } }')).toBe(0);
  expect(await rows(page('(first: 10)', 'partCollection(first: 5) { edges { node { id } } }'))).toBe(60);
  const filter = '{kind: {in: ["light"]}, not: {seconds: {gt: 1}}}';
  expect(await rows(page(`(filter: ${filter}, orderBy: [{opened: DescNullsLast}], first: 5)`))).toBe(5);
  expect(await rows(`{ parcelCollection(filter: ${filter}) { aggregate { count } } }`)).toBe(0);
  for (const operation of [
    page('', 'mode'),
    page('', 'partCollection { edges { node { parcel { wait } } } }'),
    page('(filter: {partCollection: {some: {id: {eq: 1}}}})'),
    page('(filter: {kind: {like: "%x%"}})'),
    page('(filter: {words: {plain: "nothing"}})'),
    page('(orderBy: [{partCollection: {count: DescNullsLast}}])'),
    '{ parcelCollection { aggregate { count } } }',
    'mutation { updateParcelCollection(set: {opened: "today"}, filter: {id: {eq: 1}}) { affectedCount } }',
  ])
    expect(await rows(operation), operation).toBeNull();
});

test('a plan_cache_mode that the operator has set for the role is kept', async () => {
  const pool = openPool(database.urlAs('authenticator', 'test'));
  const write = flightOf([`select current_setting('plan_cache_mode')`], { mutation: true, customPlanning: 'always' });
  const settings = new Map([['plan_cache_mode', 'force_generic_plan']]);
  expect(await runAs(pool, write)).toEqual(['force_custom_plan']);
  expect(await runAs(pool, { ...write, settings })).toEqual(['force_generic_plan']);
});

test('planning for the values takes no further round trip', async () => {
  const proxy = await startRecordingProxy(database.urlAs('authenticator', 'test'));
  const pool = openPool(proxy.url);
  const write = flightOf(['select 1'], { mutation: true, customPlanning: 'always' });
  await runAs(pool, write);
  proxy.reset();
  for (let count = 0; count < 3; count += 1) await runAs(pool, write);
  expect(proxy.roundTrips()).toBe(3);
  await pool.stop();
  await proxy.stop();
});
