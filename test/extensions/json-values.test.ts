/** JSON as values, in and out: `"json": "value"` in the comment of a schema (extension `reads`). */
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type Json, startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

const setUp = `
  create schema shop; create schema side; grant usage on schema shop, side to anon;
  comment on schema side is '@graphql({"inflect_names": true})';
  create domain shop.settings as jsonb check (value is null or jsonb_typeof(value) <> 'number');
  create table shop.item (id int primary key, data jsonb, old json, parts jsonb[], own shop.settings, note text);
  create table shop.piece (id int generated always as identity primary key, item_id int references shop.item, data jsonb);
  create table side.pile (id int primary key, data jsonb, note text);
  create function shop.made(i shop.item) returns jsonb stable language sql as $$ select jsonb_build_object('of', i.id, 'a', array[1, 2]) $$;
  create function shop.echo(given jsonb, old json default '{}') returns jsonb stable language sql as 'select jsonb_build_array(given, old)';
  create function shop.as_it_is() returns json stable language sql as $$ select '{"b" : 1,  "b": 2}'::json $$;
  create function shop.several() returns table (part jsonb, n int) stable language sql as $$ values ('{"x": 1}'::jsonb, 1), ('"text"', 2), ('null', 3) $$;
  create function shop.listed() returns jsonb[] stable language sql as $$ select array['{"x": 1}'::jsonb, '[2]', null] $$;
  grant select, insert, update, delete on all tables in schema shop, side to anon;
`;
const inMode = (mode: string) => `comment on schema shop is '@graphql({"inflect_names": true, "json": "${mode}"})';`;
const database = await createDatabase(setUp + inMode('value'));
const options = { schemas: ['shop', 'side'], introspection: 'always' } as const;
const execution = await startExecution(database, options);
const run = async (query: string, variables = {}) => execution.run('anon', query, { variables });
const text = async (query: string) => (await execution.answer('anon', query)).body.toString();

beforeEach(() =>
  database.query(`truncate shop.item, shop.piece, side.pile restart identity;
    insert into shop.item values (1, '{"a": {"b": [1, "x", null]}, "t": "\\"q\\""}', '{"z" : 1, "z" :2}', array['{"p": 1}'::jsonb, '2'], '{"dark": true}', 'n');
    insert into shop.piece (item_id, data) values (1, '[true]'); insert into side.pile values (1, '{"a": 1}')`),
);

describe('values that come out', () => {
  test('JSON of columns, domains, arrays and functions comes out as it is', async () => {
    const query = '{ itemCollection { nodes { data old parts own made pieceCollection { nodes { data } } } } }';
    const node = {
      data: { a: { b: [1, 'x', null] }, t: '"q"' },
      old: { z: 2 },
      parts: [{ p: 1 }, 2],
      own: { dark: true },
      made: { a: [1, 2], of: 1 },
    };
    expect((await run(query)).data.itemCollection.nodes).toEqual([
      { ...node, pieceCollection: { nodes: [{ data: [true] }] } },
    ]);
    expect((await run('{ itemCollection { nodes { data old parts own made } } }')).data.itemCollection.nodes).toEqual([
      node,
    ]);
    expect((await run('{ itemByPk(id: 1) { data own } }')).data.itemByPk).toEqual({ data: node.data, own: node.own });
    expect((await run('{ several { part n } listed asItIs }')).data).toEqual({
      several: [
        { part: { x: 1 }, n: 1 },
        { part: 'text', n: 2 },
        { part: null, n: 3 },
      ],
      listed: [{ x: 1 }, [2], null],
      asItIs: { b: 2 },
    });
  });

  test('parts at a path are JSON, too', async () => {
    const query =
      '{ itemCollection { nodes { whole: data(at: ["a"]) text: data(at: ["t"]) none: data(at: ["x"]) null: data(at: ["a", "b", "2"]) made(at: ["a"]) old(at: ["z"]) } } }';
    const part = { whole: { b: [1, 'x', null] }, text: '"q"', none: null, null: null, made: [1, 2], old: 2 };
    expect((await run(query)).data.itemCollection.nodes).toEqual([part]);
    const nested = query.replace('whole:', 'pieceCollection { totalCount: edges { cursor } } whole:');
    expect((await run(nested)).data.itemCollection.nodes).toEqual([expect.objectContaining(part)]);
    expect((await run('{ echo(given: "a", at: ["0"]) }')).data).toEqual({ echo: 'a' });
  });

  test('the text of PostgreSQL stands in the answer byte for byte', async () => {
    await database.query(`update shop.item set old = E'{"twice": 1, "twice" : 2,\\n "n": 1e400, "i": 123456789012345678901234567890, "u": "\\\\u0000\\\\ud83d", "e": "\\\\u00e9"}',
      data = '{"big": 123456789012345678901234567890.10, "exp": 1e40, "quote": "\\"\\\\\\\\/", "high": "é😀"}'`);
    const [row] = await database.query('select old::text as old, data::text as data from shop.item');
    const wanted = `"data":${row!.data},"old":${row!.old}}`;
    // Made by the gateway of a row, and by PostgreSQL with related rows.
    expect(await text('{ itemCollection { nodes { data old } } }')).toContain(`{${wanted}`);
    expect(await text('{ itemCollection { nodes { pieceCollection { nodes { id } } data old } } }')).toContain(wanted);
    expect(await text('{ itemByPk(id: 1) { data old } }')).toContain(`{${wanted}`);
    expect(await text('mutation { updateItemByPk(id: 1, set: {note: "x"}) { data old } }')).toContain(`{${wanted}`);
    expect(await text('{ asItIs }')).toContain('{"b" : 1,  "b": 2}');
  });
});

describe('values that go in', () => {
  const insert = 'mutation ($o: ItemInsertInput!) { insertItem(object: $o) { data old parts own } }';
  const values: readonly (readonly [string, unknown])[] = [
    ['object', { a: [1, 2.5, -0.25, 'x', null, true, { deep: {} }], 'odd key "\\': 'é😀' }],
    ['list', [1, [2, [3]], {}]],
    ['string', 'just text, "quoted"'],
    ['text of JSON', '{"a": 1}'],
    ['number', 5.5],
    ['boolean', false],
    ['__proto__', JSON.parse('{"__proto__": {"a": 1}, "constructor": 2, "toJSON": 3}')],
  ];

  test.each(values)('a variable with a value comes back as it was sent: %s', async (_, value) => {
    const { data, errors } = await run(insert, { o: { id: 2, data: value, old: value, parts: [value, null, value] } });
    expect(errors).toBeUndefined();
    expect(JSON.stringify(data.insertItem.old)).toBe(JSON.stringify(value));
    expect(data.insertItem).toMatchObject({ data: value, parts: [value, null, value] });
    const alone = await run('query ($v: JSON) { echo(given: $v, old: $v) }', { v: value });
    expect(alone.data.echo).toEqual([value, value]);
  });

  test('null is no value, as in all columns', async () => {
    const { data } = await run(insert, { o: { id: 2, data: null, own: { a: null } } });
    expect(data.insertItem).toMatchObject({ data: null, own: { a: null } });
    expect(await database.query('select data is null as none from shop.item where id = 2')).toEqual([{ none: true }]);
  });

  test('literals of the document hold variables of any type', async () => {
    const query = `mutation ($n: Int, $s: String!, $j: JSON, $absent: String, $list: [Int!], $d: Int = 7) {
      insertItem(object: {id: 3, data: {n: $n, s: [$s, $absent, {deep: $j}], gone: $absent, list: $list, d: $d, big: 123456789012345678901, f: 1.50, e: -1E3, b: true, z: null}, old: $j, own: {j: $j}}) { data old own }
    }`;
    const given = { n: 4, s: 'a "b" \\ é', j: { x: ['y'] }, list: [1, 2] };
    const { data, errors } = await run(query, given);
    expect(errors).toBeUndefined();
    expect(data.insertItem).toMatchObject({
      data: { n: 4, s: [given.s, null, { deep: given.j }], list: [1, 2], d: 7, f: 1.5, e: -1000, b: true, z: null },
      old: given.j,
      own: { j: given.j },
    });
    expect(Object.keys(data.insertItem.data)).not.toContain('gone');
    const [row] = await database.query(`select data ->> 'big' as big, data ->> 'f' as f from shop.item where id = 3`);
    expect(row).toEqual({ big: '123456789012345678901', f: '1.50' });
  });

  test('filters, operators, lists of updates and arguments take values', async () => {
    const found = async (filter: string, variables = {}) =>
      (
        await run(
          `query ($v: JSON, $f: JSONFilter) { itemCollection(filter: {data: ${filter}}) { nodes { id } } x: itemCollection(filter: {data: {eq: $v}, or: [{data: $f}]}) { nodes { id } } }`,
          variables,
        )
      ).data.itemCollection.nodes.length;
    expect(await found('{contains: {a: {b: ["x"]}}}')).toBe(1);
    expect(await found('{contains: $v}', { v: { a: {} } })).toBe(1);
    expect(await found('{contains: {a: $v}}', { v: { b: [1] } })).toBe(1);
    expect(await found('{contains: {a: $v}}', { v: { b: [9] } })).toBe(0);
    expect(await found('$f', { f: { at: [{ path: ['a'], json: { eq: { b: [1, 'x', null] } } }] } })).toBe(1);
    const update = (rest: string, variables = {}) =>
      run(
        `mutation ($v: JSON, $id: Int) { updateManyItemCollection(updates: [{set: {note: "m"}, filter: {id: {eq: 1}}, ${rest}}]) { records { data } } }`,
        variables,
      );
    const changed = await update('append: {data: {added: $v, id: [$id]}}', { v: { k: 1 }, id: 8 });
    expect(changed.errors).toBeUndefined();
    expect(changed.data.updateManyItemCollection[0].records[0].data).toMatchObject({ added: { k: 1 }, id: [8] });
    const appended = await run('mutation ($v: JSON!) { updateItemByPk(id: 1, set: {}, append: {data: $v}) { data } }', {
      v: { more: [] },
    });
    expect(appended.data.updateItemByPk.data).toMatchObject({ more: [], added: { k: 1 } });
    const scalar = await run('mutation { updateItemByPk(id: 1, set: {}, append: {data: "text"}) { id } }');
    expect(scalar.errors![0].message).toContain('takes a JSON object');
    const nested =
      'mutation ($o: [ItemInsertInput!]!) { insertIntoItemCollection(objects: $o) { records { pieceCollection { nodes { data } } } } }';
    const rows = [
      { id: 5, pieceCollection: { insert: [{ data: { p: 1 } }, { data: ['q'] }] } },
      { id: 6, data: 1 },
    ];
    expect((await run(nested, { o: rows })).data.insertIntoItemCollection.records[0].pieceCollection.nodes).toEqual([
      { data: { p: 1 } },
      { data: ['q'] },
    ]);
  });

  test('numbers that lost digits, names and constraints are refused, and nothing is written', async () => {
    const codes = async (query: string, variables = {}) =>
      (await run(query, variables)).errors?.map(({ extensions }: Json) => extensions.code);
    expect(await codes(insert, JSON.parse('{"o": {"id": 9, "data": {"n": 9007199254740993}}}'))).toEqual([
      'BAD_USER_INPUT',
    ]);
    expect(await codes(insert, JSON.parse('{"o": {"id": 9, "data": [1e400]}}'))).toEqual(['BAD_USER_INPUT']);
    expect(await codes('mutation { insertItem(object: {id: 9, data: {a: NAME}}) { id } }')).toEqual([
      'GRAPHQL_VALIDATION_FAILED',
    ]);
    expect(await codes(insert, { o: { id: 9, own: 5 } })).toEqual(['CONSTRAINT_VIOLATION']);
    expect(await codes(insert, { o: { id: 9, data: { a: '\u0000' } } })).toEqual(['BAD_USER_INPUT']);
    expect(await database.query('select id from shop.item')).toEqual([{ id: 1 }]);
  });

  test('equal shapes are one text, whatever the values', async () => {
    const textOf = async (data: unknown) =>
      (await execution.statements('anon', insert, { variables: { o: { id: 1, data } } })).map(
        (statement) => statement.text,
      );
    expect(await textOf({ a: "'; drop table shop.item --" })).toEqual(await textOf([1]));
    const literal = 'mutation ($x: JSON) { insertItem(object: {id: 1, data: {a: $x}}) { id } }';
    const of = async (x: unknown) =>
      (await execution.statements('anon', literal, { variables: { x } })).map((statement) => statement.text);
    expect(await of(1)).toEqual(await of({ b: 'c' }));
  });
});

describe('several schemas', () => {
  test('each column takes and gives JSON as its own schema says, also from one variable', async () => {
    const query = `mutation ($v: JSON, $w: JSON) { insertPile(object: {id: 2, data: $v}) { data } insertItem(object: {id: 2, data: $v, old: {in: $w}}) { data old } }`;
    const both = await run(query, { v: '{"a": 1}', w: [1] });
    expect(both.data).toEqual({ insertPile: { data: '{"a": 1}' }, insertItem: { data: '{"a": 1}', old: { in: [1] } } });
    expect(
      (await run('mutation { insertPile(object: {id: 3, data: {a: 1}}) { data } }')).errors![0].extensions.code,
    ).toBe('GRAPHQL_VALIDATION_FAILED');
    expect(
      (await run('mutation ($v: JSON) { insertPile(object: {id: 3, data: $v}) { data } }', { v: { a: 1 } })).errors![0]
        .extensions.code,
    ).toBe('BAD_USER_INPUT');
    const filtered = await run(
      'query ($f: JSONFilter) { pileCollection(filter: {data: {contains: "{\\"a\\": 1}"}}) { nodes { data } } x: pileCollection(filter: {data: $f}) { nodes { id } } }',
      { f: { contains: '{"a": 1}' } },
    );
    expect(filtered.data).toEqual({
      pileCollection: { nodes: [{ data: '{"a": 1}' }, { data: '{"a": 1}' }] },
      x: { nodes: [{ id: 1 }, { id: 2 }] },
    });
    const strict = await startExecution(database, { ...options, strictVariablePositions: true });
    const asked = await strict.run(
      'anon',
      'query ($v: JSON) { pileCollection(filter: {data: {eq: $v}}) { nodes { id } } itemCollection(filter: {data: {eq: $v}}) { nodes { id } } }',
      { variables: { v: '{"a": 1}' } },
    );
    expect(asked.errors).toBeUndefined();
    // In lists and objects of JSON a variable has any type; in place of the whole, it is JSON.
    const inside = 'query ($n: Int, $v: JSON) { itemCollection(filter: {data: {contains: VALUE}}) { nodes { id } } }';
    for (const [value, count] of [
      ['{a: {b: [$n]}}', 1],
      ['[$n, {x: [[$n, $v]]}]', 0],
    ] as const) {
      const found = await strict.run('anon', inside.replace('VALUE', value), { variables: { n: 1, v: {} } });
      expect(found.data?.itemCollection.nodes).toHaveLength(count);
    }
    for (const query of [
      inside.replace('VALUE', '$n'),
      'mutation ($n: Int) { insertItem(object: {id: 7, parts: [$n]}) { id } }',
    ]) {
      const { errors } = await strict.run('anon', query, { variables: { n: 1 } });
      expect(errors![0].message).toBe('Variable "$n" of type "Int" used in position expecting type "JSON".');
    }
  });

  test('there is one scalar, and the word of the comment is checked', async () => {
    const { data } = await run(
      '{ __type(name: "JSON") { description } item: __type(name: "Item") { fields { name type { name } } } }',
    );
    expect(data.__type.description).toBe('Any JSON value.');
    expect(data.item.fields.find(({ name }: { name: string }) => name === 'data').type.name).toBe('JSON');
    onTestFinished(async () => void (await database.query(inMode('value'))));
    for (const [mode, extensions, answer] of [
      ['string', undefined, '{"a": {"b": [1, "x", null]}, "t": "\\"q\\""}'],
      ['value', [], '{"a": {"b": [1, "x", null]}, "t": "\\"q\\""}'],
    ] as const) {
      await database.query(inMode(mode));
      const asked = await startExecution(database, { ...options, ...(extensions && { extensions }) });
      const { itemCollection } = await asked.data('anon', '{ itemCollection { edges { node { data } } } }');
      expect(itemCollection.edges[0].node.data).toBe(answer);
    }
    await database.query(inMode('object'));
    const wrong = await startExecution(database, options);
    expect((await wrong.errors('anon', '{ itemCollection { edges { cursor } } }'))[0]).toContain(
      '"json" must be "value" or "string"',
    );
  });
});
