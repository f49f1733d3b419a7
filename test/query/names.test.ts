/**
 * Names that meet ours in the SQL text: aliases of the request, tables and columns of the database.
 */
import { describe, expect, test } from 'vitest';
import { openReader } from './reader.ts';

// Every name that the printers hand out, as a column; and a table and a column that try to leave their quotes.
const prefixes = ['t', 'o', 'p', 'g', 'q', 'f', 's', 'd', 'v', 'n', 'm', 'c', 'a', 'x'];
const ours = [
  ...prefixes.flatMap((prefix) => Array.from({ length: 12 }, (_, index) => `${prefix}${index}`)),
  'j',
  'r',
  't',
  'd',
  'v',
  'n',
  'm',
  'e',
  'u',
];
const hostile = `
  create schema lib; grant usage on schema lib to anon;
  create table lib.mimic (id int primary key, parent_id int references lib.mimic (id), ${ours.map((name) => `"${name}" text default '${name}!'`).join(', ')});
  comment on table lib.mimic is '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}})';
  insert into lib.mimic (id, parent_id) values (1, null), (2, 1), (3, 1);
  create function lib.whole(lib.mimic) returns text stable language sql as 'select $1.t1 || $1.id';
  create function lib.twins(lib.mimic) returns setof lib.mimic stable language sql as 'select * from lib.mimic';
  create function lib.twin(lib.mimic) returns lib.mimic stable language sql as 'select * from lib.mimic where id = $1.id';
  create function lib.mimics() returns setof lib.mimic stable language sql as 'select * from lib.mimic';
  create function lib.first_mimic() returns lib.mimic stable language sql as 'select * from lib.mimic where id = 1';
  create table lib."ta""ble; --" (id int primary key, "col""; drop table lib.mimic; --" text, "back\\slash" text, "x''y" text);
  comment on table lib."ta""ble; --" is '@graphql({"name": "Weird"})';
  comment on column lib."ta""ble; --"."col""; drop table lib.mimic; --" is '@graphql({"name": "weird"})';
  comment on column lib."ta""ble; --"."back\\slash" is '@graphql({"name": "slash"})';
  comment on column lib."ta""ble; --"."x''y" is '@graphql({"name": "quote"})';
  insert into lib."ta""ble; --" values (1, 'a', 'b', 'c');
  create table lib.logic (id int primary key, "and" int, "or" int, "not" int, "nodeId" text, "order" int, "first" int, "Upper" int);
  insert into lib.logic values (1, 1, 1, 1, 'own', 1, 1, 1), (2, 2, 2, 2, 'own', 2, 2, 2);
  grant select on all tables in schema lib to anon;`;
const { ask, run, text } = await openReader([hostile]);

describe('a column named like an alias of the generated SQL', () => {
  test('a column named like an alias of the generated SQL is read as a column, at every place', async () => {
    const fields = ours.join(' ');
    const expected = Object.fromEntries(ours.map((name) => [name, `${name}!`]));
    const data = await ask(`{
      mimicByPk(id: 1) { ${fields} whole }
      mimicCollection(last: 1) { edges { node { ${fields} whole mimic { whole ${fields} } twin { t1 } } } pageInfo { endCursor } }
      mimics { edges { node { ${fields} whole } } }
      first_mimic { ${fields} whole mimicCollection { totalCount edges { node { o1 twins { edges { node { id whole } } } } } } }
    }`);
    expect(data.mimicByPk).toEqual({ ...expected, whole: 't1!1' });
    const node = data.mimicCollection.edges[0].node;
    expect(node).toEqual({ ...expected, whole: 't1!3', mimic: { ...expected, whole: 't1!1' }, twin: { t1: 't1!' } });
    expect(data.mimics.edges.map((edge: typeof data) => edge.node)).toEqual([
      { ...expected, whole: 't1!1' },
      { ...expected, whole: 't1!2' },
      { ...expected, whole: 't1!3' },
    ]);
    expect(data.first_mimic).toMatchObject({ ...expected, whole: 't1!1' });
    expect(data.first_mimic.mimicCollection.totalCount).toBe(2);
    expect(data.first_mimic.mimicCollection.edges[0].node.twins.edges).toHaveLength(3);
  });

  test('a column named like an alias of the generated SQL is filtered, ordered and aggregated as a column', async () => {
    const data =
      await ask(`{ mimicCollection(filter: {t1: {eq: "t1!"}, n: {is: NOT_NULL}}, orderBy: [{o1: AscNullsLast}, {id: DescNullsLast}]) {
      edges { cursor node { id } } totalCount aggregate { count min { n n0 t1 o1 g1 } max { g2 } } } }`);
    expect(data.mimicCollection).toMatchObject({
      totalCount: 3,
      aggregate: { count: 3, min: { n: 'n!', n0: 'n0!', t1: 't1!', o1: 'o1!', g1: 'g1!' }, max: { g2: 'g2!' } },
    });
    expect(data.mimicCollection.edges.map((edge: typeof data) => edge.node.id)).toEqual([3, 2, 1]);
  });
});

describe('an alias of the request', () => {
  test('an alias of the request may be any alias of the generated SQL, at every level', async () => {
    for (const name of ours) {
      const key = (rest: string) => `${name}: ${rest}`;
      const inner = `{ ${key('mimic')} { ${key('id')} } ${name}x: id }`;
      const data = await ask(`{
        ${key(`mimicCollection(first: 1, orderBy: {id: DescNullsLast})`)} {
          ${key('edges')} { ${key('node')} ${inner} ${name}x: cursor }
          ${name}x: pageInfo { ${key('endCursor')} }
          ${name}y: aggregate { ${key('max')} { ${key('id')} } ${name}x: count }
          ${name}z: totalCount
        }
        ${name}x: mimicByPk(id: 2) { ${key('mimic')} { ${key('whole')} ${name}x: twin { ${key('id')} } } }
      }`);
      expect(data[name]).toEqual({
        [name]: [{ [name]: { [name]: { [name]: 1 }, [`${name}x`]: 3 }, [`${name}x`]: 'WzMsIDNd' }],
        [`${name}x`]: { [name]: 'WzMsIDNd' },
        [`${name}y`]: { [name]: { [name]: 3 }, [`${name}x`]: 3 },
        [`${name}z`]: 3,
      });
      expect(data[`${name}x`]).toEqual({ [name]: { [name]: 't1!1', [`${name}x`]: { [name]: 1 } } });
    }
  });

  test('an alias of the request may be longer than PostgreSQL allows a name, at every level', async () => {
    const long = (mark: string) => `${'very_long_'.repeat(10)}${mark}`;
    const data = await ask(`{
      ${long('a')}: mimicCollection(first: 1) {
        ${long('b')}: edges { ${long('c')}: cursor ${long('d')}: node {
          ${long('e')}: id ${long('f')}: mimicCollection { ${long('g')}: totalCount ${long('h')}: edges { ${long('i')}: node { ${long('j')}: id } } }
          ${long('k')}: mimic { id } } }
        ${long('l')}: pageInfo { ${long('m')}: hasNextPage ${long('n')}: endCursor }
        ${long('o')}: aggregate { ${long('p')}: count ${long('q')}: max { ${long('r')}: id ${long('s')}: t1 } }
      }
      ${long('t')}: mimicByPk(id: 2) { ${long('u')}: mimic { ${long('v')}: id } }
      ${long('w')}: __typename
    }`);
    const node = { [long('i')]: { [long('j')]: 2 } };
    expect(data).toEqual({
      [long('a')]: {
        [long('b')]: [
          {
            [long('c')]: 'WzFd',
            [long('d')]: {
              [long('e')]: 1,
              [long('f')]: { [long('g')]: 2, [long('h')]: [node, { [long('i')]: { [long('j')]: 3 } }] },
              [long('k')]: null,
            },
          },
        ],
        [long('l')]: { [long('m')]: true, [long('n')]: 'WzFd' },
        [long('o')]: { [long('p')]: 3, [long('q')]: { [long('r')]: 3, [long('s')]: 't1!' } },
      },
      [long('t')]: { [long('u')]: { [long('v')]: 1 } },
      [long('w')]: 'Query',
    });
  });

  test('an alias of the request may be long where an object has more than fifty members', async () => {
    const keys = Array.from({ length: 120 }, (_, index) => `${'k'.repeat(70)}${index}`);
    const { mimicByPk } = await ask(`{ mimicByPk(id: 1) { ${keys.map((key) => `${key}: id`).join(' ')} } }`);
    expect(mimicByPk).toEqual(Object.fromEntries(keys.map((key) => [key, 1])));
  });

  test('an alias of the request may be __proto__, for data, meta fields and type names', async () => {
    const proto = (body: unknown) => Object.entries((body as { data: object }).data);
    expect(proto(await run('{ __proto__: mimicByPk(id: 1) { __proto__: id } }'))).toEqual([
      ['__proto__', JSON.parse('{"__proto__": 1}')],
    ]);
    expect(proto(await run('{ __proto__: __typename }'))).toEqual([['__proto__', 'Query']]);
    const meta = await openReader(['query-library.sql']);
    const body = await meta.run('{ __proto__: __type(name: "Volume") { __proto__: name } }');
    expect(proto(body)).toEqual([['__proto__', JSON.parse('{"__proto__": "Volume"}')]]);
    const both = await meta.run(
      '{ a: volumeByPk(shelfMark: "none") { title } __proto__: __type(name: "Volume") { constructor: name } }',
    );
    expect(JSON.stringify(both)).toBe('{"data":{"a":null,"__proto__":{"constructor":"Volume"}}}');
  });

  test('an alias of the request may be constructor', async () => {
    const body = await run('{ constructor: __typename mimicByPk(id: 1) { toString: id hasOwnProperty: t } }');
    expect(body.data).toEqual({ constructor: 'Query', mimicByPk: { toString: 1, hasOwnProperty: 't!' } });
  });
});

describe('a column named like a part of the API', () => {
  test('a column named like a part of the API takes the place of a boolean operator in filters', async () => {
    const data =
      await ask(`{ logicCollection(filter: {and: {gte: 1}, or: {eq: 2}, not: {in: [2, 3]}, order: {is: NOT_NULL}}, orderBy: [{first: DescNullsLast}, {Upper: AscNullsLast}]) {
      edges { node { id and or not order first Upper nodeId } } } }`);
    const { nodeId, ...rest } = data.logicCollection.edges[0].node;
    expect(rest).toEqual({ id: 2, and: 2, or: 2, not: 2, order: 2, first: 2, Upper: 2 });
    expect(Buffer.from(nodeId, 'base64').toString()).toBe('["lib", "logic", 2]');
  });
});

describe('a name with quotes in the database', () => {
  const query =
    '{ weirdCollection(filter: {weird: {eq: "a"}, slash: {startsWith: "b"}, quote: {in: ["c"]}}, orderBy: {weird: AscNullsLast}) { edges { node { weird slash quote nodeId } } } }';

  test('a name with quotes in the database stays inside its quotes', async () => {
    const data = await ask(query);
    const { nodeId, ...rest } = data.weirdCollection.edges[0].node;
    expect(rest).toEqual({ weird: 'a', slash: 'b', quote: 'c' });
    expect(Buffer.from(nodeId, 'base64').toString()).toBe('["lib", "ta\\"ble; --", 1]');
    expect((await ask(`{ node(nodeId: "${nodeId}") { ... on Weird { weird } } }`)).node).toEqual({ weird: 'a' });
    expect(await text(query)).toContain('"col""; drop table lib.mimic; --"');
    expect((await ask('{ mimicCollection { totalCount } }')).mimicCollection.totalCount).toBe(3);
  });
});
