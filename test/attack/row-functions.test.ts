/**
 * A tenant filters and orders rows by functions, to tell what is hidden from what is not there; and somebody who may create functions plants
 * some that others would run, or that see rows that policies hide.
 */
import { describe, expect, test } from 'vitest';
import { type Json, startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

// What looks at a row writes down whom it showed to whom. It costs nothing, so PostgreSQL would ask it first, and fails at what is hidden.
const trap = `
  create schema trap; create table trap.seen (who text, what text);
  grant usage on schema trap to public; grant insert on trap.seen to public;
  create function trap.note(what text) returns boolean volatile language plpgsql as 'begin insert into trap.seen values (current_user, what); return true; end';
`;
const common = `
  ${trap}
  comment on schema public is '@graphql({"inflect_names": true})';
  create table owner (id int primary key, name text);
  create table pet (id int primary key, owner_id int references owner, name text, weight int);
  comment on table pet is '@graphql({"aggregate": {"enabled": true}, "totalCount": {"enabled": true}})';
  create view walled with (security_barrier) as select id, name, weight from pet where id < 100;
  comment on view walled is '@graphql({"primary_key_columns": ["id"]})';
  insert into owner values (1, 'Ana'), (2, 'Ben');
  insert into pet values (1, 1, 'Rex', 10), (2, null, 'Tom', null);
  grant select, update, delete on owner, pet, walled to anon;
  grant select on pet to service_role;
  alter table pet enable row level security; create policy visible on pet to anon using (id < 100);
  alter table owner enable row level security; create policy visible on owner to anon using (id < 100);
  ${['owner', 'pet', 'walled']
    .flatMap((table) => [
      [`peek(r ${table})`, 'boolean'],
      [`peek_at(r ${table}, word text)`, 'boolean'],
      [`rank_of(r ${table})`, 'int'],
      [`rank_at(r ${table}, word text)`, 'int'],
    ])
    .map(
      ([signature, type]) => `
    create function ${signature} returns ${type} stable cost 0.000001 language plpgsql as $$ begin
      perform trap.note(r.id::text);
      if r.id >= 100 then raise exception 'saw %', r.name; end if;
      return ${type === 'int' ? 'r.id' : 'r.id < 3'};
    end $$;
    comment on function ${signature} is '@graphql({"filter": true, "order": true})';`,
    )
    .join('')}
  create function closed(pet) returns boolean stable language sql as 'select true';
  comment on function closed is '@graphql({"filter": true, "order": true})';
  revoke execute on function closed from public;
`;
const secrets = `
  create table vet (id int primary key, pin text); grant select (id) on vet to anon;
  create function by_pin(vet) returns text stable language sql as 'select $1.pin';
  comment on function by_pin is '@graphql({"filter": true, "order": true})';
  insert into vet values (1, '1234');
  insert into owner values (100, 'Zed');
  insert into pet values (101, 2, 'Max', 1), (102, 100, 'Kit', 2), (103, 1, 'Zoe', null);
`;
const absences =
  'drop function closed; create table vet (id int primary key); grant select (id) on vet to anon; insert into vet values (1);';
const [hidden, absent] = await Promise.all([
  createDatabase(`${common} ${secrets}`),
  createDatabase(`${common} ${absences}`),
]);
const [full, empty] = [await startExecution(hidden, {}), await startExecution(absent, {})];

const filters = [
  '{peek: {eq: true}}',
  '{not: {peek: {eq: false}}}',
  '{peekAt: {word: "x"}}',
  '{not: {peekAt: {word: "x"}}}',
  '{or: [{peekAt: {word: "x"}}, {id: {eq: 102}}]}',
  '{and: [{peekAt: {word: "x"}}, {id: {gte: 101}}]}',
  '{id: {in: [1, 101]}, peek: {is: NOT_NULL}}',
];
const orders = [
  '{rankOf: DescNullsFirst}',
  '{rankAt: {word: "x"}}',
  '[{weight: AscNullsFirst}, {rankAt: {word: "x", direction: DescNullsFirst}}]',
];

describe('what is hidden', () => {
  test.each([
    ...filters.flatMap((filter) => [
      `{ petCollection(filter: ${filter}) { totalCount aggregate { count sum { weight } } edges { cursor node { id } } pageInfo { hasNextPage } } }`,
      `{ walledCollection(filter: ${filter}) { edges { node { id } } } }`,
      `{ ownerCollection { edges { node { id petCollection(filter: ${filter}) { totalCount edges { node { id } } } } } } }`,
      ...['some', 'every', 'none'].map(
        (kind) => `{ ownerCollection(filter: {petCollection: {${kind}: ${filter}}}) { edges { node { id } } } }`,
      ),
      `{ ownerCollection(filter: {petCollection: {aggregate: {filter: ${filter}, count: {gte: 1}}}}) { edges { node { id } } } }`,
      `{ petCollection(filter: {owner: ${filter}}) { edges { node { id } } } }`,
      `mutation { deleteFromPetCollection(filter: {and: [${filter}, {id: {gt: 100}}]}, atMost: 5) { affectedCount } }`,
      `mutation { updatePetCollection(filter: {and: [${filter}, {id: {gt: 100}}]}, set: {weight: 0}, atMost: 5) { affectedCount } }`,
    ]),
    ...orders.flatMap((order) => [
      `{ petCollection(orderBy: ${order}) { edges { cursor node { id } } } }`,
      `{ petCollection(orderBy: ${order}, last: 1) { edges { node { id } } pageInfo { hasPreviousPage } } }`,
    ]),
    ...orders
      .slice(0, 2)
      .flatMap((order) => [
        `{ petCollection(orderBy: {owner: ${order}}) { edges { cursor node { id } } } }`,
        `{ walledCollection(orderBy: ${order}) { edges { node { id } } } }`,
      ]),
  ])('what is hidden is not shown to a function, and is as if it were not there: %s', async (query) => {
    await hidden.query('truncate trap.seen');
    expect(await full.run('anon', query)).toEqual(await empty.run('anon', query));
    const seen = await hidden.query<{ what: string }>(
      'select distinct what from trap.seen where what is null or what::int >= 100',
    );
    expect(seen).toEqual([]);
    const counts = await hidden.query(
      'select (select count(*)::int from pet) as pets, (select count(*)::int from pet where weight = 0) as changed',
    );
    expect(counts).toEqual([{ pets: 5, changed: 0 }]);
  });

  test('what is hidden is shown to a caller who passes the policies, so the trap works', async () => {
    await hidden.query('truncate trap.seen');
    expect(
      await full.errors('service_role', '{ petCollection(filter: {peek: {eq: true}}) { edges { node { id } } } }'),
    ).toEqual(['saw Max']);
    await hidden.query('truncate trap.seen');
    await full.run('anon', '{ petCollection(filter: {peek: {eq: true}}) { edges { node { id } } } }');
    expect(await hidden.query('select distinct who, what from trap.seen order by what')).toEqual([
      { who: 'anon', what: '1' },
      { who: 'anon', what: '2' },
    ]);
  });

  test('what is hidden is a function that the role may not execute, and one over columns that it may not select', async () => {
    for (const query of [
      '{ petCollection(filter: {closed: {eq: true}}) { edges { node { id } } } }',
      '{ petCollection(orderBy: {closed: AscNullsLast}) { edges { node { id } } } }',
      '{ petCollection { edges { node { closed } } } }',
      '{ vetCollection(filter: {byPin: {eq: "1234"}}) { edges { node { id } } } }',
      '{ vetCollection(orderBy: {byPin: AscNullsLast}) { edges { node { id } } } }',
      '{ vetCollection { edges { node { byPin } } } }',
    ]) {
      const answer = await full.run('anon', query);
      expect(answer).toEqual(await empty.run('anon', query));
      expect(answer.errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
    }
  });
});

describe('a function that somebody plants', async () => {
  const planted = await createDatabase(`
    ${trap}
    create schema api; create schema late; create schema extensions; grant usage on schema api, late, extensions to anon, service_role;
    do $$ begin create role mallory; exception when duplicate_object or unique_violation then null; end $$;
    comment on schema api is '@graphql({"inflect_names": true})'; comment on schema late is '@graphql({"inflect_names": true})';
    create table api.pet (id int primary key, name text, "at" point);
    insert into api.pet values (1, 'Rex', '(0,0)'), (2, 'Tom', '(9,9)');
    create function api.near(p api.pet, x float8, y float8 default 0) returns boolean stable language sql as 'select p."at" <-> point(x, y) < 1';
    create function api.label(p api.pet) returns text stable language sql as 'select p.name';
    comment on function api.near is '@graphql({"filter": true})'; comment on function api.label is '@graphql({"filter": true, "order": true})';
    grant select on api.pet to anon, service_role;
    grant usage, create on schema api, late, extensions to mallory;
  `);
  const options = { schemas: ['api', 'late'], extraSearchPath: ['extensions'] };
  const steal = 'stable language plpgsql as $$ begin perform trap.note(current_user); return null; end $$';
  const used =
    '{ petCollection(filter: {near: {x: 0}, label: {eq: "Rex"}}, orderBy: [{label: AscNullsLast}]) { edges { node { id near(x: 9) label } } } }';
  const before = await startExecution(planted, options);
  const good = await before.data('service_role', used);

  test('in another schema is not called in the place of one that is there', async () => {
    expect(good.petCollection.edges).toEqual([{ node: { id: 1, near: false, label: 'Rex' } }]);
    const texts = ['late', 'extensions'].map(
      (schema) => `
      create function ${schema}.near(p api.pet, x float8, y float8 default 0) returns boolean ${steal};
      create function ${schema}.near(p api.pet, x float8) returns boolean ${steal};
      create function ${schema}.label(p api.pet) returns text ${steal};
      comment on function ${schema}.label is '@graphql({"filter": true, "order": true})';`,
    );
    await planted.query(`set role mallory; ${texts.join('')} reset role`);
    for (const on of [before, await startExecution(planted, options)]) {
      expect(await on.data('service_role', used)).toEqual(good);
    }
    expect(await planted.query('select * from trap.seen')).toEqual([]);
  });

  test('beside it, with other defaults or types, is not called either, whether or not the gateway has seen it', async () => {
    await planted.query(`set role mallory;
      create function api.near(p api.pet, x float8) returns boolean ${steal};
      create function api.near(p api.pet, x float8, z int default 1) returns boolean ${steal};
      create function api.label(p api.pet, x int default 1) returns text ${steal};
      create function api.label(p record) returns text ${steal};
      create function api.label(p anyelement) returns text ${steal};
      reset role`);
    const late = await startExecution(planted, options);
    // What is prepared goes on; the rest is ambiguous to PostgreSQL, or is not there any more.
    const { data } = await before.run('service_role', used);
    expect(data ?? good).toEqual(good);
    const anew = await before.run('anon', used.replace('id near', 'near'));
    expect([anew.data ?? null, anew.errors?.length > 0]).toEqual([null, true]);
    expect((await late.errors('service_role', used))[0]).toContain('near');
    for (const on of [before, late]) await on.run('service_role', '{ petCollection { edges { node { label } } } }');
    expect(await planted.query('select * from trap.seen')).toEqual([]);
  });

  test('a function that somebody plants takes no name of a column, an operator or another entry of the filter', async () => {
    const other = await createDatabase(`
      create schema api; create schema late; grant usage on schema api, late to anon;
      create table api.pet (id int primary key, name text, data jsonb);
      insert into api.pet values (1, 'Rex', '{}');
      grant select on api.pet to anon;
      ${['name', 'id', 'data', 'nodeId', 'and', 'or', 'not']
        .map(
          (
            name,
          ) => `create function late."${name}"(api.pet) returns boolean stable language plpgsql as 'begin raise exception ''stolen''; end';
          comment on function late."${name}" is '@graphql({"filter": true, "order": true})';`,
        )
        .join('\n')}
    `);
    const on = await startExecution(other, { schemas: ['api', 'late'], introspection: 'always' });
    const { f, o } = await on.data(
      'anon',
      '{ f: __type(name: "petFilter") { inputFields { name type { name } } } o: __type(name: "petOrderBy") { inputFields { name } } }',
    );
    expect(f.inputFields.map(({ name, type }: Json) => `${name} ${type.name}`)).toEqual([
      ...[
        'id IntFilter',
        'name StringFilter',
        'nodeId IDFilter',
        'and null',
        'or null',
        'not petFilter',
        'data JSONFilter',
      ],
    ]);
    expect(o.inputFields.map(({ name }: Json) => name)).toEqual(['id', 'name', 'and', 'or', 'not']);
    const query =
      '{ petCollection(filter: {and: [{name: {eq: "Rex"}}], data: {contains: "{}"}}, orderBy: {name: AscNullsLast}) { edges { node { id name data } } } }';
    expect((await on.data('anon', query)).petCollection.edges).toEqual([{ node: { id: 1, name: 'Rex', data: '{}' } }]);
  });
});
