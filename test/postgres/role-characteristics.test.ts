/**
 * `alter role … set default_transaction_…`: PostgreSQL applies such settings to transactions that begin after them, so the
 * gateway asks for these characteristics when the transaction of a request begins.
 */
import { beforeAll, expect, test } from 'vitest';
import { type TestGateway, testGateway } from '../support/gateway.ts';
import { serviceKey } from '../support/http.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { atEnd } from '../support/when-over.ts';

let database: TestDatabase;
let gateway: TestGateway;
beforeAll(async () => {
  database = await createDatabase(`
    comment on schema public is '@graphql({"inflect_names": true})';
    create table note (id int primary key, body text);
    grant select, insert, update, delete on note to anon, authenticated, service_role;
    create function characteristics() returns text stable language sql as $$
      select concat_ws(' ', current_setting('transaction_isolation'), current_setting('transaction_read_only'),
        current_setting('transaction_deferrable')) $$;
    create function litter() returns text volatile language sql as
      $$ select set_config('default_transaction_isolation', 'read committed', false) $$;
  `);
  await database.query(`do $$ begin
    execute format('alter role anon in database %I set default_transaction_read_only = on', current_database());
    execute format('alter role service_role in database %I set default_transaction_isolation = serializable', current_database());
    execute format('alter role service_role in database %I set default_transaction_deferrable = on', current_database());
  end $$`);
  gateway = await testGateway(database, { poolSize: 1 }, atEnd);
});

const insert = 'mutation { insertIntoNoteCollection(objects: [{id: 1}]) { affectedCount } }';

test('a role that is read only cannot write', async () => {
  expect((await gateway.ask('{ characteristics }')).body.data.characteristics).toBe('read committed on off');
  const { body } = await gateway.ask(insert);
  expect(body).toMatchObject({ data: null, errors: [{ extensions: { code: 'READ_ONLY', sqlstate: '25006' } }] });
  expect(await database.query('select * from note')).toEqual([]);
});

test('a role reads and writes at its isolation level, also behind user code', async () => {
  const asService = (query: string) => gateway.ask(query, { key: serviceKey });
  for (const query of ['mutation { litter }', '{ characteristics }', '{ characteristics }']) {
    const { body } = await asService(query);
    expect(body.errors).toBeUndefined();
    if (query.startsWith('{')) expect(body.data.characteristics).toBe('serializable off on');
  }
  expect((await asService(insert)).body.data).toEqual({ insertIntoNoteCollection: { affectedCount: 1 } });
  // The next caller has its own again.
  expect((await gateway.ask('{ characteristics }')).body.data.characteristics).toBe('read committed on off');
});
