/**
 * Injection through every name, comment, default and value: the answer is right, and the table that each attack tries to
 * drop is still there.
 */
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type TestGateway, testGateway } from '../support/gateway.ts';
import { operation, token } from '../support/http.ts';
import { createDatabase, fixture, type TestDatabase } from '../support/postgres.ts';
import { atEnd } from '../support/when-over.ts';
import { expectNothingLeaked, post } from './attack.ts';

const hostileSchema = 's"; drop table victim; --';
let database: TestDatabase;
let gateway: TestGateway;
beforeAll(async () => {
  database = await createDatabase(fixture('attack-names.sql'));
  const schemas = ['public', hostileSchema];
  gateway = await testGateway(database, { schemaPollMs: 600_000, schemas, introspection: 'always' }, atEnd);
});
afterEach(async () => {
  expect(await database.query('select id, body from victim')).toEqual([{ id: 1, body: 'still here' }]);
  expect(gateway.observations.filter(({ kind }) => kind === 'masked_error')).toEqual([]);
});

const payloads = [
  `'; drop table victim; --`,
  `"; drop table victim; --`,
  `\\'; drop table victim; --`,
  `$$; drop table victim; $$`,
  `$1`,
  `%s%I%L`,
  `'||(select body from victim)||'`,
  `1); drop table victim; --`,
  `*/ drop table victim; /*`,
  `E'\\047; drop table victim; --`,
  `{"a": "'; drop table victim; --"}`,
  `{a,"b"}`,
  `pgreflect:too_large:1`,
  `pgreflect:at_most:1`,
  `pgreflect:stale:1`,
  `\u2019; drop table victim; --`,
  `\n\r\t\u0001\u007f\u2028`,
];

describe('names of the database', () => {
  test('that end an identifier, a string or a statement are read, written, filtered, ordered and called', async () => {
    const { body } = await gateway.ask(`mutation {
      insertIntoOddCollection(objects: [{key: 1, mood: INJECTED, multibyte: "n"}, {key: 2, dollars: "two", parentKey: 1, mood: BACK, multibyte: "m", longest: "l"}]) {
        affectedCount records { key dollars backslash placeholders mood computed nodeId parent { key } }
      }
      updateOddCollection(set: {dollars: "changed", mood: DOLLARS}, filter: {key: {eq: 1}, mood: {in: [INJECTED, ok]}}) { affectedCount records { dollars mood } }
    }`);
    expect(body.errors).toBeUndefined();
    expect(body.data.insertIntoOddCollection.records).toMatchObject([
      { key: 1, dollars: "it's; drop table victim; --", backslash: "\\'; drop table victim; --", placeholders: '$1', mood: 'INJECTED', computed: 'computed 1', parent: null },
      { key: 2, dollars: 'two', mood: 'BACK', parent: null },
    ]); // biome-ignore format: a table
    expect(body.data.updateOddCollection).toEqual({
      affectedCount: 1,
      records: [{ dollars: 'changed', mood: 'DOLLARS' }],
    });
    const read = await gateway.ask(
      `query ($id: ID!) {
        oddCollection(filter: {or: [{dollars: {like: "%"}}, {longest: {eq: "l"}}]}, orderBy: [{multibyte: AscNullsLast}, {placeholders: DescNullsLast}], first: 1) {
          totalCount pageInfo { endCursor }
          edges { cursor node { key select multibyte longest children { edges { node { key } } } parent { key } } }
          aggregate { count max { key dollars } }
        }
        oddByPk(key: 2) { parent { key computed children(filter: {key: {gt: 0}}) { totalCount } } }
        node(nodeId: $id) { nodeId ... on Odd { key } }
        shout again: shout(b: "'; drop table victim; --")
      }`,
      { variables: { id: body.data.insertIntoOddCollection.records[1].nodeId } },
    );
    expect(read.body.errors).toBeUndefined();
    expect(read.body.data).toMatchObject({
      oddCollection: {
        totalCount: 2,
        edges: [{ node: { key: 2, select: null, multibyte: 'm', longest: 'l', parent: { key: 1 } } }],
        aggregate: { count: 2, max: { key: 2 } },
      },
      oddByPk: { parent: { key: 1, computed: 'computed 1', children: { totalCount: 1 } } },
      node: { key: 2 },
      shout: "d'; --|$$; drop table victim; --",
      again: "d'; --|'; drop table victim; --",
    });
    const { pageInfo } = read.body.data.oddCollection;
    const next = await gateway.ask(
      `query ($c: Cursor) { oddCollection(after: $c, orderBy: [{multibyte: AscNullsLast}, {placeholders: DescNullsLast}]) { edges { node { key } } } }`,
      { variables: { c: pageInfo.endCursor } },
    );
    expect(next.body.data.oddCollection.edges).toEqual([{ node: { key: 1 } }]);
    const gone = await gateway.ask('mutation { deleteFromOddCollection(atMost: 5) { affectedCount } }');
    expect(gone.body).toEqual({ data: { deleteFromOddCollection: { affectedCount: 2 } } });
  });

  test('of constraints come back in messages as PostgreSQL writes them, and nothing more', async () => {
    const query = 'mutation { insertIntoOddCollection(objects: [{key: 7, dollars: "forbidden"}]) { affectedCount } }';
    const { body } = await gateway.ask(query);
    expect(body.errors[0].extensions).toMatchObject({ code: 'CONSTRAINT_VIOLATION', sqlstate: '23514' });
    expect(JSON.stringify(body)).not.toContain('forbidden');
  });

  test('in descriptions stay descriptions', async () => {
    const { body } = await gateway.ask('{ __type(name: "Odd") { description fields { name description } } }');
    expect(body.data.__type.description).toBe(`""" } type Evil { x: Int } ' ; drop table victim; --`);
    expect((await gateway.ask('{ __type(name: "Evil") { name } }')).body).toEqual({ data: { __type: null } });
  });

  test('that are words of SQL or could be aliases of ours mean the columns', async () => {
    const columns = ['t', 'x', 'v', 'd', 'n', 'e', 'k', 'o', 'r', 'c', 's', 'p', 'data', 'node', 'json', 'row_number', 'ordinality', 'value', 'user',
      'order', 'group', 'limit', 'null', 'true', 'ctid_', 'new', 'old', 'excluded', 'default', 'q1', 't1', 'c1', 'n1', 'x1', 'a0', 'f0', 'e0']; // biome-ignore format: a list
    const set = columns.map((name) => `${name}: "${name}!"`).join(', ');
    const filter = columns.map((name) => `${name}: {eq: "${name}"}`).join(', ');
    const order = columns.map((name) => `{${name}: DescNullsFirst}`).join(', ');
    const read = await gateway.ask(
      `{ wordsCollection(filter: {${filter}}, orderBy: [${order}, {id: DescNullsLast}]) { totalCount edges { cursor node { id ${columns.join(' ')} } } aggregate { count min { ${columns.join(' ')} } } } }`,
    );
    expect(read.body.errors).toBeUndefined();
    const expected = Object.fromEntries(columns.map((name) => [name, name]));
    expect(read.body.data.wordsCollection.edges.map((edge: { node: object }) => edge.node)).toEqual([
      { id: 2, ...expected },
      { id: 1, ...expected },
    ]);
    expect(read.body.data.wordsCollection.aggregate.min).toEqual(expected);
    const cursor = read.body.data.wordsCollection.edges[0].cursor;
    const next = await gateway.ask(
      `query ($c: Cursor) { wordsCollection(after: $c, orderBy: [${order}, {id: DescNullsLast}]) { edges { node { id } } } }`,
      { variables: { c: cursor } },
    );
    expect(next.body.data.wordsCollection.edges).toEqual([{ node: { id: 1 } }]);
    const write = await gateway.ask(`mutation {
      updatewordsCollection(set: {${set}}, filter: {id: {eq: 1}}) { records { ${columns.join(' ')} } }
      insertIntowordsCollection(objects: [{id: 3, ${set}}, {id: 4}]) { records { id ${columns.join(' ')} } }
      deleteFromwordsCollection(filter: {id: {gt: 2}}, atMost: 2) { affectedCount records { ${columns.join(' ')} } }
    }`);
    expect(write.body.errors).toBeUndefined();
    const changed = Object.fromEntries(columns.map((name) => [name, `${name}!`]));
    expect(write.body.data.updatewordsCollection.records).toEqual([changed]);
    expect(write.body.data.insertIntowordsCollection.records[0]).toEqual({ id: 3, ...changed });
    await database.query('update words set (t, x) = row (t, x)');
  });

  test('of a table that is called like a word of SQL', async () => {
    const { body } = await gateway.ask(
      '{ selectCollection { edges { node { id from where select { from } selectCollection { edges { node { from } } } } } } }',
    );
    expect(body.errors).toBeUndefined();
    expect(body.data.selectCollection.edges[1].node).toMatchObject({
      id: 2,
      from: 'there',
      where: 1,
      select: { from: 'here' },
    });
  });
});

describe('values', () => {
  test.each(payloads)('%j is data wherever a value may stand', async (payload) => {
    const variables = { s: payload, l: [payload], k: 100 };
    const { body } = await gateway.ask(
      `mutation ($s: String!, $k: Int!) {
        insertIntoOddCollection(objects: [{key: $k, dollars: $s, select: $s}]) { records { dollars } }
        updateOddCollection(set: {multibyte: $s}, filter: {dollars: {eq: $s}}, atMost: 1) { records { multibyte select } }
      }`,
      { variables },
    );
    expect(body).toEqual({
      data: {
        insertIntoOddCollection: { records: [{ dollars: payload }] },
        updateOddCollection: { records: [{ multibyte: payload, select: payload }] },
      },
    });
    const literal = JSON.stringify(payload).replaceAll('\u007f', '\\u007f').replaceAll('\u2028', '\\u2028');
    const read = await gateway.ask(
      `query ($s: String!, $l: [String!]) {
        a: oddCollection(filter: {dollars: {eq: $s, in: $l}}, orderBy: [{select: AscNullsLast}]) { edges { cursor node { select } } }
        b: oddCollection(filter: {select: {eq: ${literal}, in: [${literal}], gte: ${literal}}}) { totalCount }
        shout(select: $s, b: ${literal})
        c: oddCollection(filter: {dollars: {startsWith: $s}}) { totalCount }
      }`,
      { variables },
    );
    expect(read.body.errors).toBeUndefined();
    expect(read.body.data).toMatchObject({
      a: { edges: [{ node: { select: payload } }] },
      b: { totalCount: 1 },
      c: { totalCount: 1 },
      shout: `${payload}|${payload}`,
    });
    const after = await gateway.ask(
      'query ($c: Cursor) { oddCollection(before: $c, last: 1, orderBy: [{select: AscNullsLast}]) { edges { node { key } } } }',
      { variables: { c: read.body.data.a.edges[0].cursor } },
    );
    expect(after.body).toEqual({ data: { oddCollection: { edges: [] } } });
    await database.query(`delete from "${hostileSchema.replace('"', '""')}"."t""'; drop table victim; --"`);
  });

  test.each(payloads)('%j in a cursor, a node id or an operation name is data or refused', async (payload) => {
    const encoded = Buffer.from(JSON.stringify([hostileSchema, `t"'; drop table victim; --`, payload])).toString(
      'base64',
    );
    const cursor = Buffer.from(JSON.stringify([payload])).toString('base64');
    for (const value of [payload, encoded, cursor]) {
      const node = await gateway.ask('query ($id: ID!) { node(nodeId: $id) { nodeId } }', { variables: { id: value } });
      const page = await gateway.ask(
        'query ($c: Cursor) { wordsCollection(after: $c, orderBy: [{t: AscNullsLast}]) { edges { node { id } } } }',
        { variables: { c: value } },
      );
      for (const { body } of [node, page]) {
        // A marker of ours in a value changes the wording of its sender's own error, and nothing else.
        const code = payload.includes('too_large') ? /^(BAD_USER_INPUT|LIMIT_EXCEEDED)$/ : /^BAD_USER_INPUT$/;
        for (const error of body.errors ?? []) expect(error.extensions.code).toMatch(code);
        expectNothingLeaked(JSON.stringify(body).replaceAll(JSON.stringify(payload).slice(1, -1), ''));
      }
    }
    const named = await post(gateway, operation('query a { __typename }', { operationName: payload }));
    expect(named.body.errors[0].extensions.code).toBe('OPERATION_NOT_FOUND');
  });
});

describe('what a transaction is told of the caller', () => {
  beforeAll(async () => {
    await database.query(`
      grant usage on schema public to authenticated;
      create function claim() returns text stable language sql as
        $$ select current_setting('request.jwt.claims')::json ->> 'sub' $$;
      create function header() returns text stable language sql as
        $$ select current_setting('request.headers')::json ->> 'x-attack' $$;`);
    await gateway.reload();
  });

  test.each(payloads)('%j in claims and headers arrives as it is', async (payload) => {
    const printable = payload.replace(/[^\x20-\x7e]/g, '');
    const headers = {
      authorization: `Bearer ${await token({ role: 'authenticated', sub: payload, [payload]: payload })}`,
      'x-attack': printable,
      'user-agent': printable || 'none',
    };
    const { body } = await gateway.ask('{ claim header }', { headers });
    expect(body).toEqual({ data: { claim: payload, header: printable.trim() } });
  });
});
