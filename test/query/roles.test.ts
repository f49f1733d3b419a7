/**
 * What a role may read: grants, row level security, and roles that see nothing.
 */
import { describe, expect, test } from 'vitest';
import { openReader } from './reader.ts';

const grants = `
  create schema lib; create schema closed;
  comment on schema lib is '@graphql({"inflect_names": true, "introspection": true})';
  grant usage on schema lib to anon, authenticated;
  create table lib.owner (id int primary key, name text not null, secret text, tenant text not null);
  comment on table lib.owner is '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}})';
  create table lib.pet (id int primary key, owner_id int not null references lib.owner (id), name text, tenant text not null);
  comment on table lib.pet is '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}})';
  create table lib.private (id int primary key, pet_id int references lib.pet (id));
  create table closed.thing (id int primary key);
  insert into lib.owner values (1, 'Ada', 's1', 'red'), (2, 'Bo', 's2', 'blue');
  insert into lib.pet values (10, 1, 'Rex', 'red'), (11, 2, 'Tom', 'blue'), (12, 2, 'Kim', 'red');
  alter table lib.owner enable row level security;
  alter table lib.pet enable row level security;
  create policy tenant on lib.owner using (tenant = current_setting('request.jwt.claims', true)::json ->> 'tenant');
  create policy tenant on lib.pet using (tenant = current_setting('request.jwt.claims', true)::json ->> 'tenant');
  create function lib.loud(lib.pet) returns text stable language sql as 'select upper($1.name)';
  create function lib.whoami() returns text stable language sql as 'select current_user::text';
  create function lib.first_pet() returns lib.pet stable language sql as 'select * from lib.pet order by id limit 1';
  create function lib.owner_count() returns bigint stable security definer language sql as 'select count(*) from lib.owner';
  create view lib.all_owners as select id, name from lib.owner;
  comment on view lib.all_owners is '@graphql({"primary_key_columns": ["id"]})';
  create view lib.my_owners with (security_barrier) as select id, name from lib.owner where tenant = current_setting('request.jwt.claims', true)::json ->> 'tenant';
  comment on view lib.my_owners is '@graphql({"primary_key_columns": ["id"]})';
  grant select on lib.owner, lib.pet, lib.private, lib.all_owners, lib.my_owners to service_role;
  grant usage on schema lib to service_role;
  grant select on lib.owner, lib.pet, lib.all_owners, lib.my_owners to anon;
  grant select (id, name) on lib.owner to authenticated;
  grant select (id, name) on lib.pet to authenticated;
  revoke execute on function lib.owner_count() from public;
  grant execute on function lib.owner_count() to anon;`;
const { execution, database } = await openReader([grants]);
const asRed = { claims: { tenant: 'red' } };
const id = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');

describe('row level security', () => {
  test('row level security hides rows from collections, counts, aggregates and page info', async () => {
    const data = await execution.data(
      'anon',
      `{ ownerCollection { totalCount edges { node { name } } pageInfo { hasNextPage hasPreviousPage } aggregate { count max { id } } } }`,
      asRed,
    );
    expect(data.ownerCollection).toEqual({
      totalCount: 1,
      edges: [{ node: { name: 'Ada' } }],
      pageInfo: { hasNextPage: false, hasPreviousPage: false },
      aggregate: { count: 1, max: { id: 1 } },
    });
  });

  test('row level security makes hidden rows null for lookups, node ids and related rows', async () => {
    const query = `query ($id: ID!) { ownerByPk(id: 2) { name } node(nodeId: $id) { nodeId }
      petCollection { edges { node { name owner { name } } } } firstPet { name } }`;
    expect(await execution.data('anon', query, { ...asRed, variables: { id: id(['lib', 'owner', 2]) } })).toEqual({
      ownerByPk: null,
      node: null,
      petCollection: {
        edges: [{ node: { name: 'Rex', owner: { name: 'Ada' } } }, { node: { name: 'Kim', owner: null } }],
      },
      firstPet: { name: 'Rex' },
    });
  });

  test('row level security hides the rows behind a parent', async () => {
    const query = '{ ownerCollection { edges { node { petCollection { totalCount edges { node { name } } } } } } }';
    const blue = await execution.data('anon', query, { claims: { tenant: 'blue' } });
    expect(blue.ownerCollection.edges).toEqual([
      { node: { petCollection: { totalCount: 1, edges: [{ node: { name: 'Tom' } }] } } },
    ]);
    expect((await execution.data('anon', query)).ownerCollection.edges).toEqual([]);
  });

  test('row level security does not bind a role that bypasses it, nor the owner of a view or function', async () => {
    const all = '{ ownerCollection { totalCount } }';
    expect((await execution.data('service_role', all)).ownerCollection.totalCount).toBe(2);
    const views = await execution.data(
      'anon',
      '{ a: allOwnersCollection { edges { node { name } } } b: myOwnersCollection { edges { node { name } } } ownerCount }',
      asRed,
    );
    expect(views.a.edges).toHaveLength(2);
    expect(views.b.edges).toEqual([{ node: { name: 'Ada' } }]);
    expect(views.ownerCount).toBe('2');
  });
});

describe('a role', () => {
  test('a role runs everything as itself', async () => {
    expect(await execution.data('anon', '{ whoami }')).toEqual({ whoami: 'anon' });
    expect(await execution.data('authenticated', '{ whoami }')).toEqual({ whoami: 'authenticated' });
  });

  test.each([
    ['a column it may not select', '{ ownerCollection { edges { node { secret } } } }'],
    ['such a column through a relationship', '{ petCollection { edges { node { owner { secret } } } } }'],
    ['such a column in a filter', '{ ownerCollection(filter: {secret: {eq: "s1"}}) { edges { cursor } } }'],
    ['such a column in an order', '{ ownerCollection(orderBy: {secret: AscNullsLast}) { edges { cursor } } }'],
    ['such a column in an aggregate', '{ ownerCollection { aggregate { min { secret } } } }'],
    ['a relationship whose column it may not select', '{ petCollection { edges { node { owner { name } } } } }'],
    ['a computed field of a table it may select in part only', '{ petCollection { edges { node { loud } } } }'],
    ['a table it may not select', '{ privateCollection { edges { cursor } } }'],
    [
      'a relationship to such a table',
      '{ petCollection { edges { node { privateCollection { edges { cursor } } } } } }',
    ],
    ['a function it may not execute', '{ ownerCount }'],
    ['a namespace that is not exposed', '{ thingCollection { edges { cursor } } }'],
  ])('a role does not know %s', async (_, query) => {
    const body = await execution.run('authenticated', query, asRed);
    expect(body).not.toHaveProperty('data');
    expect(body.errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
  });

  test('a role reads the columns it may select', async () => {
    const { data, errors } = await execution.run(
      'authenticated',
      '{ petCollection { totalCount edges { cursor node { id name nodeId } } aggregate { max { name } } } }',
      asRed,
    );
    expect(errors).toBeUndefined();
    expect(data.petCollection).toMatchObject({ totalCount: 2, aggregate: { max: { name: 'Rex' } } });
  });

  test('sees its own schema', async () => {
    const query = '{ __type(name: "Owner") { fields { name } } }';
    const names = async (role: string) =>
      (await execution.data(role, query)).__type.fields.map(({ name }: { name: string }) => name);
    expect(await names('anon')).toEqual(['nodeId', 'id', 'name', 'secret', 'tenant', 'petCollection']);
    expect(await names('authenticated')).toEqual(['nodeId', 'id', 'name']);
  });

  test('a role loses a table with the grant, at the next reading of the catalog', async () => {
    await database.query('grant select on lib.private to authenticated');
    await execution.reload();
    expect(await execution.data('authenticated', '{ privateCollection { edges { cursor } } }')).toEqual({
      privateCollection: { edges: [] },
    });
    await database.query('revoke select on lib.private from authenticated');
    await execution.reload();
    expect(await execution.errors('authenticated', '{ privateCollection { edges { cursor } } }')).toHaveLength(1);
  });

  test('without usage on any exposed namespace has the empty schema', async () => {
    const closed = await openReader([grants], { schemas: ['closed'] });
    expect(await closed.ask('{ __typename }')).toEqual({ __typename: 'Query' });
    expect(await closed.errors('{ thingCollection { edges { cursor } } }')).toHaveLength(1);
    expect(await closed.run(`{ node(nodeId: "${id(['closed', 'thing', 1])}") { nodeId } }`)).toMatchObject({
      data: null,
    });
  });

  test('that does not exist is refused', async () => {
    const body = await execution.run('nobody_at_all', '{ __typename }');
    expect(body).not.toHaveProperty('data');
    expect(body.errors[0].extensions.code).toBe('ROLE_NOT_ALLOWED');
  });
});

describe('privileges that the schema cannot show', () => {
  test('privileges that the schema cannot show end in an error of the database: a key column that may not be selected', async () => {
    const partial = await openReader([
      'create schema lib; grant usage on schema lib to anon; create table lib.half (id int primary key, name text); grant select (name) on lib.half to anon',
    ]);
    expect(await partial.run('{ halfCollection { edges { node { name } } } }')).toMatchObject({
      data: null,
      errors: [
        { message: 'permission denied for table half', extensions: { code: 'PERMISSION_DENIED', sqlstate: '42501' } },
      ],
    });
  });
});
