/** The overview of access, of tables whose owner wants the gateway to fail when an operator looks: out of memory, or out of connections. */
import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { addToken, managedGateway, ref } from '../management/management.ts';
import { createAuthDatabase } from '../support/postgres.ts';

test('policies of many megabytes are cut in the database, and the overview is there', async () => {
  const database = await createAuthDatabase(`create table note (id int primary key, body text);
    alter table note enable row level security; grant select on note to anon;
    do $$ begin for number in 1..3 loop execute format('create policy %I on note for select using (body <> %L)', 'p' || number, repeat('x', 1000000));
    end loop; end $$; create policy short on note using (id > 1)`);
  const { call } = await managedGateway(database, await addToken(database, { scopes: ['project:operate'] }));
  const { status, body } = await call({ path: `/v1/projects/${ref}/access` });
  expect(status).toBe(200);
  expect(JSON.stringify(body).length).toBeLessThan(200_000);
  const [table] = body.tables;
  const texts = table.policies.map(({ using }: { readonly using: string }) => using);
  expect(texts).toEqual([...Array.from({ length: 3 }, () => expect.stringMatching(/^body <> 'x+ …$/)), 'id > 1']);
  expect(table.rights[0]).toMatchObject({ role: 'anon', select: { rows: 'some' } });
});

test('hundreds of policies with long conditions are cut further, all of them alike', async () => {
  const database = await createAuthDatabase(`
    do $$ begin for number in 1..20 loop
      execute format('create table %I (id int primary key, body text); alter table %1$I enable row level security', 't' || number);
      for policy in 1..30 loop execute format('create policy %I on %I using (body <> %L)', 'p' || policy, 't' || number, repeat('x', 9990));
      end loop;
    end loop; end $$`);
  const { call } = await managedGateway(database, await addToken(database, { scopes: ['project:operate'] }));
  const { status, body } = await call({ path: `/v1/projects/${ref}/access` });
  expect(status).toBe(200);
  const tables: readonly { readonly policies: readonly { readonly using: string }[] }[] = body.tables;
  const lengths = tables.flatMap(({ policies }) => policies.map(({ using }) => using.length));
  expect([lengths.length, new Set(lengths)]).toEqual([600, new Set([8333 + ' …'.length])]);
});

test('a view that its owner keeps locked takes no connection from the gateway while operators look', async () => {
  const database = await createAuthDatabase('create view numbers as select 1 as n; grant select on numbers to anon');
  const { call, gateway } = await managedGateway(database, await addToken(database, { scopes: ['project:operate'] }));
  const path = `/v1/projects/${ref}/access`;
  expect((await call({ path })).status).toBe(200);
  const owner = new pg.Client({ connectionString: database.url });
  await owner.connect();
  onTestFinished(() => owner.end());
  await owner.query('begin; lock table numbers in access exclusive mode');
  const looks = Array.from({ length: 5 }, () => call({ path }));
  const waiting = () =>
    database.query(`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`);
  await vi.waitFor(async () => expect(await waiting()).not.toEqual([]));
  expect((await fetch(`${gateway.url}/ready`)).status).toBe(200);
  for (const { status, body } of await Promise.all(looks))
    expect([status, body.code]).toEqual([503, 'schema_unavailable']);
  await owner.query('rollback');
  expect((await call({ path })).status).toBe(200);
});
