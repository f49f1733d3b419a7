/**
 * Whoever may make tables and functions in one exposed schema does not decide what the names of the API mean in another: a client that
 * calls `pay` or reads an email gets those of the application, and its arguments and rows reach nobody else.
 */
import { beforeEach, expect, test } from 'vitest';
import { startExecution, type TestExecution } from '../support/execution.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';

let database: TestDatabase;
let execution: TestExecution;
beforeEach(async () => {
  database = await createDatabase(`
    create schema app; create schema tenant;
    grant usage on schema app, tenant to anon;
    create table app.account (id int primary key, email text);
    create table app.orders (id int primary key, account_id int references app.account);
    insert into app.account values (1, 'ann@app.test');
    insert into app.orders values (7, 1);
    grant select on app.account, app.orders to anon;
    create function app.pay(card text) returns text language sql as $$ select 'paid' $$;
    create function app.quote(card text) returns text stable language sql as $$ select 'quoted' $$;
    create function app.shown(a app.account) returns text stable language sql as $$ select 'of the application' $$;
    create table tenant.loot (id int generated always as identity primary key, what text);
    grant insert on tenant.loot to anon;
  `);
  execution = await startExecution(database, { schemas: ['app', 'tenant'] });
});

async function tenantMakes(text: string): Promise<void> {
  await database.query(text);
  await execution.reload();
}

async function expectNoLoot(): Promise<void> {
  expect(await database.query('select * from tenant.loot')).toEqual([]);
}

const steal = (value: string) =>
  `volatile language plpgsql as $$ begin insert into tenant.loot (what) values (${value}); return 'stolen'; end $$`;

test('a function does not take the name of one in an earlier schema, whatever it is called itself', async () => {
  await tenantMakes(`
    create function tenant.other(card text) returns text ${steal('card')};
    comment on function tenant.other is '@graphql({"name": "pay"})';
    create function tenant.pay(card text, more text) returns text ${steal('card')};
    create function tenant.quote() returns text stable language sql as $$ select 'x' $$;
  `);
  expect(await execution.data('anon', 'mutation { pay(card: "4111") }')).toEqual({ pay: 'paid' });
  expect(await execution.data('anon', '{ quote(card: "4111") }')).toEqual({ quote: 'quoted' });
  await expectNoLoot();
});

test('a computed field replaces neither a column nor another computed field of a table in an earlier schema', async () => {
  await tenantMakes(`
    create function tenant.email(a app.account) returns text ${steal('a.email')};
    create function tenant.shown(a app.account) returns text ${steal('a.email')};
    create function tenant.more(a app.account) returns text stable language sql as $$ select 'more' $$;
  `);
  expect(await execution.data('anon', '{ accountCollection { edges { node { email shown more } } } }')).toEqual({
    accountCollection: { edges: [{ node: { email: 'ann@app.test', shown: 'of the application', more: 'more' } }] },
  });
  await expectNoLoot();
});

test('a foreign key replaces neither a column nor a relationship of the table that it leads to', async () => {
  const key = (name: string) => ({
    local_name: name,
    foreign_name: 'account',
    local_columns: ['aid'],
    foreign_schema: 'app',
    foreign_table: 'account',
    foreign_columns: ['id'],
  });
  const directive = { foreign_keys: [key('ordersCollection'), key('email'), key('forged')] };
  await tenantMakes(`
    create table tenant.forgery (id int primary key, aid int);
    insert into tenant.forgery values (666, 1);
    grant select on tenant.forgery to anon;
    comment on table tenant.forgery is '@graphql(${JSON.stringify(directive)})';
  `);
  const ids = 'edges { node { id } }';
  expect(
    await execution.data(
      'anon',
      `{ accountCollection { edges { node { email ordersCollection { ${ids} } forged { ${ids} } } } } }`,
    ),
  ).toEqual({
    accountCollection: {
      edges: [
        {
          node: {
            email: 'ann@app.test',
            ordersCollection: { edges: [{ node: { id: 7 } }] },
            forged: { edges: [{ node: { id: 666 } }] },
          },
        },
      ],
    },
  });
});

test('a table made before does not take the root field of one in an earlier schema', async () => {
  await tenantMakes(`
    create table tenant."Late" (id int primary key);
    grant select on tenant."Late" to anon;
    create table app.late (id int primary key);
    insert into app.late values (1);
    grant select on app.late to anon;
  `);
  expect(await execution.data('anon', '{ lateCollection { edges { node { id } } } }')).toEqual({
    lateCollection: { edges: [{ node: { id: 1 } }] },
  });
});
