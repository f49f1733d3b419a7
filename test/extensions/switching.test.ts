/** Extensions are switched by the operator and by the comment of a schema, and take no name of what is there without them. */

import type { GraphQLObjectType } from 'graphql';
import { describe, expect, test } from 'vitest';
import { type ExtensionName, extensionNames, parseExtensions } from '../../src/config/extensions.ts';
import { buildModel } from '../../src/graphql/model/build-model.ts';
import { buildSchema } from '../../src/graphql/schema/build-schema.ts';
import { startExecution } from '../support/execution.ts';
import { createDatabase, createSchema } from '../support/postgres.ts';
import { modelReader } from '../support/read-model.ts';

const setUp = `
  create schema one; create schema two; grant usage on schema one, two to anon;
  create domain one.email as text;
  create domain one.tags as text[];
  create table one.person (id int primary key, mail one.email);
  create table two.letter (id int primary key, mail one.email);
  create function one.echo(given one.tags) returns one.tags stable language sql as 'select given';
  grant all on all tables in schema one, two to anon;
`;

const database = await createDatabase(setUp);
const reader = modelReader(database);

async function typesOf(extensions: readonly ExtensionName[] = extensionNames, comments = '') {
  await database.query(`comment on schema two is null; ${comments}`);
  const catalog = await reader.catalog(['one', 'two']);
  const schema = buildSchema(buildModel(catalog, { role: 'anon', extensions }));
  const mail = (type: string) => String((schema.getType(type) as GraphQLObjectType).getFields().mail?.type);
  return { person: mail('person'), letter: mail('letter') };
}

describe('the option', () => {
  test('the option takes all, none, or names', () => {
    expect(parseExtensions('all')).toEqual(['reads', 'writes', 'live']);
    expect(parseExtensions(' none ')).toEqual([]);
    expect(parseExtensions('writes, reads')).toEqual(['writes', 'reads']);
    expect(() => parseExtensions('upsert')).toThrow(
      'names the extension "upsert", which does not exist; there are reads, writes, live',
    );
    expect(() => parseExtensions('reads,')).toThrow('none of them empty');
  });

  test('the option switches for all schemas', async () => {
    expect(await typesOf()).toEqual({ person: 'String', letter: 'String' });
    expect(await typesOf([])).toEqual({ person: 'Opaque', letter: 'Opaque' });
    expect(await typesOf(['writes', 'live'])).toEqual({ person: 'Opaque', letter: 'Opaque' });
  });
});

describe('the comment of a schema', () => {
  const comment = (value: string) => `comment on schema two is '@graphql({"extensions": ${value}})';`;

  test.each([
    ['true', [], 'Opaque', 'String'],
    ['["reads"]', [], 'Opaque', 'String'],
    ['[]', undefined, 'String', 'Opaque'],
    ['false', undefined, 'String', 'Opaque'],
    ['["writes", "live"]', undefined, 'String', 'Opaque'],
    ['null', undefined, 'String', 'String'],
  ] as const)('with %s wins over the option for what is in it', async (value, extensions, person, letter) => {
    expect(await typesOf(extensions, comment(value))).toEqual({ person, letter });
  });

  test.each([
    ['["upsert"]', '"extensions" names the extension "upsert", which does not exist; there are reads, writes, live'],
    ['"reads"', '"extensions" must be true, false or an array of names'],
    ['[1]', '"extensions" must be true, false or an array of names'],
  ])('with %s is malformed', async (value, problem) => {
    await database.query(comment(value));
    const execution = await startExecution(database, { schemas: ['one', 'two'], extensions: [] });
    const [message] = await execution.errors('anon', '{ personCollection { edges { cursor } } }');
    expect(message).toBe(`Error while loading schema, check comment directives. two: ${problem}`);
  });
});

test('a malformed directive of a domain is an error where the extension reads domains', async () => {
  await createSchema(
    database,
    'mails',
    `create domain email as text; comment on domain email is '@graphql({)';
    create table person (id int primary key, mail email); grant select on person to anon`,
  );
  const ask = async (extensions: readonly 'reads'[]) =>
    (await startExecution(database, { schemas: ['mails'], extensions })).errors(
      'anon',
      '{ personCollection { edges { cursor } } }',
    );
  expect(await ask([])).toEqual([]);
  expect((await ask(['reads']))[0]).toContain('mails.email: ');
});

test('a malformed directive of a composite type is an error where functions take the type', async () => {
  await createSchema(
    database,
    'pairs',
    `create type pair as (a int); create function take(given pair) returns int stable language sql as 'select 1';
    comment on type pair is '@graphql({)'; create table person (id int primary key); grant select on person to anon`,
  );
  const ask = async (extensions: readonly 'writes'[]) =>
    (await startExecution(database, { schemas: ['pairs'], extensions })).errors(
      'anon',
      '{ personCollection { edges { cursor } } }',
    );
  expect(await ask([])).toEqual([]);
  expect((await ask(['writes']))[0]).toContain('pairs.pair: ');
});

describe('what an extension adds', async () => {
  await database.query(`
    create schema lib; grant usage on schema lib to anon;
    create schema side; grant usage on schema side to anon;
    comment on schema lib is '@graphql({"inflect_names": true})';
    create domain lib.list as int[];
    create domain lib.number as int;
    create table lib.shelf (id int generated always as identity primary key, "and" lib.list, foo_bar text, "fooBar" lib.list, book lib.list);
    create table lib.book (id int generated always as identity primary key, shelf_id int references lib.shelf, size lib.number, loud lib.list, pages lib.list);
    comment on table lib.book is '@graphql({"aggregate": {"enabled": true}})';
    create table lib.sum_holder (id int primary key);
    comment on table lib.sum_holder is '@graphql({"name": "CoverSumAggregateResult"})';
    create table lib.cover (name text primary key, size lib.number);
    comment on table lib.cover is '@graphql({"aggregate": {"enabled": true}})';
    create table lib.log (id int generated always as identity primary key, parts lib.list);
    create table lib.log_holder (id int primary key);
    comment on table lib.log_holder is '@graphql({"name": "LogUpdateInput"})';
    create table lib.mark (id int generated always as identity primary key, parts lib.list);
    create function lib.make_mark() returns int volatile language sql as 'select 7';
    comment on function lib.make_mark is '@graphql({"name": "insertIntoMarkCollection"})';
    create function lib.fetch() returns int stable language sql as 'select 1';
    create function lib.grab() returns lib.list stable language sql as $$ select '{2}'::lib.list $$;
    comment on function lib.grab is '@graphql({"name": "fetch"})';
    create function lib.shelf_id(b lib.book) returns lib.list stable language sql as $$ select '{3}'::lib.list $$;
    create function lib.spare(b lib.book) returns lib.list stable language sql as $$ select '{4}'::lib.list $$;
    create table side.pile (id int primary key, shelf_id int references lib.shelf);
    comment on constraint pile_shelf_id_fkey on side.pile is '@graphql({"local_name": "book"})';
    insert into lib.shelf ("and", foo_bar, "fooBar", book) values ('{1}', 'text', '{2}', '{3}');
    insert into lib.book (shelf_id, size, loud) values (1, 5, '{1}');
    insert into side.pile values (8, 1);
    grant all on all tables in schema lib, side to anon;
  `);
  const execution = await startExecution(database, { schemas: ['lib', 'side'], introspection: 'always' });
  const plain = await startExecution(database, { schemas: ['lib', 'side'], introspection: 'always', extensions: [] });
  const reasons = async () => (await reader.omissions(['lib', 'side'])).map(({ reason, fix }) => `${reason} ${fix}`);

  test('what an extension adds takes no field of a column, a relationship or a function', async () => {
    const query = `{ shelfCollection(filter: {and: [{id: {eq: 1}}]}) { edges { node { fooBar and book { edges { node { id } } } bookCollection { edges { node { shelfId } } } } } } fetch }`;
    const extended = await execution.data('anon', query);
    expect(extended.shelfCollection.edges[0].node).toEqual({
      fooBar: 'text',
      and: [1],
      book: { edges: [{ node: { id: 8 } }] },
      bookCollection: { edges: [{ node: { shelfId: 1 } }] },
    });
    expect(extended.fetch).toBe(1);
    const withoutAnd = query.replace(' and ', ' ');
    const same = await execution.data('anon', withoutAnd);
    expect(same).toEqual(await plain.data('anon', withoutAnd));
    expect(
      (await execution.data('anon', '{ bookCollection { edges { node { spare loud } } } }')).bookCollection.edges[0]
        .node,
    ).toEqual({ spare: [4], loud: [1] });
  });

  test('what an extension adds takes no type and no entrypoint', async () => {
    const names = async (from: typeof execution) => {
      const { __schema } = await from.data('anon', '{ __schema { types { name } mutationType { fields { name } } } }');
      return new Set<string>([...__schema.types, ...__schema.mutationType.fields].map(({ name }) => name));
    };
    const [all, before] = [await names(execution), await names(plain)];
    expect([...before].filter((name) => !all.has(name))).toEqual([]);
    const ofCommands =
      /^((Log|Mark)(Insert|Update)(Input|Response)|(insertInto|update)(Log|Mark)Collection|Cover\w+Result)$/;
    expect([...all].filter((name) => !before.has(name) && ofCommands.test(name)).sort()).toEqual([
      ...['CoverAvgAggregateResult', 'LogInsertInput', 'LogInsertResponse'],
      ...['MarkUpdateInput', 'MarkUpdateResponse', 'insertIntoLogCollection', 'updateMarkCollection'],
    ]);
    expect(await execution.data('anon', 'mutation { insertIntoMarkCollection }')).toEqual({
      insertIntoMarkCollection: 7,
    });
    const type = await execution.data('anon', '{ __type(name: "CoverSumAggregateResult") { fields { name } } }');
    expect(type.__type.fields.map(({ name }: { name: string }) => name)).toEqual(['nodeId', 'id']);
  });

  test('an addition that finds its name taken is reported, with the SQL that renames it', async () => {
    const all = (await reasons()).join('\n');
    expect(all).toContain(
      `Column lib.shelf."fooBar" would be "fooBar" in GraphQL, and another column has that name already. comment on column lib.shelf."fooBar" is '@graphql({"name":"fooBar_list"})';`,
    );
    expect(all).toContain(`lib.cover would have the type "CoverSumAggregateResult", and`);
    expect(all).toContain(`lib.log would have the type "LogUpdateInput", and`);
    expect(all).toContain(
      `Function lib.grab would be "fetch" in GraphQL, and lib."fetch" has that name already. comment on routine lib.grab is '@graphql({"name":"lib_grab"})';`,
    );
    expect(all).toContain(
      `A field "shelfId" of lib.book that an extension adds is left out: an earlier one has that name. comment on routine lib.shelf_id is`,
    );
  });
});
