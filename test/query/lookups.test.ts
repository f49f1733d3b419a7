/**
 * One row by its key, and by its node id.
 */
import { describe, expect, test } from 'vitest';
import { openReader } from './reader.ts';

const keys = `
  create table lib.small (id smallint primary key); insert into lib.small values (3);
  create table lib.uid (id uuid primary key); insert into lib.uid values ('00000000-0000-0000-0000-00000000000A');
  create table lib.ratio (id float primary key);
  create table lib.flag (id boolean primary key);
  create table lib.bytes (id bytea primary key);
  create table lib.varying (id varchar(5) primary key); insert into lib.varying values ('a');
  create table lib.keyless (id int);
  create table lib."We ird" ("Key" int primary key); insert into lib."We ird" values (7);
  comment on table lib."We ird" is '@graphql({"name": "Weird"})';
  create table lib.swapped (shelf text not null, seq int not null, primary key (seq, shelf)); insert into lib.swapped values ('a', 2);
  create view lib.loans as select patron_id as p, seq as s, state from lib.loan;
  comment on view lib.loans is '@graphql({"primary_key_columns": ["s", "p"]})';
  create table lib.hidden (id int primary key);
  grant select on lib.small, lib.uid, lib.ratio, lib.flag, lib.bytes, lib.varying, lib.keyless, lib."We ird", lib.swapped, lib.loans to anon;`;
const { ask, run, errors, database, execution } = await openReader(['query-library.sql', keys]);
const id = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');

describe('a lookup by key', () => {
  test.each([
    ['bigint as a string', 'patronByPk(id: "12") { v: fullName }', 'Eve'],
    ['bigint as an integer beyond 2^53', 'patronByPk(id: 9007199254740993) { v: fullName }', 'Big'],
    ['text', 'volumeByPk(shelfMark: "QA-9") { v: title }', 'Logic'],
    ['smallint', 'smallByPk(id: 3) { v: id }', 3],
    [
      'uuid in upper case',
      'uidByPk(id: "{00000000-0000-0000-0000-00000000000A}") { v: id }',
      '00000000-0000-0000-0000-00000000000a',
    ],
    ['a composite key', 'loanByPk(patronId: 12, shelfMark: "QA-76", seq: 1) { v: dueOn }', '2024-06-30'],
    ['a key of a view, in the order of its directive', 'loansByPk(s: 2, p: 1) { v: state }', 'lost'],
    ['a key declared in another order than its columns', 'swappedByPk(shelf: "a", seq: 2) { v: seq }', 2],
  ])('a lookup by key finds %s', async (_, selection, expected) => {
    expect(await ask(`{ found: ${selection} }`)).toEqual({ found: { v: expected } });
  });

  test('a lookup by key is null where no row matches, also when one part of the key is right', async () => {
    expect(
      await ask('{ patronByPk(id: 99) { id __typename } loanByPk(patronId: 12, shelfMark: "QA-76", seq: 9) { seq } }'),
    ).toEqual({ patronByPk: null, loanByPk: null });
  });

  test.each(['ratio', 'flag', 'bytes', 'varying'])(
    'a lookup by key is not offered for a %s key, but the collection is',
    async (name) => {
      expect(await errors(`{ ${name}ByPk(id: "1") { id } }`)).toHaveLength(1);
      expect(await ask(`{ ${name}Collection { edges { node { __typename } } } }`)).toBeDefined();
    },
  );

  test('a lookup by key is rejected without all parts of the key, and with a null part', async () => {
    for (const given of ['patronId: 12, seq: 1', 'patronId: null, shelfMark: "QA-76", seq: 1']) {
      const body = await run(`{ loanByPk(${given}) { seq } }`);
      expect(body).not.toHaveProperty('data');
      expect(body.errors).toHaveLength(1);
    }
  });

  test('a lookup by key takes variables and fragments', async () => {
    const query =
      'query ($p: BigInt!, $m: String!) { l: loanByPk(patronId: $p, shelfMark: $m, seq: 1) { ...f } } fragment f on Loan { patronId volume { title } }';
    expect(await ask(query, { p: '12', m: 'QA-76' })).toEqual({
      l: { patronId: '12', volume: { title: 'Computing' } },
    });
    expect(await ask(query, { p: 12, m: 'nope' })).toEqual({ l: null });
  });

  test('a lookup by key answers more than a hundred fields', async () => {
    const fields = Array.from({ length: 120 }, (_, index) => `f${index}: fullName`).join(' ');
    const { patronByPk } = await ask(`{ patronByPk(id: 1) { ${fields} } }`);
    expect(Object.keys(patronByPk)).toHaveLength(120);
    expect(patronByPk.f119).toBe('Ada');
  });

  test('a lookup by key gives one row where several have the key: of a view with a declared key, or with inheritance children', async () => {
    await database.query(`
      create table lib.parcel (id int primary key, label text);
      create table lib.crate () inherits (lib.parcel);
      insert into lib.parcel values (1, 'same');
      insert into lib.crate values (1, 'same');
      create view lib.parcel_view as select * from lib.parcel;
      comment on view lib.parcel_view is '@graphql({"primary_key_columns": ["id"]})';
      grant select on lib.parcel, lib.parcel_view to anon;
    `);
    await execution.reload();
    for (const base of ['parcel', 'parcelView']) {
      const { l } = await ask(`{ l: ${base}ByPk(id: 1) { nodeId label } }`);
      expect(l).toMatchObject({ label: 'same' });
      expect(await ask(`{ n: node(nodeId: "${l.nodeId}") { nodeId } }`)).toEqual({ n: { nodeId: l.nodeId } });
    }
  });

  test('a lookup by key does not exist for a table without a key', async () => {
    expect(await errors('{ keylessCollection { edges { cursor } } }')).toHaveLength(1);
  });
});

describe('a node id', () => {
  test.each([
    ['volumeByPk(shelfMark: "QA-76")', 'WyJsaWIiLCAidm9sdW1lIiwgIlFBLTc2Il0='],
    ['patronByPk(id: 12)', 'WyJsaWIiLCAicGF0cm9uIiwgMTJd'],
    ['loanByPk(patronId: 12, shelfMark: "QA-76", seq: 1)', 'WyJsaWIiLCAibG9hbiIsIDEyLCAiUUEtNzYiLCAxXQ=='],
  ])('of %s is its table and key, byte for byte', async (selection, expected) => {
    expect((await ask(`{ n: ${selection} { nodeId } }`)).n.nodeId).toBe(expected);
    expect((await ask(`{ node(nodeId: "${expected}") { nodeId } }`)).node.nodeId).toBe(expected);
  });

  test('a node id has no line breaks, however long it is', async () => {
    await database.query(`insert into lib.volume values (repeat('long-', 60), 'Long')`);
    const data = await ask('{ volumeCollection(filter: {title: {eq: "Long"}}) { edges { cursor node { nodeId } } } }');
    expect(data.volumeCollection.edges[0].node.nodeId).toMatch(/^[A-Za-z0-9+/]+=*$/);
    expect(data.volumeCollection.edges[0].cursor).toMatch(/^[A-Za-z0-9+/]+=*$/);
    await database.query(`delete from lib.volume where title = 'Long'`);
  });

  test('a node id finds its row, and only the fragments on its type apply', async () => {
    const query = `query ($id: ID!) { node(nodeId: $id) { __typename nodeId
      ... on Patron { name: fullName } ... on Volume { name: title } ... on Node { again: nodeId } ...l } }
      fragment l on Loan { fee volume { title } }`;
    const patron = id(['lib', 'patron', 12]);
    expect((await ask(query, { id: patron })).node).toMatchObject({ __typename: 'Patron', name: 'Eve' });
    expect((await ask(query, { id: id(['lib', 'volume', 'QA-9']) })).node).toMatchObject({ name: 'Logic' });
    expect((await ask(query, { id: id(['lib', 'loan', 12, 'QA-76', 1]) })).node).toMatchObject({
      fee: '3.00',
      volume: { title: 'Computing' },
    });
  });

  test('a node id finds a row whose table and key column need quotes', async () => {
    const data = await ask('{ WeirdCollection: weirdCollection { edges { node { nodeId } } } }');
    const { nodeId } = data.WeirdCollection.edges[0].node;
    expect(Buffer.from(nodeId, 'base64').toString()).toBe('["lib", "We ird", 7]');
    expect(await ask('query ($id: ID!) { node(nodeId: $id) { __typename nodeId } }', { id: nodeId })).toEqual({
      node: { __typename: 'Weird', nodeId },
    });
  });

  test('a node id has the columns of a key in the order of the table', async () => {
    const data = await ask('{ swappedCollection { edges { cursor node { nodeId } } } }');
    const [edge] = data.swappedCollection.edges;
    expect(Buffer.from(edge.cursor, 'base64').toString()).toBe('["a", 2]');
    expect(Buffer.from(edge.node.nodeId, 'base64').toString()).toBe('["lib", "swapped", "a", 2]');
  });

  test('a node id keeps all digits of a key beyond 2^53', async () => {
    const nodeId = Buffer.from('["lib", "patron", 9007199254740993]').toString('base64');
    const data = await ask('query ($id: ID!) { node(nodeId: $id) { nodeId ... on Patron { id fullName } } }', {
      id: nodeId,
    });
    expect(data).toEqual({ node: { nodeId, id: '9007199254740993', fullName: 'Big' } });
  });

  test('of no row answers null', async () => {
    expect(await ask(`{ node(nodeId: "${id(['lib', 'patron', 77])}") { nodeId } }`)).toEqual({ node: null });
  });

  test.each([
    ['an empty string', ''],
    ['no Base64', '%%%'],
    ['no JSON', id(0).slice(1)],
    ['an object', id({ lib: 'patron' })],
    ['too few elements', id(['lib', 'patron'])],
    ['too many keys', id(['lib', 'patron', 1, 2])],
    ['a table that the role cannot see', id(['lib', 'hidden', 1])],
    ['a table that does not exist', id(['lib', 'nonsense', 1])],
    ['a number instead of a name', id([1, 2, 3])],
    ['a key that is an object', id(['lib', 'patron', { a: 1 }])],
  ])('that is %s fails its field, in the document and in a variable', async (_, nodeId) => {
    const expected = { data: null, errors: [{ message: 'Invalid nodeId.', path: ['node'] }] };
    const literal = await run(`{ node(nodeId: "${nodeId}") { nodeId } }`);
    expect(literal).toMatchObject(expected);
    expect(await run('query ($id: ID!) { node(nodeId: $id) { nodeId } }', { id: nodeId })).toMatchObject(expected);
  });

  test('of a hidden table and one of no table fail with the same error', async () => {
    const of = (name: string) => errors(`{ node(nodeId: "${id(['lib', name, 1])}") { nodeId } }`);
    expect(await of('hidden')).toEqual(await of('nonsense'));
  });

  test('a node id must not be null', async () => {
    expect(await run('{ node(nodeId: null) { nodeId } }')).not.toHaveProperty('data');
  });
});
