/** The trace of a request in PostgreSQL, as `application_name` of its transaction. */
import { expect, test } from 'vitest';
import { sendTracesTo, startCollector } from '../support/collector.ts';
import { testGateway } from '../support/gateway.ts';
import { createDatabase } from '../support/postgres.ts';
import { atEnd } from '../support/when-over.ts';

const database = await createDatabase(`
  create function public.application() returns text stable language sql as $$ select current_setting('application_name') $$;
  create function public.prepared() returns integer volatile language sql as
    $$ select count(*)::integer from pg_catalog.pg_prepared_statements $$;
  create table public.note (id integer primary key, written_by text default current_setting('application_name'));
  grant select, insert on public.note to anon;
`);

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
/** Without a collector. */
const always = await testGateway(database, { traceInDatabase: 'always', poolSize: 1 }, atEnd);

test('a request whose spans are exported has its trace in the database, and others have none', async () => {
  const collector = await startCollector();
  sendTracesTo(collector, { OTEL_TRACES_SAMPLER: 'parentbased_always_off' });
  const gateway = await testGateway(database, { poolSize: 1 });
  expect((await gateway.ask('{ application }', { headers })).body.data).toEqual({
    application: `pgreflect ${traceId}`,
  });
  // On the same connection.
  expect((await gateway.ask('{ application }')).body.data).toEqual({ application: 'pgreflect' });
  const insert = 'mutation { insertIntonoteCollection(objects: [{id: 1}]) { records { writtenBy: written_by } } }';
  const { body } = await gateway.ask(insert, { headers });
  expect(body.data.insertIntonoteCollection.records).toEqual([{ writtenBy: `pgreflect ${traceId}` }]);
});

test('all requests have their trace in the database where the operator wants that, without a collector', async () => {
  expect((await always.ask('{ application }', { headers })).body.data).toEqual({
    application: `pgreflect ${traceId}`,
  });
  const own = await always.ask('{ application }');
  const { span } = always.observations.findLast(({ kind }) => kind === 'request') as { span: { traceId: string } };
  expect(own.body.data).toEqual({ application: `pgreflect ${span.traceId}` });
});

test('traces in the database leave its prepared statements as they are', async () => {
  const count = async () => (await always.ask('mutation { prepared }')).body.data.prepared as number;
  await count();
  const before = await count();
  for (let asked = 0; asked < 5; asked += 1) await count();
  expect(await count()).toBe(before);
});

test('no trace is in the database where the operator wants none', async () => {
  const collector = await startCollector();
  sendTracesTo(collector);
  const gateway = await testGateway(database, { traceInDatabase: 'never' });
  expect((await gateway.ask('{ application }', { headers })).body.data).toEqual({ application: 'pgreflect' });
});

test('a text that is no trace never gets into the database', async () => {
  const { body } = await always.ask('{ application }', { headers: { traceparent: "00-'; drop table note; --" } });
  expect(body.data.application).toMatch(/^pgreflect [0-9a-f]{32}$/);
});
