/** Keys of related rows that are inserted together: of several columns, of every type, given by the database, shared, or unique. */
import { expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase();
const execution = await startExecution(database);

/** Makes these tables, in the place of those of the test before. */
async function make(tables: string): Promise<void> {
  await database.query(`
    drop schema public cascade; create schema public; grant usage on schema public to anon;
    comment on schema public is '@graphql({"inflect_names": true})';
    ${tables};
    grant select, insert on all tables in schema public to anon; grant usage on all sequences in schema public to anon`);
  await execution.reload();
}

test('several columns, some of them shared with another relationship', async () => {
  await make(`
    create table place (tenant int, id int generated always as identity, name text, primary key (tenant, id));
    create table thing (tenant int, id int generated always as identity, name text, primary key (tenant, id));
    create table put (
      tenant int, place_id int, thing_id int, amount int, primary key (tenant, place_id, thing_id),
      foreign key (tenant, place_id) references place, foreign key (tenant, thing_id) references thing
    );`);
  const objects = [1, 2].map((tenant) => ({
    tenant,
    name: `place ${tenant}`,
    putCollection: {
      insert: [1, 2].map((each) => ({ amount: each, thing: { insert: { tenant, name: `${tenant}.${each}` } } })),
    },
  }));
  const query = `mutation ($o: [PlaceInsertInput!]!) { insertIntoPlaceCollection(objects: $o) {
    records { name putCollection { edges { node { tenant amount thing { tenant name } } } } } } }`;
  const { insertIntoPlaceCollection: answer } = await execution.data('anon', query, { variables: { o: objects } });
  expect(answer.records).toEqual(
    [1, 2].map((tenant) => ({
      name: `place ${tenant}`,
      putCollection: {
        edges: [1, 2].map((amount) => ({ node: { tenant, amount, thing: { tenant, name: `${tenant}.${amount}` } } })),
      },
    })),
  );
  // The constraint notices where the shared column differs.
  const other = [{ ...objects[0], putCollection: { insert: [{ thing: { insert: { tenant: 3, name: 'x' } } }] } }];
  const { errors } = await execution.run('anon', query, { variables: { o: other } });
  expect(errors[0].extensions).toMatchObject({ code: 'CONSTRAINT_VIOLATION', input: '$o[0].putCollection.insert[0]' });
  expect(await database.query('select count(*)::int as n from thing')).toEqual([{ n: 4 }]);
});

test('a key of any type is handed on as it is', async () => {
  const types = [
    ['text', `'a"b\\, {x}'`],
    ['uuid', 'gen_random_uuid()'],
    ['timestamptz', "'2024-05-06 07:08:09.123456+02'"],
    ['float8', '1e-7::float8 / 3'],
    ['numeric', "'12345678901234567890.123456789'"],
    ['date', "'0044-03-15 BC'"],
    ['bytea', `'\\x00ff27'`],
    ['boolean', 'true'],
    ['char(5)', "'ab'"],
    ['"char"', "'x'"],
    ['inet', "'10.0.0.1/8'"],
    ['interval', "'1 month 2 days 03:04:05.6'"],
    ['int[]', "'{1,2}'"],
    ['email', "'a@b'"],
    ['mood', "'so so'"],
  ];
  const tables = types.map(
    ([type, value], index) => `
      create table above${index} (id int generated always as identity primary key, code ${type} unique default ${value}, name text);
      create table below${index} (id int generated always as identity primary key, code ${type} references above${index} (code), name text);`,
  );
  await make(`
    create domain email as text check (value like '%@%');
    create type mood as enum ('happy', 'so so');
    ${tables.join('')}`);
  for (const [index, [type]] of types.entries()) {
    const objects = `[{name: "a", below${index}Collection: {insert: [{name: "b"}]}}]`;
    await execution.data(
      'anon',
      `mutation { insertIntoAbove${index}Collection(objects: ${objects}) { affectedCount } }`,
    );
    const joined = `select a.name as above, b.name as below from below${index} b join above${index} a on a.code = b.code`;
    expect([type, await database.query(joined)]).toEqual([type, [{ above: 'a', below: 'b' }]]);
  }
});

test('the row that refers to this one is only one, if its foreign key is unique', async () => {
  await make(`
    create table member (id serial primary key, name text);
    create table profile (member_id int primary key references member, about text);`);
  const query = `mutation { insertIntoMemberCollection(objects: [{name: "a"}, {name: "b", profile: {insert: {about: "x"}}}]) { records { name profile { about } } } }`;
  expect((await execution.data('anon', query)).insertIntoMemberCollection.records).toEqual([
    { name: 'a', profile: null },
    { name: 'b', profile: { about: 'x' } },
  ]);
});

test('a default of the foreign key applies to objects without a related row', async () => {
  await make(`
    create table shelf (id int generated always as identity primary key, name text);
    insert into shelf (name) values ('default');
    create table tome (id int generated always as identity primary key, shelf_id int default 1 references shelf, title text default 'untitled');`);
  const objects = [
    { title: 'a' },
    { shelf: { insert: { name: 'b' } } },
    { title: 'c', shelfId: null },
    { title: 'd', shelf: { insert: { name: 'd' } } },
    { title: 'e', shelf: null },
  ];
  const expected = [
    { title: 'a', shelf: { name: 'default' } },
    { title: 'untitled', shelf: { name: 'b' } },
    { title: 'c', shelf: null },
    { title: 'd', shelf: { name: 'd' } },
    { title: 'e', shelf: { name: 'default' } },
  ];
  const fields = '{ records { title shelf { name } } }';
  const query = `mutation ($o: [TomeInsertInput!]!) { insertIntoTomeCollection(objects: $o) ${fields} }`;
  const byVariable = await execution.data('anon', query, { variables: { o: objects } });
  expect(byVariable.insertIntoTomeCollection.records).toEqual(expected);
  const text = JSON.stringify(objects).replaceAll(/"(\w+)":/g, '$1:');
  const inDocument = await execution.data('anon', `mutation { insertIntoTomeCollection(objects: ${text}) ${fields} }`);
  expect(inDocument.insertIntoTomeCollection.records).toEqual(expected);
});

test('a trigger may change the key', async () => {
  await make(`
    create table above (code text primary key, name text);
    create table below (id serial primary key, above_code text not null references above, name text);
    create function renumber() returns trigger language plpgsql as $$ begin new.code := upper(new.code) || new.name; return new; end $$;
    create trigger renumber before insert on above for each row execute function renumber();`);
  const objects = ['x', 'y', 'z'].map((code) => ({ code, name: code, belowCollection: { insert: [{ name: code }] } }));
  const query =
    'mutation ($o: [AboveInsertInput!]!) { insertIntoAboveCollection(objects: $o) { records { code belowCollection { edges { node { name } } } } } }';
  const { insertIntoAboveCollection: answer } = await execution.data('anon', query, { variables: { o: objects } });
  expect(answer.records).toEqual(
    ['x', 'y', 'z'].map((code) => ({
      code: `${code.toUpperCase()}${code}`,
      belowCollection: { edges: [{ node: { name: code } }] },
    })),
  );
});

test('variables may stand anywhere', async () => {
  await make(`
    create table above (id serial primary key, name text);
    create table below (id serial primary key, above_id int not null references above, name text);`);
  const fields = '{ records { name belowCollection { edges { node { name } } } } }';
  const names = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `b${index}` }));
  const expected = (count: number) => ({ edges: names(count).map((node) => ({ node })) });
  const insert = (query: string, variables: object) =>
    execution
      .data('anon', query, { variables: { ...variables } })
      .then((data) => data.insertIntoAboveCollection.records);
  for (const count of [1, 3]) {
    const list = `mutation ($below: [BelowInsertInput!]!) { insertIntoAboveCollection(objects: [{name: "a"}, {name: "c", belowCollection: {insert: $below}}]) ${fields} }`;
    expect(await insert(list, { below: names(count) })).toEqual([
      { name: 'a', belowCollection: expected(0) },
      { name: 'c', belowCollection: expected(count) },
    ]);
    const nested = `mutation ($below: BelowNestedInsert) { insertIntoAboveCollection(objects: {name: "a", belowCollection: $below}) ${fields} }`;
    expect(await insert(nested, { below: { insert: names(count) } })).toEqual([
      { name: 'a', belowCollection: expected(count) },
    ]);
    const object = `mutation ($o: AboveInsertInput!, $p: AboveInsertInput!) { insertIntoAboveCollection(objects: [$o, $p]) ${fields} }`;
    const [o, p] = [count, count + 1].map((own) => ({ name: 'a', belowCollection: { insert: names(own) } }));
    expect(await insert(object, { o, p })).toEqual(
      [count, count + 1].map((own) => ({ name: 'a', belowCollection: expected(own) })),
    );
  }
  expect(
    await insert(
      `mutation ($below: BelowNestedInsert) { insertIntoAboveCollection(objects: {name: "a", belowCollection: $below}) ${fields} }`,
      {},
    ),
  ).toEqual([{ name: 'a', belowCollection: expected(0) }]);
});
