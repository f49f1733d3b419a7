/** Updates by the values of the rows: increment, append, prepend, remove (extension `update_operators`). */
import { beforeEach, describe, expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create extension citext;
  create type mood as enum ('glad', 'so-so', 'sad');
  comment on type mood is '@graphql({"mappings": {"so-so": "SO_SO"}})';
  create domain score as int check (value >= 0);
  create domain code as varchar(4);
  create domain tag as text check (value <> 'forbidden');
  create domain tags as text[] check (cardinality(value) <= 3);
  create table note (
    id int primary key,
    small smallint, hits int, big bigint, ratio float8, light float4, price numeric(8,2), score score, cash money,
    body text, short varchar(5), ci citext, fixed char(5), code code,
    names text[], numbers int[], moods mood[], cis citext[], shorts varchar(3)[], marks tag[], few tags, grid int[], points point[],
    data jsonb, plain json,
    twice int generated always as (hits * 2) stored,
    at date
  );
  create table tally (one int primary key, two numeric(4,2));
  insert into tally values (1, 1);
  grant select, insert, update, delete on note, tally to anon;
`);
const execution = await startExecution(database, { introspection: 'always' });

beforeEach(async () => {
  await database.query(`delete from note; insert into note (id) values (0);
    insert into note (id, small, hits, big, ratio, light, price, score, body, short, ci, code, names, numbers, moods, cis, shorts, marks, few, grid, data)
    values (1, 1, 10, 9007199254740993, 0.5, 1.5, 1.25, 3, 'one', 'one', 'One', 'ab', '{a,b}', '{1,2,1}', '{glad}', '{A,b,a}', '{x,y}', '{m}', '{f}', '{{1,2},{3,4}}', '{"a": {"x": 1}, "b": 2}')`);
});

const change = (args: string, id = 1) =>
  execution.run(
    'anon',
    `mutation { updateNoteCollection(${args.includes('set:') ? '' : 'set: {}, '}${args}, filter: {id: {eq: ${id}}}) { affectedCount } }`,
  );
const stored = async (column: string, id = 1) =>
  (await database.query(`select ${column} as v from note where id = ${id}`))[0]!.v;
const refusal = async (args: string, id = 1) => {
  const { errors } = await change(args, id);
  expect(errors).toHaveLength(1);
  const { message, extensions, path } = errors[0];
  expect(path).toEqual(['updateNoteCollection']);
  return [extensions.code, message, extensions.input];
};

describe('increment', () => {
  test.each([
    ['small', '5', '6'],
    ['hits', '-3', '7'],
    ['big', '"2"', '9007199254740995'],
    ['ratio', '0.25', '0.75'],
    ['light', '0.5', '2'],
    ['price', '"0.255"', '1.51'],
    ['score', '-2', '1'],
  ])('increment adds to a column like %s', async (column, by, expected) => {
    expect(await change(`increment: {${column}: ${by}}`)).toEqual({
      data: { updateNoteCollection: { affectedCount: 1 } },
    });
    expect(await stored(`${column}::text`)).toBe(expected);
  });

  test('increment leaves null as it is', async () => {
    await change('increment: {hits: 1}', 0);
    expect(await stored('hits', 0)).toBe(null);
  });

  test('increment is checked by the database: by the range of the column and its domain', async () => {
    expect(await refusal('increment: {hits: 2147483647}')).toEqual([
      'BAD_USER_INPUT',
      'integer out of range',
      undefined,
    ]);
    expect(await refusal('increment: {small: 32767}')).toEqual(['BAD_USER_INPUT', 'smallint out of range', undefined]);
    expect((await refusal('increment: {price: "999999"}'))[1]).toBe('numeric field overflow');
    expect((await refusal('increment: {score: -4}'))[0]).toBe('CONSTRAINT_VIOLATION');
    await change('increment: {price: "9999999"}', 0);
    expect(await stored('price', 1)).toBe('1.25');
  });
  test('a value out of range names the increment, where it is the only computation of the statement', async () => {
    const place = async (args: string) => {
      const query = `mutation { updateTallyCollection(set: {}, ${args}) { affectedCount } }`;
      const { message, extensions } = (await execution.run('anon', query)).errors[0];
      return [message, extensions.input];
    };
    expect(await place('increment: {one: 2147483647}')).toEqual(['integer out of range', 'increment.one']);
    expect(await place('increment: {two: "1e9"}')).toEqual(['numeric field overflow', 'increment.two']);
    expect(await place('increment: {one: 2147483647, two: "1"}')).toEqual(['integer out of range', undefined]);
  });
});

describe('append and prepend', () => {
  test.each([
    ['append', 'names', '["c", null]', '{a,b,c,NULL}'],
    ['append', 'names', '[]', '{a,b}'],
    ['append', 'names', '"c"', '{a,b,c}'],
    ['prepend', 'names', '["x", "y"]', '{x,y,a,b}'],
    ['append', 'numbers', '[3]', '{1,2,1,3}'],
    ['append', 'moods', '[SO_SO, sad]', '{glad,so-so,sad}'],
    ['append', 'cis', '["Z"]', '{A,b,a,Z}'],
    ['append', 'shorts', '["abc"]', '{x,y,abc}'],
    ['append', 'marks', '["n"]', '{m,n}'],
    ['prepend', 'few', '["e"]', '{e,f}'],
    ['append', 'grid', '[5, 6]', '{{1,2},{3,4},{5,6}}'],
    ['append', 'body', '" two"', 'one two'],
    ['append', 'short', '"34"', 'one34'],
    ['append', 'ci', '"Two"', 'OneTwo'],
    ['append', 'code', '"cd"', 'abcd'],
    ['append', 'data', '"{\\"a\\": 1, \\"c\\": 3}"', '{"a": 1, "b": 2, "c": 3}'],
  ])('%s adds to a column like %s', async (operator, column, operand, expected) => {
    expect(await change(`${operator}: {${column}: ${operand}}`)).toEqual({
      data: { updateNoteCollection: { affectedCount: 1 } },
    });
    expect(await stored(`${column}::text`)).toBe(expected);
  });

  test.each([
    ['append', 'names', '["c"]', '{c}'],
    ['prepend', 'names', '["c"]', '{c}'],
    ['append', 'body', '"c"', 'c'],
    ['append', 'ci', '"c"', 'c'],
    ['append', 'few', '["c"]', '{c}'],
    ['append', 'data', '"{\\"c\\": 1}"', '{"c": 1}'],
    ['append', 'data', '" [1]"', '[1]'],
  ])('%s makes null of a column like %s the operand', async (operator, column, operand, expected) => {
    await change(`${operator}: {${column}: ${operand}}`, 0);
    expect(await stored(`${column}::text`, 0)).toBe(expected);
  });

  test('a text that becomes too long is refused, and so is an operand that is', async () => {
    expect(await refusal('append: {short: "345"}')).toEqual([
      'BAD_USER_INPUT',
      'value too long for type character varying(5)',
      undefined,
    ]);
    const tooLong = (n: number, place: string) => [
      'BAD_USER_INPUT',
      `Invalid input for String type. Maximum character length ${n}`,
      place,
    ];
    expect(await refusal('append: {short: "345678"}')).toEqual(tooLong(5, 'append.short'));
    expect(await refusal('append: {code: "cdefg"}')).toEqual(tooLong(4, 'append.code'));
    expect(await refusal('prepend: {shorts: ["a", "bcde"]}')).toEqual(tooLong(3, 'prepend.shorts'));
    expect((await refusal('append: {code: "cde"}'))[1]).toBe('value too long for type character varying(4)');
    expect(await stored('short')).toBe('one');
  });

  test('an array that its domain refuses is not stored', async () => {
    await change('append: {few: ["b", "c"]}');
    expect(await refusal('append: {few: ["d"]}')).toEqual([
      'CONSTRAINT_VIOLATION',
      'value for domain tags violates check constraint "tags_check"',
      undefined,
    ]);
    expect((await refusal('append: {marks: ["forbidden"]}'))[0]).toBe('CONSTRAINT_VIOLATION');
  });

  test('arrays whose dimensions differ are refused', async () => {
    expect(await refusal('append: {grid: [1, 2, 3]}')).toEqual([
      'BAD_USER_INPUT',
      'cannot concatenate incompatible arrays',
      undefined,
    ]);
  });

  test('objects are merged into objects at the top, and arrays added to arrays, and nothing else', async () => {
    const misfit = (kind: string) => [
      'BAD_USER_INPUT',
      `"data" of a row is a JSON ${kind}: "append" merges an object into an object, and adds an array to an array.`,
      'append.data',
    ];
    expect(await refusal('append: {data: "[1]"}')).toEqual(misfit('object'));
    await database.query(`update note set data = '[1, {"a": 2}]' where id = 1`);
    expect(await refusal('append: {data: "{}"}')).toEqual(misfit('array'));
    await change('append: {data: "[[3], \\"x\\"]"}');
    expect(await stored('data')).toEqual([1, { a: 2 }, [3], 'x']);
    for (const [value, kind] of [
      ['"null"', 'null'],
      ['"5"', 'number'],
      ['"\\"x\\""', 'string'],
    ]) {
      await change(`set: {data: ${value}}`);
      expect(await refusal('append: {data: "{}"}')).toEqual(misfit(kind!));
      expect(await refusal('append: {data: "[]"}')).toEqual(misfit(kind!));
    }
  });

  test('a JSON operand is an object or an array', async () => {
    for (const operand of ['"5"', '"null"', '"\\"x\\""', '""', '"true"']) {
      expect(await refusal(`append: {data: ${operand}}`)).toEqual([
        'BAD_USER_INPUT',
        '"append" takes a JSON object to merge, or a JSON array to add.',
        'append.data',
      ]);
    }
    expect((await refusal('append: {data: "{a"}'))[1]).toBe('invalid input syntax for type json');
  });
});

describe('remove', () => {
  test.each([
    ['names', '["a", "z"]', '{b}'],
    ['names', '[]', '{a,b}'],
    ['names', '["a", "b"]', '{}'],
    ['numbers', '[1]', '{2}'],
    ['moods', '[glad]', '{}'],
    ['cis', '["a"]', '{b}'],
    ['shorts', '["x"]', '{y}'],
    ['marks', '["m"]', '{}'],
    ['few', '["f"]', '{}'],
    ['data', '["a", "z"]', '{"b": 2}'],
    ['data', '[]', '{"a": {"x": 1}, "b": 2}'],
  ])('remove takes elements or keys out of a column like %s', async (column, operand, expected) => {
    expect(await change(`remove: {${column}: ${operand}}`)).toEqual({
      data: { updateNoteCollection: { affectedCount: 1 } },
    });
    expect(await stored(`${column}::text`)).toBe(expected);
  });

  test('remove leaves null as it is, and takes null elements out where one is named', async () => {
    await change('remove: {names: ["a"], data: ["a"]}', 0);
    expect(await stored('row(names, data)::text', 0)).toBe('(,)');
    await database.query(`update note set names = '{a,NULL,b,NULL}' where id = 1`);
    await change('remove: {names: ["a"]}');
    expect(await stored('names')).toEqual([null, 'b', null]);
    await change('remove: {names: [null]}');
    expect(await stored('names')).toEqual(['b']);
  });

  test('remove takes strings out of a JSON array, and nothing out of other values', async () => {
    await database.query(`update note set data = '["a", 1, "b", ["a"]]' where id = 1`);
    await change('remove: {data: ["a", "1"]}');
    expect(await stored('data')).toEqual([1, 'b', ['a']]);
    await database.query(`update note set data = '5' where id = 1`);
    expect(await refusal('remove: {data: ["a"]}')).toEqual(['BAD_USER_INPUT', 'cannot delete from scalar', undefined]);
  });

  test('an array of several dimensions is refused', async () => {
    expect(await refusal('remove: {grid: [1]}')).toEqual([
      'BAD_USER_INPUT',
      '"grid" of a row is an array of several dimensions, which have no elements to remove.',
      'remove.grid',
    ]);
    expect(await stored('grid')).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });
});

describe('all changes of an update', () => {
  test('all changes of an update are made together, of the values before it', async () => {
    await change(
      'set: {at: "2024-05-01"}, increment: {hits: 1}, append: {body: "!"}, prepend: {names: ["z"]}, remove: {data: ["a"]}',
    );
    expect(await stored('row(at, hits, twice, body, names, data)::text')).toBe(
      '(2024-05-01,11,22,one!,"{z,a,b}","{""b"": 2}")',
    );
  });

  test('all changes of an update come back in records, and keep to the filter and atMost', async () => {
    const update = (atMost: number) =>
      execution.run(
        'anon',
        `mutation { updateNoteCollection(set: {}, increment: {hits: 5}, filter: {id: {gte: 0}}, atMost: ${atMost}) { affectedCount records { id hits } } }`,
      );
    expect((await update(1)).errors[0].message).toBe('update impacts too many records');
    expect(await stored('hits')).toBe(10);
    expect((await update(2)).data).toEqual({
      updateNoteCollection: {
        affectedCount: 2,
        records: [
          { id: 0, hits: null },
          { id: 1, hits: 15 },
        ],
      },
    });
  });

  test('name a column once', async () => {
    const twice = (column: string, one: string, other: string) => [
      'BAD_USER_INPUT',
      `"${column}" is changed by "${one}" and by "${other}". Change a column in one way.`,
      `${other}.${column}`,
    ];
    expect(await refusal('set: {hits: 1}, increment: {hits: 1}')).toEqual(twice('hits', 'set', 'increment'));
    expect(await refusal('append: {names: ["a"]}, prepend: {names: ["a"]}')).toEqual(
      twice('names', 'append', 'prepend'),
    );
    expect(await refusal('remove: {data: ["a"]}, append: {data: "{}"}')).toEqual(twice('data', 'append', 'remove'));
    const { errors } = await change('set: {hits: 1}, increment: {hits: 1}');
    expect(errors[0].locations).toEqual([{ line: 1, column: 12 }]);
  });

  test('of null are none, and an update without a change stays an error', async () => {
    for (const args of [
      'increment: null',
      'increment: {hits: null}',
      'append: {names: null}',
      'remove: {}, prepend: {}',
    ]) {
      expect(await refusal(args)).toEqual([
        'BAD_USER_INPUT',
        'At least one mapping must be provided to set argument',
        undefined,
      ]);
    }
    expect(await change('set: {hits: 1}, increment: {hits: null, big: 1}')).toMatchObject({ data: {} });
    expect(await stored('hits')).toBe(1);
  });

  test('all changes of an update come from variables as from the document', async () => {
    const query = `mutation ($by: NoteUpdateInput, $tags: [String], $name: String) {
      updateNoteCollection(set: {}, increment: $by, append: {names: $tags, body: $name}, filter: {id: {eq: 1}}) { affectedCount } }`;
    const variables = { by: { hits: 2, big: '3' }, tags: ['x', null], name: '?' };
    await execution.data('anon', query, { variables });
    expect(await stored('row(hits, big, names, body)::text')).toBe('(12,9007199254740996,"{a,b,x,NULL}",one?)');
    // What is absent or null changes nothing.
    await execution.data('anon', query, { variables: { by: { hits: 1 }, name: null } });
    expect(await stored('row(hits, names, body)::text')).toBe('(13,"{a,b,x,NULL}",one?)');
    const text = async (given: object) =>
      (await execution.statements('anon', query, { variables: { ...variables, ...given } }))[0]!.text;
    expect(await text({ by: { hits: 9, big: '1' }, tags: ['y'] })).toBe(await text({}));
    const { errors } = await execution.run('anon', query.replace('set: {}', 'set: {body: "x"}'), { variables });
    expect(errors[0].extensions.input).toBe('$name');
  });
});

test('each column has the operators that fit it', async () => {
  const examples = [
    ['1', 'id', 'small', 'hits', 'ratio', 'light', 'score'],
    ['"1"', 'big', 'price'],
    ['"1"', 'cash', 'body', 'short', 'ci', 'fixed', 'code'],
    ['"{}"', 'data', 'plain'],
    ['"2024-01-01"', 'at'],
    ['["a"]', 'names', 'cis', 'shorts', 'marks', 'few'],
    ['[1]', 'numbers', 'grid'],
    ['[glad]', 'moods'],
    ['["(1,2)"]', 'points'],
  ] as const;
  const fitting = async (operator: string) => {
    const entries = examples.flatMap(([value, ...columns]) => columns.map((column) => [column, value] as const));
    const changes = entries.map(async ([column, value]) => {
      const query = `mutation { updateNoteCollection(set: {}, ${operator}: {${column}: ${value}}, filter: {id: {eq: 9}}) { affectedCount } }`;
      const { errors } = await execution.run('anon', query);
      const refused = `"${column}" has no "${operator}": its type has none.`;
      if (errors !== undefined)
        expect([errors[0].message, errors[0].extensions.input]).toEqual([refused, `${operator}.${column}`]);
      return errors === undefined ? [column] : [];
    });
    return (await Promise.all(changes)).flat();
  };
  const lists = ['names', 'cis', 'shorts', 'marks', 'few', 'numbers', 'grid', 'moods', 'points'];
  expect(await fitting('increment')).toEqual(['id', 'small', 'hits', 'ratio', 'light', 'score', 'big', 'price']);
  expect(await fitting('append')).toEqual(['body', 'short', 'ci', 'code', 'data', ...lists]);
  expect(await fitting('prepend')).toEqual(lists);
  const removed = await execution.data('anon', '{ __type(name: "NoteRemoveInput") { inputFields { name } } }');
  expect(removed.__type.inputFields.map(({ name }: { name: string }) => name)).toEqual(
    expect.arrayContaining([...lists.slice(0, -1), 'data']),
  );
  const { __type } = await execution.data('anon', '{ __type(name: "Mutation") { fields { name args { name } } } }');
  const update = __type.fields.find(({ name }: { name: string }) => name === 'updateNoteCollection');
  expect(update.args.map(({ name }: { name: string }) => name)).toEqual([
    ...['set', 'filter', 'atMost', 'increment', 'append', 'prepend', 'remove'],
  ]);
});
