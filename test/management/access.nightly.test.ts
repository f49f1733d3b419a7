/** The overview of access (access.test.ts) of a large database. */
import { expect, test } from 'vitest';
import { createAuthDatabase } from '../support/postgres.ts';
import { addToken, managedGateway, ref } from './management.ts';

test('the access overview of 1,000 tables with 200 policies is right', async () => {
  const large = await createAuthDatabase(`
    do $$ begin for i in 1..1000 loop
      execute format('create table t%s (id bigint primary key, owner_id uuid, body text)', i);
      execute format('grant select on t%s to anon, authenticated', i);
      if i <= 200 then
        execute format('alter table t%s enable row level security', i);
        execute format('create policy own on t%s using (owner_id is null)', i);
      end if;
    end loop; end $$`);
  const { call } = await managedGateway(large, await addToken(large, { scopes: ['project:operate'] }));
  const { body } = await call({ path: `/v1/projects/${ref}/access` });
  expect(body.tables).toHaveLength(1000);
  const some = body.tables.filter(
    (table: { readonly rights: readonly { readonly select: { readonly rows: string } }[] }) =>
      table.rights[0]?.select.rows === 'some',
  );
  expect(some).toHaveLength(200);
});
