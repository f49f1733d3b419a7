/** Domains travel as what they stand on. */
import { describe, expect, test } from 'vitest';
import { type ExecutionOptions, startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase(`
  create schema shop; grant usage on schema shop to anon;
  create schema hidden; create schema ext; create extension citext schema ext; grant usage on schema ext to anon;
  comment on schema shop is '@graphql({"inflect_names": true, "introspection": true})';
  create type shop.size as enum ('small', 'large');
  create type hidden.level as enum ('low', 'high');
  create domain shop.email as text check (value ~ '@');
  create domain shop.work_email as shop.email not null;
  create domain shop.nick as ext.citext;
  create domain shop.quantity as int check (value >= 0);
  create domain shop.big as bigint;
  create domain shop.amount as numeric(8,2);
  create domain shop.code as varchar(3);
  create domain shop.padded as char(4);
  create domain shop.letter as "char";
  create domain shop.flag as boolean;
  create domain shop.born as date;
  create domain shop.at as timestamptz;
  create domain shop.ref as uuid;
  create domain shop.doc as jsonb;
  create domain shop.fit as shop.size;
  create domain shop.tags as text[] check (cardinality(value) < 4);
  create domain shop.counts as bigint[];
  create domain shop.codes as varchar(3)[];
  create domain shop.address as inet;
  create type shop.pair as (a int, b int);
  create domain shop.pair_d as shop.pair;
  create domain shop.secret as hidden.level;
  create domain shop.raw as text;
  comment on domain shop.raw is '@graphql({"opaque": true})';
  create table shop.item (
    id int primary key, mail shop.email, work shop.work_email, nick shop.nick, quantity shop.quantity, big shop.big, amount shop.amount,
    code shop.code, padded shop.padded, letter shop.letter, flag shop.flag, born shop.born, at shop.at, ref shop.ref, doc shop.doc, fit shop.fit,
    tags shop.tags, counts shop.counts, codes shop.codes, address shop.address, pair shop.pair_d, secret shop.secret, raw shop.raw,
    mails shop.email[]);
  comment on table shop.item is '@graphql({"aggregate": {"enabled": true}, "totalCount": {"enabled": true}})';
  insert into shop.item values
    (1, 'a@x', 'w@x', 'Ann', 5, 9007199254740993, 1.5, 'abc', 'ab', 'q', true, '2024-05-01', '2024-05-01 10:00+00',
     '00000000-0000-0000-0000-00000000000a', '{"n": 12345678901234567890.5}', 'large', '{a,b}', '{9007199254740993}', '{abc}', '10.0.0.1', row(1, 2),
     'high', 'raw', '{a@x,b@x}'),
    (2, 'b@x', 'v@x', 'ben', 7, 2, 2.25, 'b', 'b', 'r', false, '2024-05-02', '2024-05-02 10:00+00',
     '00000000-0000-0000-0000-00000000000b', '[]', 'small', '{c}', '{1,2}', null, null, null, null, null, null),
    (3, null, 'u@x', null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null);
  create table shop.person (mail shop.email primary key, boss shop.email references shop.person);
  insert into shop.person values ('a@x', null), ('b@x', 'a@x');
  create view shop.worker as select i.id, i.work from shop.item i;
  comment on view shop.worker is '@graphql({"primary_key_columns": ["id"]})';
  create function shop.double_of(given shop.quantity) returns shop.quantity stable language sql as 'select (given * 2)::shop.quantity';
  create function shop.joined(given shop.tags) returns text stable language sql as $$ select array_to_string(given, '-') $$;
  create function shop.split(given text) returns shop.tags stable language sql as $$ select string_to_array(given, '-')::shop.tags $$;
  create function shop.shout(i shop.item) returns shop.tags stable language sql as 'select array[upper(i.mail)]';
  grant all on all tables in schema shop to anon;
`);
const start = (options: ExecutionOptions = {}) => startExecution(database, { schemas: ['shop'], ...options });
const shop = await start();
const plain = await start({ extensions: [] });

const ask = (query: string, variables = {}) => shop.data('anon', query, { variables });
const ids = async (filter: string, variables = {}) => {
  const declared = Object.keys(variables).length === 0 ? '' : `query (${variables['$' as never] ?? ''})`;
  const { itemCollection } = await ask(
    `${declared}{ itemCollection(filter: {${filter}}) { edges { node { id } } } }`,
    variables,
  );
  return itemCollection.edges.map(({ node }: { node: { id: number } }) => node.id);
};
const typesOf = async (execution: typeof shop, type: string) => {
  const query = `{ __type(name: "${type}") { fields { name type { kind name ofType { name kind ofType { name } } } } inputFields { name type { name kind ofType { name } } } } }`;
  const { __type } = await execution.data('anon', query);
  const brief = ({ kind, name, ofType }: { kind: string; name: string | null; ofType: never }): string =>
    kind === 'NON_NULL' ? `${brief(ofType)}!` : kind === 'LIST' ? `[${brief(ofType)}]` : (name as string);
  return Object.fromEntries(
    (__type.fields ?? __type.inputFields).map((f: { name: string; type: never }) => [f.name, brief(f.type)]),
  );
};

describe('a column of a domain', () => {
  test('a column of a domain has the type of what the domain stands on', async () => {
    expect(await typesOf(shop, 'Item')).toMatchObject({
      mail: 'String', work: 'String!', nick: 'String', quantity: 'Int', big: 'BigInt', amount: 'BigFloat', code: 'String', padded: 'String',
      letter: 'String', flag: 'Boolean', born: 'Date', at: 'Datetime', ref: 'UUID', doc: 'JSON', fit: 'Size', tags: '[String]', counts: '[BigInt]',
      codes: '[String]', address: 'Opaque', pair: 'Opaque', secret: 'Opaque', raw: 'Opaque', mails: '[String]', shout: '[String]',
    }); // biome-ignore format: a table of types
    expect(await typesOf(shop, 'ItemFilter')).toMatchObject({
      mail: 'StringFilter', quantity: 'IntFilter', fit: 'SizeFilter', tags: 'StringListFilter', counts: 'BigIntListFilter', raw: 'OpaqueFilter',
      mails: 'StringListFilter',
    }); // biome-ignore format: a table of types
    expect(await typesOf(shop, 'ItemInsertInput')).toMatchObject({
      mail: 'String',
      work: 'String',
      tags: '[String]',
      doc: 'JSON',
    });
    expect(await typesOf(shop, 'ItemFilter')).toHaveProperty('doc', 'JSONFilter');
    expect(await typesOf(shop, 'ItemSumAggregateResult')).toEqual({
      id: 'BigInt',
      quantity: 'BigInt',
      big: 'BigInt',
      amount: 'BigFloat',
    });
    expect(await typesOf(shop, 'PersonInsertInput')).toEqual({
      mail: 'String',
      boss: 'String',
      person: 'PersonNestedInsertOne',
      personCollection: 'PersonNestedInsert',
    });
  });

  test('a column of a domain is null in a view where its table never has a null', async () => {
    expect(await typesOf(shop, 'Worker')).toMatchObject({ work: 'String' });
  });

  test('a column of a domain is opaque without the extension', async () => {
    const types = await typesOf(plain, 'Item');
    expect(types).toMatchObject({
      mail: 'Opaque',
      work: 'Opaque',
      quantity: 'Opaque',
      fit: 'Opaque',
      mails: '[Opaque]',
    });
    for (const name of ['tags', 'counts', 'codes', 'shout']) expect(types).not.toHaveProperty(name);
    expect(await typesOf(plain, 'ItemSumAggregateResult')).toEqual({ id: 'BigInt' });
    expect(await plain.errors('anon', '{ joined(given: ["a"]) }')).not.toEqual([]);
  });

  test('a column of a domain is answered as its type is', async () => {
    const fields =
      'mail work nick quantity big amount code padded letter flag born at ref doc fit tags counts codes address pair secret raw mails shout';
    const expected = {
      mail: 'a@x', work: 'w@x', nick: 'Ann', quantity: 5, big: '9007199254740993', amount: '1.50', code: 'abc', padded: 'ab  ', letter: 'q', flag: true,
      born: '2024-05-01', at: '2024-05-01T10:00:00+00:00', ref: '00000000-0000-0000-0000-00000000000a', doc: '{"n": 12345678901234567890.5}', fit: 'large',
      tags: ['a', 'b'], counts: ['9007199254740993'], codes: ['abc'], address: '10.0.0.1', pair: { a: 1, b: 2 }, secret: 'high', raw: 'raw',
      mails: ['a@x', 'b@x'], shout: ['A@X'],
    }; // biome-ignore format: a table of values
    expect((await ask(`{ itemByPk(id: 1) { ${fields} } }`)).itemByPk).toEqual(expected);
    expect(
      (await ask(`{ itemCollection(first: 1) { edges { node { ${fields} } } } }`)).itemCollection.edges[0].node,
    ).toEqual(expected);
    expect(
      (await ask(`{ itemCollection(first: 1) { edges { cursor node { ${fields} } } } }`)).itemCollection.edges[0].node,
    ).toEqual(expected);
  });

  test.each([
    ['mail: {startsWith: "a"}', [1]],
    ['mail: {in: ["b@x", "nobody"]}', [2]],
    ['mail: {eq: "no email"}', []],
    ['mail: {neq: "no email"}', [1, 2]],
    ['mail: {ilike: "A@%"}', [1]],
    ['mail: {regex: "^b"}', [2]],
    ['work: {eq: null}', []],
    ['nick: {eq: "ANN"}', [1]],
    ['nick: {in: ["BEN"]}', [2]],
    ['nick: {ilike: "be%"}', [2]],
    ['quantity: {gt: 5}', [2]],
    ['quantity: {gt: -1}', [1, 2]],
    ['big: {eq: "9007199254740993"}', [1]],
    ['amount: {lte: "1.50"}', [1]],
    ['code: {gte: "b"}', [2]],
    ['padded: {eq: "ab"}', [1]],
    ['padded: {startsWith: "ab "}', [1]],
    ['letter: {eq: "r"}', [2]],
    ['flag: {eq: true}', [1]],
    ['born: {lt: "2024-05-02"}', [1]],
    ['at: {gte: "2024-05-02T10:00:00Z"}', [2]],
    ['ref: {in: ["00000000-0000-0000-0000-00000000000b"]}', [2]],
    ['fit: {eq: large}', [1]],
    ['fit: {in: [small]}', [2]],
    ['tags: {contains: ["a"]}', [1]],
    ['tags: {overlaps: ["b", "c", "d", "e", "f"]}', [1, 2]],
    ['counts: {eq: ["1", "2"]}', [2]],
    ['codes: {containedBy: ["abc", "d"]}', [1]],
    ['mails: {contains: ["a@x"]}', [1]],
    ['address: {eq: "10.0.0.1"}', [1]],
    ['raw: {eq: "raw"}', [1]],
    ['doc: {is: NULL}', [3]],
    ['doc: {contains: "{}"}', [1]],
  ] as const)('a column of a domain is found by %s', async (filter, expected) => {
    expect(await ids(filter)).toEqual(expected);
  });

  test.each(['mail', 'nick', 'quantity', 'amount', 'code', 'letter', 'born', 'at', 'fit', 'flag'])(
    'a column of a domain orders and pages by %s, each row once',
    async (field) => {
      const met: number[] = [];
      for (let after = ''; ; ) {
        const query = `{ itemCollection(first: 1, orderBy: [{${field}: AscNullsFirst}]${after}) { edges { cursor node { id } } pageInfo { hasNextPage endCursor } } }`;
        const { edges, pageInfo } = (await ask(query)).itemCollection;
        for (const { node } of edges) met.push(node.id);
        if (!pageInfo.hasNextPage) break;
        after = `, after: "${pageInfo.endCursor}"`;
      }
      expect(met).toHaveLength(3);
      expect(met[0]).toBe(3);
    },
  );

  test('a column of a domain is summed and compared', async () => {
    const query = `{ itemCollection { totalCount aggregate { sum { quantity big amount } avg { quantity } min { mail born letter } max { nick flag amount } } } }`;
    expect((await ask(query)).itemCollection.aggregate).toEqual({
      sum: { quantity: 12, big: 9007199254740996, amount: 3.75 },
      avg: { quantity: 6 },
      min: { mail: 'a@x', born: '2024-05-01', letter: 'q' },
      max: { nick: 'ben', flag: true, amount: 2.25 },
    });
  });

  test('a column of a domain is the key of rows, of relationships and of node ids', async () => {
    const query =
      '{ personCollection { edges { node { nodeId mail person { mail } personCollection { edges { node { mail } } } } } } }';
    const [a, b] = (await ask(query)).personCollection.edges;
    expect(a.node).toMatchObject({
      mail: 'a@x',
      person: null,
      personCollection: { edges: [{ node: { mail: 'b@x' } }] },
    });
    expect(
      (await ask(`{ node(nodeId: "${b.node.nodeId}") { nodeId ... on Person { mail person { mail } } } }`)).node,
    ).toMatchObject({
      mail: 'b@x',
      person: { mail: 'a@x' },
    });
  });

  test('a column of a domain is written as its type is, and the database checks what is written', async () => {
    const insert =
      'mutation ($o: [ItemInsertInput!]!) { insertIntoItemCollection(objects: $o) { records { id mail quantity fit tags doc codes } } }';
    const row = {
      id: 9,
      mail: 'z@x',
      work: 'z@x',
      quantity: 3,
      fit: 'small',
      tags: ['x', 'y'],
      doc: '{"a": [1]}',
      codes: ['abc'],
    };
    const { work: _, ...records } = { ...row, doc: '{"a": [1]}' };
    const written = await ask(insert, { o: [row] });
    expect(written.insertIntoItemCollection.records).toEqual([records]);
    const bad = await shop.run('anon', insert, { variables: { o: [{ ...row, id: 10, mail: 'no email' }] } });
    expect(bad.errors[0]).toMatchObject({
      message: 'value for domain email violates check constraint "email_check"',
      extensions: { code: 'CONSTRAINT_VIOLATION', constraint: 'email_check' },
    });
    const long = await shop.errors('anon', insert, { variables: { o: [{ ...row, id: 10, codes: ['abcd'] }] } });
    expect(long).toEqual(['Invalid input for String type. Maximum character length 3']);
    const update =
      'mutation { updateItemCollection(set: {tags: ["1", "2", "3", "4"]}, filter: {id: {eq: 9}}) { affectedCount } }';
    expect(await shop.errors('anon', update)).toEqual(['value for domain tags violates check constraint "tags_check"']);
    expect(await database.query('select tags from shop.item where id >= 9')).toEqual([{ tags: ['x', 'y'] }]);
    await ask('mutation { deleteFromItemCollection(filter: {mail: {eq: "z@x"}}) { affectedCount } }');
    expect(await database.query('select id from shop.item where id >= 9')).toEqual([]);
  });

  test('a column of a domain is an argument and a result of functions', async () => {
    expect(
      await ask('query ($n: Int!) { doubleOf(given: $n) joined(given: ["a", "b"]) split(given: "x-y") }', { n: 4 }),
    ).toEqual({
      doubleOf: 8,
      joined: 'a-b',
      split: ['x', 'y'],
    });
    expect(await shop.errors('anon', '{ doubleOf(given: -1) }')).toEqual([
      'value for domain quantity violates check constraint "quantity_check"',
    ]);
  });

  test('a column of a domain has variables of its type', async () => {
    const query =
      'query ($m: String, $q: Int, $f: Size, $t: [String!]) { itemCollection(filter: {mail: {eq: $m}, quantity: {gte: $q}, fit: {eq: $f}, tags: {contains: $t}}) { edges { node { id } } } }';
    const { itemCollection } = await ask(query, { m: 'a@x', q: 0, f: 'large', t: ['a'] });
    expect(itemCollection.edges).toEqual([{ node: { id: 1 } }]);
  });
});

describe('a key of domains', async () => {
  await database.query(`
    create schema keys; grant usage on schema keys to anon;
    create domain keys.number as bigint check (value > 0); create domain keys.code as varchar(3); create domain keys.raw as int;
    comment on domain keys.raw is '@graphql({"opaque": true})';
    create table keys.parcel (number keys.number, part int, line text, primary key (number, part));
    insert into keys.parcel values (9007199254740993, 1, 'one'), (2, 1, 'two');
    create table keys.crate (code keys.code primary key); create table keys.box (raw keys.raw primary key);
    create table keys.taken (number keys.number primary key);
    create function keys."takenByPk"(number bigint) returns text stable language sql as $$ select 'the function' $$;
    create table keys.twin (number keys.number primary key); create table keys."Twin" (id int primary key);
    insert into keys.twin values (1); insert into keys."Twin" values (7);
    grant select on all tables in schema keys to anon;
  `);
  const [all, none] = await Promise.all([
    startExecution(database, { schemas: ['keys'] }),
    startExecution(database, { schemas: ['keys'], extensions: [] }),
  ]);
  const error = async (execution: typeof all, query: string) =>
    (await execution.run('anon', query)).errors?.[0]?.message;

  test('a key of domains has the lookup of the types that they stand on, with their values', async () => {
    const query = 'query ($number: BigInt!) { parcelByPk(number: $number, part: 1) { number line } }';
    expect(await all.data('anon', query, { variables: { number: '9007199254740993' } })).toEqual({
      parcelByPk: { number: '9007199254740993', line: 'one' },
    });
    // The domain refuses the value, so no row has it.
    expect(await all.data('anon', '{ parcelByPk(number: -1, part: 1) { line } }')).toEqual({ parcelByPk: null });
  });

  test('a key of domains has none where the type has none, or stays opaque', async () => {
    for (const field of ['crateByPk(code: "a") { code }', 'boxByPk(raw: 1) { raw }']) {
      expect(await error(all, `{ ${field} }`)).toContain('Cannot query field');
    }
    expect(await error(none, '{ parcelByPk(number: 2, part: 1) { line } }')).toContain('Cannot query field');
  });

  test('a key of domains takes no name that something else has without the extension', async () => {
    const query = '{ takenByPk(number: 1) twinByPk(id: 7) { id } }';
    const answer = { takenByPk: 'the function', twinByPk: { id: 7 } };
    expect(await none.data('anon', query)).toEqual(answer);
    expect(await all.data('anon', query)).toEqual(answer);
  });
});
