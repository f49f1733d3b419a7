/**
 * Values on their way into the database: every type, as literal and variable, alone and in lists, and what cannot be stored.
 */
import { beforeEach, describe, expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase, fixture } from '../support/postgres.ts';

const database = await createDatabase(fixture('mutation-types.sql'));
const library = await startExecution(database, { schemas: ['lib'], extensions: [] });
const run = (query: string, variables: Record<string, unknown> = {}) => library.run('anon', query, { variables });
const data = (query: string, variables: Record<string, unknown> = {}) => library.data('anon', query, { variables });

/** Writes one column in every way there is, and gives back what the records show; fails where the ways differ. */
async function write(column: string, literal: string, value: unknown, type: string): Promise<unknown> {
  const record = (answer: Record<string, { records: [Record<string, unknown>] }>) =>
    Object.values(answer)[0]?.records[0][column];
  const results = [
    record(
      await data(
        `mutation { insertIntovalueCollection(objects: {id: 1, ${column}: ${literal}}) { records { ${column} } } }`,
      ),
    ),
    record(await data(`mutation { updatevalueCollection(set: {${column}: ${literal}}) { records { ${column} } } }`)),
    record(
      await data(`mutation ($v: ${type}) { updatevalueCollection(set: {${column}: $v}) { records { ${column} } } }`, {
        v: value,
      }),
    ),
    record(
      await data(`mutation ($s: valueUpdateInput!) { updatevalueCollection(set: $s) { records { ${column} } } }`, {
        s: { [column]: value },
      }),
    ),
    record(await data('mutation { deleteFromvalueCollection { records { COLUMN } } }'.replace('COLUMN', column))),
    record(
      await data(
        `mutation ($o: [valueInsertInput!]!) { insertIntovalueCollection(objects: $o) { records { ${column} } } }`,
        { o: [{ id: 1, [column]: value }] },
      ),
    ),
  ];
  for (const result of results) expect(result).toEqual(results[0]);
  await database.query('truncate lib.value');
  return results[0];
}

beforeEach(async () => {
  await database.query('truncate lib.value, lib.big_key, lib.range, lib.animal, lib."Odd ""name"""');
});

describe('a value of the type', () => {
  test.each([
    ['small', '-32768', -32768, 'Int', -32768],
    ['whole', '2147483647', 2147483647, 'Int', 2147483647],
    ['big', '9223372036854775807', 9223372036854775807n, 'BigInt', '9223372036854775807'],
    ['big', '"-9007199254740993"', '-9007199254740993', 'BigInt', '-9007199254740993'],
    [
      'exact',
      '"12345678901234567890.123456789"',
      '12345678901234567890.123456789',
      'BigFloat',
      '12345678901234567890.123456789',
    ],
    ['exact', '"NaN"', 'NaN', 'BigFloat', 'NaN'],
    ['exact', '"-Infinity"', '-Infinity', 'BigFloat', '-Infinity'],
    ['money2', '"12.505"', '12.505', 'BigFloat', '12.51'],
    ['single', '1.5', 1.5, 'Float', 1.5],
    ['float', '-1e300', -1e300, 'Float', -1e300],
    ['flag', 'true', true, 'Boolean', true],
    [
      'text',
      '"quote \\" backslash \\\\ \'; drop table lib.value; -- \\u00e9 \\ud83d\\ude00 $1 {\\"c0\\":1}"',
      'quote " backslash \\ \'; drop table lib.value; -- é 😀 $1 {"c0":1}',
      'String',
      'quote " backslash \\ \'; drop table lib.value; -- é 😀 $1 {"c0":1}',
    ],
    ['text', '""', '', 'String', ''],
    ['short', '"éé😀"', 'éé😀', 'String', 'éé😀'],
    ['fixed', '"ab"', 'ab', 'String', 'ab '],
    ['nocase', '"MiXed"', 'MiXed', 'String', 'MiXed'],
    [
      'uuid',
      '"{A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11}"',
      '{A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11}',
      'UUID',
      'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
    ],
    ['day', '"2024-02-29"', '2024-02-29', 'Date', '2024-02-29'],
    ['day', '"infinity"', 'infinity', 'Date', 'infinity'],
    ['clock', '"07:45"', '07:45', 'Time', '07:45:00'],
    ['stamp', '"2024-05-01 07:45"', '2024-05-01 07:45', 'Datetime', '2024-05-01T07:45:00'],
    ['json', '"{\\"a\\":  1}"', '{"a":  1}', 'JSON', '{"a":  1}'],
    ['jsonb', '"[1, {\\"b\\":null}]"', '[1, {"b":null}]', 'JSON', '[1, {"b": null}]'],
    ['jsonb', '"\\"late\\""', '"late"', 'JSON', 'late'],
    ['mood', 'BLUE', 'BLUE', 'mood', 'BLUE'],
    ['mood', '"happy"', 'happy', 'mood', 'happy'],
    ['inet', '"10.0.0.1"', '10.0.0.1', 'Opaque', '10.0.0.1'],
    ['bytes', '"\\\\xdeadbeef"', '\\xdeadbeef', 'Opaque', '\\xdeadbeef'],
    ['span', '"1 day 2 hours"', '1 day 2 hours', 'Opaque', '1 day 02:00:00'],
    ['range', '"[1,5)"', '[1,5)', 'Opaque', '[1,5)'],
    ['point', '"(1,2)"', '(1,2)', 'Opaque', '(1,2)'],
    ['price', '7', 7, 'Opaque', 7],
    ['word', '"four"', 'four', 'Opaque', 'four'],
    ['wholes', '[8, null]', [8, null], '[Int]', [8, null]],
    ['wholes', '8', 8, '[Int]', [8]],
    ['wholes', '[]', [], '[Int]', []],
    ['wholes', 'null', null, '[Int]', null],
    [
      'bigs',
      '[9007199254740993, "5", null]',
      [9007199254740993n, '5', null],
      '[BigInt]',
      ['9007199254740993', '5', null],
    ],
    ['exacts', '["1.50", "NaN"]', ['1.50', 'NaN'], '[BigFloat]', ['1.50', 'NaN']],
    ['floats', '[1.5, -2]', [1.5, -2], '[Float]', [1.5, -2]],
    ['flags', '[true, null, false]', [true, null, false], '[Boolean]', [true, null, false]],
    [
      'texts',
      '["a,b", "{", "\\"", "\\\\", "NULL", "", null]',
      ['a,b', '{', '"', '\\', 'NULL', '', null],
      '[String]',
      ['a,b', '{', '"', '\\', 'NULL', '', null],
    ],
    ['shorts', '["abc", "é"]', ['abc', 'é'], '[String]', ['abc', 'é']],
    [
      'uuids',
      '["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", null]',
      ['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', null],
      '[UUID]',
      ['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', null],
    ],
    ['days', '["2024-01-31"]', ['2024-01-31'], '[Date]', ['2024-01-31']],
    ['moods', '[BLUE, null, happy]', ['BLUE', null, 'happy'], '[mood]', ['BLUE', null, 'happy']],
    ['moods', '"BLUE"', 'BLUE', '[mood]', ['BLUE']],
    ['jsonbs', '["{\\"a\\": 1}", "\\"x\\"", null]', ['{"a": 1}', '"x"', null], '[JSON]', ['{"a": 1}', '"x"', null]],
    ['inets', '["10.0.0.1", null]', ['10.0.0.1', null], '[Opaque]', ['10.0.0.1', null]],
    ['boxes', '["(0,0),(1,1)", null]', ['(0,0),(1,1)', null], '[Opaque]', ['(1,1),(0,0)', null]],
  ])('%s: %s', async (column, literal, value, type, expected) => {
    expect(await write(column, literal, value, type)).toEqual(expected);
  });

  test('boxes, whose array has no commas in between, beside their default', async () => {
    const query = `mutation { insertIntovalueCollection(objects: [{id: 8001, boxes: ["(0,0),(1,1)", "(0,0),(3,3)"]}, {id: 8002}]) { records { boxes } }
      deleteFromvalueCollection(filter: {id: {gt: 8000}}, atMost: 2) { affectedCount } }`;
    const { insertIntovalueCollection } = await data(query);
    expect(insertIntovalueCollection.records).toEqual([
      { boxes: ['(1,1),(0,0)', '(3,3),(0,0)'] },
      { boxes: ['(1,1),(0,0)', '(2,2),(0,0)'] },
    ]);
  });

  test('timestamptz without an offset stands in the zone of the session', async () => {
    const written = (await write('stamptz', '"2024-05-01 08:00"', '2024-05-01 08:00', 'Datetime')) as string;
    expect(written).toMatch(/^2024-05-01T08:00:00[+-]\d\d:\d\d$/);
  });

  test('enum, whose label is no GraphQL name, is taken as a string', async () => {
    expect(await write('mood', '"so-so"', 'so-so', 'mood')).toBe('so-so');
  });
});

test('one row with every type comes back from insert, update and delete alike', async () => {
  const row = {
    id: 1, small: 1, whole: 2, big: '3', exact: '4.5', money2: '6.70', single: 0.5, float: 0.25, flag: false, text: 't', short: 's', fixed: 'f  ',
    nocase: 'N', uuid: 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', day: '2024-01-01', clock: '10:00:00', stamp: '2024-01-01T00:00:00', json: '{}', jsonb: '{}',
    mood: 'BLUE', inet: '::1', bytes: '\\x00', span: '01:00:00', range: 'empty', point: '(0,0)', price: 1, word: 'w', wholes: [1], bigs: ['1'], exacts: ['1'],
    floats: [1], flags: [true], texts: ['t'], shorts: ['s'], uuids: [], days: ['2024-01-01'], moods: ['happy'], jsonbs: ['1'], inets: ['::1'],
    boxes: ['(2,2),(1,1)', null, '(1,1),(0,0)'],
  }; // biome-ignore format: a table of values
  const selection = `{ records { ${Object.keys(row).join(' ')} } }`;
  const insert = `mutation ($o: [valueInsertInput!]!) { x: insertIntovalueCollection(objects: $o) ${selection} }`;
  expect(await data(insert, { o: [row] })).toEqual({ x: { records: [row] } });
  const update = `mutation ($s: valueUpdateInput!) { x: updatevalueCollection(set: $s) ${selection} }`;
  expect(await data(update, { s: row })).toEqual({ x: { records: [row] } });
  expect(await data(`mutation { x: deleteFromvalueCollection(filter: {id: {eq: 1}}) ${selection} }`)).toEqual({
    x: { records: [row] },
  });
});

describe('a value that is refused before anything runs', () => {
  const cases: readonly (readonly [string, string, unknown, string])[] = [
    ['a string that is too long', 'short', 'abcd', 'Maximum character length 3'],
    ['a char that is too long', 'fixed', 'abcd', 'Maximum character length 3'],
    ['an element that is too long', 'shorts', ['ok', 'abcd'], 'Maximum character length 3'],
    ['NUL in a text', 'text', 'a\u0000b', 'U+0000'],
    ['NUL in a list', 'texts', ['a', '\u0000'], 'U+0000'],
    ['NUL in an opaque value', 'inet', '\u0000', 'U+0000'],
  ];

  test.each(cases)('%s, as a literal', async (_name, column, value, message) => {
    const literal = JSON.stringify(value);
    for (const field of [
      `insertIntovalueCollection(objects: [{id: 1}, {id: 2, ${column}: ${literal}}])`,
      `updatevalueCollection(set: {${column}: ${literal}})`,
    ]) {
      const body = await run(
        `mutation { a: insertIntobig_keyCollection(objects: {id: 1}) { affectedCount } b: ${field} { affectedCount } }`,
      );
      expect(body).toMatchObject({
        data: null,
        errors: [{ message: expect.stringContaining(message), path: ['b'], extensions: { code: 'BAD_USER_INPUT' } }],
      });
    }
    expect(await database.query('select id from lib.big_key')).toEqual([]);
  });

  test.each(cases)('%s, in a variable', async (_name, column, value, message) => {
    const insert = 'mutation ($o: [valueInsertInput!]!) { insertIntovalueCollection(objects: $o) { affectedCount } }';
    const update = 'mutation ($s: valueUpdateInput!) { updatevalueCollection(set: $s) { affectedCount } }';
    for (const body of [
      await run(insert, { o: [{ id: 1 }, { id: 2, [column]: value }] }),
      await run(update, { s: { [column]: value } }),
    ]) {
      expect(body.errors).toMatchObject([
        { message: expect.stringContaining(message), extensions: { code: 'BAD_USER_INPUT' } },
      ]);
    }
    expect(await database.query('select id from lib.value')).toEqual([]);
  });

  test('a string that is too long keeps the message clients match on, and its place stands beside it', async () => {
    const message = 'Invalid input for String type. Maximum character length 3';
    const expected = (input: string) => ({ message, extensions: { code: 'BAD_USER_INPUT', input } });
    const literal =
      'mutation { insertIntovalueCollection(objects: [{id: 1}, {id: 2, shorts: ["long enough"]}]) { affectedCount } }';
    expect((await run(literal)).errors).toMatchObject([expected('objects[1].shorts')]);
    const variable = 'mutation ($o: [valueInsertInput!]!) { insertIntovalueCollection(objects: $o) { affectedCount } }';
    expect((await run(variable, { o: [{ id: 1 }, { id: 2, short: 'éééé' }] })).errors).toMatchObject([
      expected('$o[*].short'),
    ]);
    const set = 'mutation ($s: valueUpdateInput!) { updatevalueCollection(set: $s) { affectedCount } }';
    expect((await run(set, { s: { fixed: 'long' } })).errors).toMatchObject([expected('$s.fixed')]);
    const filter = 'mutation { deleteFromvalueCollection(filter: {or: [{short: {eq: "long"}}]}) { affectedCount } }';
    expect((await run(filter)).errors).toMatchObject([expected('filter.or[0].short.eq')]);
  });

  test('half of a surrogate pair, which is no character, is named with its place', async () => {
    const query = 'mutation ($o: [valueInsertInput!]!) { insertIntovalueCollection(objects: $o) { affectedCount } }';
    expect(
      await library.errors('anon', query, { variables: { o: [{ id: 1 }, { id: 2, texts: ['x', '\ud83d'] }] } }),
    ).toEqual(['Variable "$o[1].texts[1]" holds half of a surrogate pair, which PostgreSQL cannot store.']);
    const filter =
      'mutation ($t: String) { updatevalueCollection(set: {id: 1}, filter: {text: {eq: $t}}) { affectedCount } }';
    expect(await library.errors('anon', filter, { variables: { t: '\udc00' } })).toEqual([
      'Variable "$t" holds half of a surrogate pair, which PostgreSQL cannot store.',
    ]);
  });

  test.each([
    ['a number for a numeric', 'exact', 1.5],
    ['an object for JSON', 'jsonb', { a: 1 }],
    ['a list for an opaque value', 'inet', ['10.0.0.1']],
    ['an object for an opaque value', 'inet', { a: 1 }],
    ['a list in a list', 'wholes', [[1]]],
    ['a label that is renamed', 'mood', 'sad'],
    ['an unknown enum value', 'mood', 'angry'],
    ['a 33-bit integer', 'whole', 4294967296],
    ['a fraction for an integer', 'whole', 1.5],
    ['a rounded big integer', 'big', 9007199254740994],
    ['a string for a float', 'float', 'NaN'],
    ['a string for a boolean', 'flag', 'true'],
  ])('%s', async (_name, column, value) => {
    const query = 'mutation ($s: valueUpdateInput!) { updatevalueCollection(set: $s) { affectedCount } }';
    const body = await run(query, { s: { [column]: value } });
    expect(body).not.toHaveProperty('data');
    expect(body.errors[0]).toMatchObject({
      message: expect.stringContaining(column),
      extensions: { code: 'BAD_USER_INPUT' },
    });
  });
});

describe('a value that PostgreSQL refuses', () => {
  test.each([
    ['small', 40000, '22003', 'value "40000" is out of range for type smallint'],
    ['big', '9223372036854775808', '22003', 'value "9223372036854775808" is out of range for type bigint'],
    ['big', 'many', '22P02', 'invalid input syntax for type bigint: "many"'],
    ['exact', '1,5', '22P02', 'invalid input syntax for type numeric: "1,5"'],
    ['single', 1e300, '22003', '"1e+300" is out of range for type real'],
    ['uuid', 'nonsense', '22P02', 'invalid input syntax for type uuid: "nonsense"'],
    ['day', '2024-13-45', '22008', 'date/time field value out of range: "2024-13-45"'],
    ['day', '2023-02-29', '22008', 'date/time field value out of range: "2023-02-29"'],
    ['clock', '25:00', '22008', 'date/time field value out of range: "25:00"'],
    ['stamp', 'someday', '22007', 'invalid input syntax for type timestamp: "someday"'],
    ['inet', 'a"b', '22P02', 'invalid input syntax for type inet: "a"b"'],
    ['days', ['2024-01-01', 'soon'], '22007', 'invalid input syntax for type date: "soon"'],
  ])('%s: %s, names message, SQLSTATE and the input', async (column, value, sqlstate, message) => {
    const field = 'a: insertIntobig_keyCollection(objects: {id: 1}) { affectedCount }';
    const insert = `mutation ($o: [valueInsertInput!]!) { ${field} b: insertIntovalueCollection(objects: $o) { affectedCount } }`;
    const error = (input: string) => ({
      data: null,
      errors: [{ message, path: ['b'], extensions: { code: 'BAD_USER_INPUT', sqlstate, input } }],
    });
    expect(await run(insert, { o: [{ id: 1 }, { id: 2, [column]: value }] })).toEqual(error(`$o[1].${column}`));
    const literal = JSON.stringify(value);
    expect(
      await run(
        `mutation { ${field} b: insertIntovalueCollection(objects: [{id: 1}, {id: 2, ${column}: ${literal}}]) { affectedCount } }`,
      ),
    ).toEqual(error(`objects[1].${column}`));
    expect(
      await run(`mutation { ${field} b: updatevalueCollection(set: {${column}: ${literal}}) { affectedCount } }`),
    ).toEqual(error(`set.${column}`));
    expect(await database.query('select 1 from lib.value union all select 1 from lib.big_key')).toEqual([]);
  });

  test.each([
    ['money2', '1234567.00', '22003', 'numeric field overflow'],
    ['money2', 'Infinity', '22003', 'numeric field overflow'],
    ['jsonb', '{broken', '22P02', 'invalid input syntax for type json'],
    ['jsonb', '"\\u0000"', '22P05', 'unsupported Unicode escape sequence'],
  ])('%s: %s, without a value in the message', async (column, value, sqlstate, message) => {
    const insert = 'mutation ($o: [valueInsertInput!]!) { insertIntovalueCollection(objects: $o) { affectedCount } }';
    const body = await run(insert, { o: [{ id: 2, [column]: value }] });
    expect(body).toMatchObject({ data: null, errors: [{ message, extensions: { code: 'BAD_USER_INPUT', sqlstate } }] });
    expect(await database.query('select 1 from lib.value')).toEqual([]);
  });

  test('a value that PostgreSQL refuses leaves the connection usable', async () => {
    const query = 'mutation ($s: valueUpdateInput!) { updatevalueCollection(set: $s) { affectedCount } }';
    for (let repetition = 0; repetition < 6; repetition++) {
      const answers = await Promise.all([
        run(query, { s: { jsonb: '"\\u0000"' } }),
        run(query, { s: { text: '\u0000' } }),
        run(query, { s: { text: 'fine' } }),
      ]);
      expect(answers.map((answer) => answer.errors?.[0].extensions.code)).toEqual([
        'BAD_USER_INPUT',
        'BAD_USER_INPUT',
        undefined,
      ]);
    }
  });
});

describe('a key beyond 2^53', () => {
  test('a key beyond 2^53 keeps every digit on its way in and out', async () => {
    const insert =
      'mutation ($o: [big_keyInsertInput!]!) { insertIntobig_keyCollection(objects: $o) { records { id nodeId } } }';
    const { insertIntobig_keyCollection } = await data(insert, {
      o: [{ id: 9007199254740993n }, { id: '9007199254740995' }],
    });
    const nodeId = Buffer.from('["lib", "big_key", 9007199254740993]').toString('base64');
    expect(insertIntobig_keyCollection.records).toEqual([
      { id: '9007199254740993', nodeId },
      { id: '9007199254740995', nodeId: expect.any(String) },
    ]);
    const update = `mutation { updatebig_keyCollection(set: {id: 9007199254740997, name: "moved"}, filter: {nodeId: {eq: "${nodeId}"}}) { records { id name } } }`;
    expect(await data(update)).toEqual({
      updatebig_keyCollection: { records: [{ id: '9007199254740997', name: 'moved' }] },
    });
    const remove = 'mutation ($id: BigInt) { deleteFrombig_keyCollection(filter: {id: {eq: $id}}) { affectedCount } }';
    expect(await data(remove, { id: 9007199254740997n })).toEqual({
      deleteFrombig_keyCollection: { affectedCount: 1 },
    });
  });
});

test('names that need quoting, and names like our own, are written to', async () => {
  const insert =
    'mutation { insertIntoOddCollection(objects: [{id: 1, select: "s", t1: "t", c0: "c", r: "r", n: "n", old: "o"}, {id: 2, new: "w"}]) { records { nodeId select t1 c0 r n old new odd_label } } }';
  const { insertIntoOddCollection } = await data(insert);
  expect(insertIntoOddCollection.records[0]).toMatchObject({
    select: 's',
    t1: 't',
    c0: 'c',
    r: 'r',
    n: 'n',
    old: 'o',
    new: null,
    odd_label: 'tr',
  });
  const { nodeId } = insertIntoOddCollection.records[1];
  expect(
    await data(
      `mutation { updateOddCollection(set: {select: "x"}, filter: {nodeId: {eq: "${nodeId}"}}) { records { id: nodeId select new } } }`,
    ),
  ).toEqual({
    updateOddCollection: { records: [{ id: nodeId, select: 'x', new: 'w' }] },
  });
});

test('columns and variables that are called like members of every JavaScript object are columns and variables', async () => {
  const insert =
    'mutation ($o: [wordInsertInput!]!) { insertIntowordCollection(objects: $o) { records { id constructor toString valueOf } } }';
  expect(await data(insert, { o: [{ id: 1 }, { id: 2, constructor: 'c', toString: 's', valueOf: ['v'] }] })).toEqual({
    insertIntowordCollection: {
      records: [
        { id: 1, constructor: 'own', toString: null, valueOf: ['a'] },
        { id: 2, constructor: 'c', toString: 's', valueOf: ['v'] },
      ],
    },
  });
  const throughView =
    'mutation ($o: [wordsInsertInput!]!) { insertIntowordsCollection(objects: $o) { records { id constructor } } }';
  expect(await data(throughView, { o: [{ id: 3 }, { id: 4, constructor: 'c' }] })).toEqual({
    insertIntowordsCollection: {
      records: [
        { id: 3, constructor: 'own' },
        { id: 4, constructor: 'c' },
      ],
    },
  });
  const update = `mutation ($constructor: String, $toString: String, $valueOf: [String]) {
    updatewordCollection(set: {constructor: $constructor, toString: $toString, valueOf: $valueOf}, filter: {id: {eq: 2}}) { records { constructor toString valueOf } } }`;
  expect(await data(update, { toString: 'x' })).toEqual({
    updatewordCollection: { records: [{ constructor: 'c', toString: 'x', valueOf: ['v'] }] },
  });
  expect(await library.errors('anon', update)).toEqual(['At least one mapping must be provided to set argument']);
});

describe('a partition', () => {
  test('a partition is written like a table, with its own defaults, and refuses rows of other partitions', async () => {
    const insert = (at: string) =>
      `mutation { insertIntorange_2024Collection(objects: [{id: 1, at: "${at}"}, {id: 2, at: "2024-05-05", note: "n"}]) { records { id at note } } }`;
    expect(await data(insert('2024-06-01'))).toEqual({
      insertIntorange_2024Collection: {
        records: [
          { id: 1, at: '2024-06-01', note: 'partition' },
          { id: 2, at: '2024-05-05', note: 'n' },
        ],
      },
    });
    expect(await run(insert('2023-06-01'))).toMatchObject({
      data: null,
      errors: [
        {
          message: 'new row for relation "range_2024" violates partition constraint',
          extensions: { code: 'CONSTRAINT_VIOLATION', sqlstate: '23514' },
        },
      ],
    });
    const move =
      'mutation { updaterange_2024Collection(set: {at: "2023-01-01"}, filter: {id: {eq: 1}}) { affectedCount } }';
    expect(await run(move)).toMatchObject({ data: null, errors: [{ extensions: { sqlstate: '23514' } }] });
    expect(await data('mutation { deleteFromrange_2024Collection(atMost: 2) { affectedCount } }')).toEqual({
      deleteFromrange_2024Collection: { affectedCount: 2 },
    });
  });
});

test('an inheritance child is written as itself, and writes to its parent reach its rows', async () => {
  await data(
    'mutation { a: insertIntodogCollection(objects: {id: 1, name: "Rex", tricks: "sit"}) { affectedCount } b: insertIntoanimalCollection(objects: {id: 2, name: "Tom"}) { affectedCount } }',
  );
  expect(
    await data(
      'mutation { updateanimalCollection(set: {name: "All"}, atMost: 2) { affectedCount records { id name } } }',
    ),
  ).toEqual({
    updateanimalCollection: {
      affectedCount: 2,
      records: expect.arrayContaining([
        { id: 1, name: 'All' },
        { id: 2, name: 'All' },
      ]),
    },
  });
  expect(await data('mutation { deleteFromdogCollection { records { id name tricks } } }')).toEqual({
    deleteFromdogCollection: { records: [{ id: 1, name: 'All', tricks: ['sit'] }] },
  });
});
