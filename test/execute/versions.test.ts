/**
 * What only newer PostgreSQL majors have. Each test exists on the majors that have its subject.
 */
import { expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase();
const [row] = await database.query<{ major: number }>(
  `select current_setting('server_version_num')::int / 10000 as major`,
);
const major = row!.major;

test('the tests run on a major that is supported', () => {
  expect([14, 15, 16, 17, 18]).toContain(major);
});

if (major >= 15) {
  test('a numeric with a negative scale is rounded by its own type, also in filters', async () => {
    const { execution } = await prepare(
      'create table price (id int primary key, amount numeric(3,-2)); insert into price values (1, 1234)',
    );
    expect(await execution.data('anon', '{ priceByPk(id: 1) { amount } }')).toEqual({ priceByPk: { amount: '1200' } });
    const found = await execution.data(
      'anon',
      '{ priceCollection(filter: {amount: {eq: "1249"}}) { edges { node { id } } } }',
    );
    expect(found.priceCollection.edges).toEqual([{ node: { id: 1 } }]);
  });

  test('a security_invoker view shows the rows that the role may see below it, a plain view those of its owner', async () => {
    const { execution } = await prepare(`
      create table note (id int primary key, owner text);
      alter table note enable row level security;
      create policy own on note to anon using (owner = 'anon');
      insert into note values (1, 'anon'), (2, 'somebody');
      create view invoked with (security_invoker) as select id, owner from note;
      create view owned as select id, owner from note;
      comment on view invoked is '@graphql({"primary_key_columns": ["id"]})';
      comment on view owned is '@graphql({"primary_key_columns": ["id"]})';`);
    const ids = async (field: string) => {
      const data = await execution.data('anon', `{ ${field} { edges { node { id } } } }`);
      return data[field].edges.map((edge: { node: { id: number } }) => edge.node.id);
    };
    expect(await ids('invokedCollection')).toEqual([1]);
    expect(await ids('ownedCollection')).toEqual([1, 2]);
  });

  test('a unique constraint with nulls not distinct proves a one-to-one relationship as any other', async () => {
    const { execution } = await prepare(`
      create table person (id int primary key);
      create table card (id int primary key, person_id int references person, unique nulls not distinct (person_id));
      insert into person values (1); insert into card values (7, 1);`);
    expect(await execution.data('anon', '{ personByPk(id: 1) { card { id } } }')).toEqual({
      personByPk: { card: { id: 7 } },
    });
  });
}

if (major >= 17) {
  test('a role that may maintain a table and nothing else sees none of it', async () => {
    const { execution } = await prepare(
      'create table log (id int primary key)',
      'revoke all on log from anon; grant maintain on log to anon',
    );
    expect(await execution.errors('anon', '{ logCollection { edges { node { id } } } }')).toHaveLength(1);
  });
}

if (major >= 17) {
  test('a transaction over the transaction_timeout of the role is a timeout, rolled back and not repeated', async () => {
    const { database: own, execution } = await prepare(
      `create table note (id int primary key); create sequence runs; grant usage on sequence runs to anon;
      create function write() returns int volatile language sql as $$ select nextval('runs'); insert into note values (1); select pg_sleep(60); select 1 $$;
      create function read() returns int stable language sql as $$ select nextval('runs'); select pg_sleep(60); select 1 $$;
      do $do$ begin execute format('alter role anon in database %I set transaction_timeout = 300', current_database()); end $do$`,
    );
    for (const [operation, runs] of [
      ['mutation { write }', 1],
      ['{ read }', 2],
    ] as const) {
      const { errors } = await execution.run('anon', operation);
      expect(errors).toEqual([
        {
          message: 'canceling statement due to statement timeout',
          extensions: { code: 'TIMEOUT', sqlstate: '25P04' },
        },
      ]);
      expect(await own.query('select last_value::int as runs from runs')).toEqual([{ runs }]);
    }
    expect(await own.query('select * from note')).toEqual([]);
    expect(await execution.data('anon', '{ noteCollection { edges { node { id } } } }')).toEqual({
      noteCollection: { edges: [] },
    });
  });
}

if (major >= 18) {
  test('a virtual generated column is read, filtered and ordered, and is not part of the inputs', async () => {
    const { execution } = await prepare(`
      create table line (id int primary key, price int, quantity int, total int generated always as (price * quantity) virtual);
      insert into line values (1, 2, 3), (2, 5, 5);`);
    const query =
      '{ lineCollection(filter: {total: {gt: 1}}, orderBy: [{total: DescNullsLast}]) { edges { node { id total } } } }';
    const data = await execution.data('anon', query);
    expect(data.lineCollection.edges.map((edge: { node: unknown }) => edge.node)).toEqual([
      { id: 2, total: 25 },
      { id: 1, total: 6 },
    ]);
    const insert = 'mutation { insertIntoLineCollection(objects: [{id: 3, total: 1}]) { affectedCount } }';
    expect((await execution.errors('anon', insert))[0]).toContain('total');
  });

  test('a column whose "not null" was never validated may have nulls, until it is', async () => {
    const { database: own, execution } = await prepare(`
      create table guest (id int primary key, arrived int);
      insert into guest values (1, null), (2, 5), (3, 9);
      alter table guest add constraint arrived_not_null not null arrived not valid;`);
    const query = '{ guestCollection(orderBy: [{arrived: DescNullsLast}]) { edges { node { id arrived } } } }';
    const hasNulls = async () => {
      const { model } = (await execution.role('anon')).shared;
      const columns = [...model.tables.values()].flatMap((table) => [...table.columns.values()]);
      return columns.find(({ name }) => name === 'arrived')?.notNull === false;
    };
    const data = await execution.data('anon', query);
    expect(data.guestCollection.edges.map((edge: { node: unknown }) => edge.node)).toEqual([
      { id: 3, arrived: 9 },
      { id: 2, arrived: 5 },
      { id: 1, arrived: null },
    ]);
    expect(await hasNulls()).toBe(true);
    await own.query(
      'update guest set arrived = 1 where id = 1; alter table guest validate constraint arrived_not_null',
    );
    await execution.reload();
    expect(await hasNulls()).toBe(false);
  });

  test('a temporal key with "without overlaps" is a primary key like any other', async () => {
    const { execution } = await prepare(`
      create extension if not exists btree_gist;
      create table stay (room int, during int4range, guest text, primary key (room, during without overlaps));
      insert into stay values (1, '[1,5)', 'Ana'), (1, '[5,9)', 'Bo');`);
    const data = await execution.data('anon', '{ stayCollection { edges { node { guest nodeId } } } }');
    expect(data.stayCollection.edges).toHaveLength(2);
    const { nodeId } = data.stayCollection.edges[1].node;
    const found = await execution.data('anon', 'query ($id: ID!) { node(nodeId: $id) { ... on Stay { guest } } }', {
      variables: { id: nodeId },
    });
    expect(found).toEqual({ node: { guest: 'Bo' } });
  });

  test('a foreign key with "period" is no relationship: periods that cover each other are not equal', async () => {
    const { execution } = await prepare(`
      create extension if not exists btree_gist;
      create table room (id int, open int4range, primary key (id, open without overlaps));
      create table booking (id int primary key, room_id int, during int4range,
        foreign key (room_id, period during) references room (id, period open));
      insert into room values (1, '[1,5)'), (1, '[5,9)');
      insert into booking values (1, 1, '[2,7)');`);
    const data = await execution.data('anon', '{ bookingCollection { edges { node { roomId during } } } }');
    expect(data.bookingCollection.edges).toEqual([{ node: { roomId: 1, during: '[2,7)' } }]);
    expect((await execution.errors('anon', '{ bookingCollection { edges { node { room { id } } } } }'))[0]).toContain(
      'room',
    );
    expect((await execution.errors('anon', '{ roomCollection { edges { node { bookingCollection { edges { cursor } } } } } }'))[0]).toContain('bookingCollection'); // biome-ignore format: one line
  });

  test('a foreign key that is not enforced is a relationship that may lead nowhere, until it is enforced', async () => {
    const { database: own, execution } = await prepare(`
      create table shop (id int primary key);
      create table sale (id int primary key, shop_id int not null references shop not enforced);
      insert into shop values (1); insert into sale values (1, 1), (2, 7);`);
    const query = '{ saleCollection(orderBy: [{id: AscNullsLast}]) { edges { node { id shop { id } } } } }';
    const shops = async () =>
      (await execution.data('anon', query)).saleCollection.edges.map(
        ({ node }: { node: { shop: unknown } }) => node.shop,
      );
    expect(await shops()).toEqual([{ id: 1 }, null]);
    const sales = '{ saleCollection(filter: {shopId: {eq: 7}}) { edges { node { shop { id } } } } }';
    expect((await execution.data('anon', sales)).saleCollection.edges).toEqual([{ node: { shop: null } }]);
    await own.query('delete from sale where id = 2; alter table sale alter constraint sale_shop_id_fkey enforced');
    await execution.reload();
    expect(await shops()).toEqual([{ id: 1 }]);
  });
}

async function prepare(sql: string, afterwards = '') {
  const own = await createDatabase(
    `comment on schema public is '@graphql({"inflect_names": true})';`,
    sql,
    'grant usage on schema public to anon; grant all on all tables in schema public to anon',
    afterwards,
  );
  return { database: own, execution: await startExecution(own) };
}
