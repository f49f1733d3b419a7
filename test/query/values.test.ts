/**
 * Values of every type as they are read, and as they come in.
 */
import { describe, expect, test } from 'vitest';
import { openReader } from './reader.ts';

const { ask, run, errors, column, execution } = await openReader(['query-types.sql'], { extensions: [] });
const uuid = '00000000-0000-0000-0000-00000000000a';
const value = async (field: string, id = 1) => (await ask(`{ thingByPk(id: ${id}) { ${field} } }`)).thingByPk[field];

describe('a value that is read', () => {
  test.each([
    ['small', 7],
    ['big', '9007199254740993'],
    ['single', 0.5],
    ['double', 0.1],
    ['amount', '12.50'],
    ['anything', '123456789012345678901234567890.10'],
    ['flag', true],
    ['txt', 'tea "x" \\'],
    ['short', 'ab'],
    ['padded', 'x  '],
    ['letter', 'q'],
    ['uid', uuid],
    ['day', '2024-05-01'],
    ['clock', '10:00:00'],
    ['stamp', '2024-05-01T10:00:00.1'],
    ['zoned', '2024-05-01T08:00:00.12+00:00'],
    ['js', '{"page":  3}'],
    ['jb', '{"page": 3}'],
    ['hue', 'DARK_BLUE'],
    ['hiddenEnum', 'x'],
    ['ints', [1, null, 3]],
    ['bigs', ['9007199254740993']],
    ['amounts', ['1.50', 'NaN']],
    ['floats', [0.5, 'Infinity']],
    ['flags', [true, false]],
    ['txts', ['a', 'b,c']],
    ['shorts', ['ab']],
    ['uids', [uuid]],
    ['days', ['2024-05-01']],
    ['clocks', ['10:00:00']],
    ['stamps', ['2024-05-01T10:00:00+00:00']],
    ['jbs', ['"late"', 'null', '{"page": 3}', null]],
    ['hues', ['DARK_BLUE', 'red']],
    ['plains', ['two']],
    ['span', '1 day 02:00:00'],
    ['bytes', '\\xdeadbeef'],
    ['price', '$1.50'],
    ['zclock', '10:00:00+05'],
    ['bounds', '[1,5)'],
    ['objectId', '5'],
    ['spot', '(1,2)'],
    ['address', '192.168.0.1'],
    ['bits', '101'],
    ['ident', 'nm'],
    ['domInt', 5],
    ['domEnum', 'red'],
    ['domPair', { a: 1, b: 'b' }],
    ['stampRounded', '2024-05-01T10:00:00'],
  ])('of the column %s is %j', async (field, expected) => {
    expect(await value(field)).toEqual(expected);
    expect(await value(field, 2)).toBeNull();
  });

  test.each([
    ['double', 'NaN'],
    ['single', '-Infinity'],
    ['amount', 'NaN'],
    ['js', null],
    ['jb', 'late'],
    ['day', 'infinity'],
    ['stamp', '-infinity'],
    ['hue', '2nd'],
    [
      'ints',
      [
        [1, 2],
        [3, 4],
      ],
    ],
  ])('of the column %s may be unusual: %j', async (field, expected) => {
    expect(await value(field, 3)).toEqual(expected);
  });

  test('of an enum array has the names of its values in the dimensions that it is stored in', async () => {
    const rows = [
      { hues: [['GRUEN', null, '2nd'], ['red', 'DARK_BLUE', 'GRUEN']], turns: ['right', 'left', null, 'AROUND', 'right'] },
      { hues: [], turns: ['AROUND', 'left'] },
      { hues: null, turns: null },
    ]; // biome-ignore format: rows
    const data = await ask('{ walkCollection { edges { node { hues turns } } } one: walkByPk(id: 1) { hues turns } }');
    expect(data.walkCollection.edges.map(({ node }: { node: unknown }) => node)).toEqual(rows);
    expect(data.one).toEqual(rows[0]);
    expect((await ask('{ walkByPk(id: 1) { hues turns } }')).walkByPk).toEqual(rows[0]);
  });

  test('of a domain over numeric or over jsonb keeps all digits in the text of the answer', async () => {
    const { body } = await execution.answer('anon', '{ thingByPk(id: 1) { domNumber domJson } }');
    expect(body).toContain('"domNumber":123456789012345678901.5');
    expect(String(body).replaceAll(' ', '')).toContain('"domJson":{"n":123456789012345678901.5}');
  });

  test('a value that is read is the same inside a connection', async () => {
    const fields = 'big amount padded jb hue hues jbs bigs price domPair objectId zoned';
    const data = await ask(
      `{ thingByPk(id: 1) { ${fields} } thingCollection(first: 1) { edges { node { ${fields} } } } }`,
    );
    expect(data.thingCollection.edges[0].node).toEqual(data.thingByPk);
  });
});

describe('an operand', () => {
  const ids = (filter: string, variables?: Record<string, unknown>, head?: string) =>
    column(`thingCollection(filter: ${filter})`, 'id', variables, head);

  test.each([
    ['{small: {eq: 7}}'],
    ['{big: {eq: 9007199254740993}}'],
    ['{big: {eq: "9007199254740993"}}'],
    ['{big: {in: [1, "9007199254740993"]}}'],
    ['{single: {eq: 0.5}}'],
    ['{double: {eq: 0.1}}'],
    ['{amount: {eq: "12.504"}}'],
    ['{anything: {eq: "123456789012345678901234567890.1"}}'],
    ['{flag: {eq: true}}'],
    ['{txt: {eq: "tea \\"x\\" \\\\"}}'],
    ['{padded: {eq: "x"}}'],
    ['{letter: {eq: "q"}}'],
    ['{letter: {in: ["q", "r"]}}'],
    ['{letter: {like: "q", ilike: "Q", regex: "q", iregex: "Q", startsWith: "q"}}'],
    ['{short: {like: "a%", ilike: "AB", regex: "^a", iregex: "^A", startsWith: "a"}}'],
    ['{uid: {eq: "{00000000-0000-0000-0000-00000000000A}"}}'],
    ['{day: {eq: "1 May 2024"}}'],
    ['{clock: {eq: "10:00"}}'],
    ['{stamp: {eq: "2024-05-01 10:00:00.1"}}'],
    ['{zoned: {eq: "2024-05-01 10:00:00.12+02"}}'],
    ['{stampRounded: {eq: "2024-05-01 10:00:00.3"}}'],
    ['{hue: {eq: DARK_BLUE}}'],
    ['{hue: {in: ["DARK_BLUE", GRUEN]}}'],
    ['{hiddenEnum: {eq: x}}'],
    ['{hiddenEnum: {eq: "x"}}'],
    ['{span: {eq: "26 hours"}}'],
    ['{bytes: {eq: "\\\\xdeadbeef"}}'],
    ['{price: {eq: 1.5}}'],
    ['{address: {eq: "192.168.0.1/32"}}'],
    ['{bounds: {eq: "[1,4]"}}'],
    ['{objectId: {eq: 5}}'],
    ['{domInt: {eq: 5}}'],
    ['{domNumber: {eq: "123456789012345678901.50"}}'],
    ['{domJson: {is: NOT_NULL}}'],
    ['{bits: {eq: "101"}}'],
    ['{bigs: {contains: 9007199254740993}}'],
    ['{amounts: {overlaps: ["1.5"]}}'],
    ['{floats: {contains: [0.5]}}'],
    ['{flags: {eq: [true, false]}}'],
    ['{txts: {containedBy: ["a", "b,c", "d"]}}'],
    ['{uids: {contains: "00000000-0000-0000-0000-00000000000A"}}'],
    ['{days: {eq: "2024-05-01"}}'],
    ['{clocks: {overlaps: "10:00"}}'],
    ['{stamps: {contains: "2024-05-01T12:00:00+02"}}'],
  ])('in %s is cast to the type of its column', async (filter) => {
    expect(await ids(filter)).toEqual([1]);
  });

  test.each([
    ['BigInt', '{big: {eq: $v}}', '9007199254740993'],
    ['Float', '{double: {eq: $v}}', 0.1],
    ['BigFloat', '{amount: {eq: $v}}', '12.5'],
    ['Boolean', '{flag: {eq: $v}}', true],
    ['UUID', '{uid: {eq: $v}}', uuid],
    ['Date', '{day: {eq: $v}}', '2024-05-01'],
    ['Datetime', '{zoned: {eq: $v}}', '2024-05-01T08:00:00.12Z'],
    ['Color', '{hue: {eq: $v}}', 'DARK_BLUE'],
    ['[Color!]', '{hue: {in: $v}}', ['GRUEN', 'DARK_BLUE']],
    ['Opaque', '{objectId: {eq: $v}}', 5],
    ['Opaque', '{address: {eq: $v}}', '192.168.0.1'],
    ['[BigInt!]', '{big: {in: $v}}', ['1', '9007199254740993']],
    ['[BigFloat!]', '{amounts: {contains: $v}}', ['1.5']],
    ['[Boolean!]', '{flags: {eq: $v}}', [true, false]],
    ['[String!]', '{txts: {contains: $v}}', ['b,c']],
    ['[String!]', '{shorts: {contains: $v}}', 'ab'],
  ])('an operand may be a variable of type %s in %s', async (type, filter, variable) => {
    expect(await ids(filter, { v: variable }, `query ($v: ${type})`)).toEqual([1]);
  });

  test.each([
    ['{amount: {eq: 12.5}}'],
    ['{amount: {eq: 12}}'],
    ['{big: {eq: 1.5}}'],
    ['{small: {eq: "7"}}'],
    ['{small: {eq: 2147483648}}'],
    ['{flag: {eq: 1}}'],
    ['{txt: {eq: 1}}'],
    ['{txt: {eq: token}}'],
    ['{day: {eq: 20240501}}'],
    ['{hue: {eq: GREEN}}'],
    ['{hue: {eq: green}}'],
    ['{price: {eq: [1]}}'],
    ['{price: {eq: {a: 1}}}'],
    ['{ints: {contains: [[1]]}}'],
    ['{ints: {contains: [1, null]}}'],
    ['{jb: {is: NULL}}'],
    ['{hues: {is: NULL}}'],
  ])('in %s is rejected', async (filter) => {
    expect(await run(`{ thingCollection(filter: ${filter}) { edges { cursor } } }`)).not.toHaveProperty('data');
  });

  test('that PostgreSQL cannot read is its error, with its message', async () => {
    expect(await run('{ thingCollection(filter: {day: {eq: "someday"}}) { edges { cursor } } }')).toMatchObject({
      data: null,
      errors: [
        {
          message: 'invalid input syntax for type date: "someday"',
          extensions: { code: 'BAD_USER_INPUT', sqlstate: '22007' },
        },
      ],
    });
    expect(await errors('{ thingCollection(filter: {small: {eq: 40000}}) { edges { cursor } } }')).toHaveLength(1);
  });

  test('of a type without an equality operator is refused, and the error names the column', async () => {
    const body = await run('{ thingCollection(filter: {spot: {eq: "(1,2)"}}) { edges { cursor } } }');
    expect(body).toMatchObject({
      data: null,
      errors: [
        {
          message: expect.stringMatching(/^"spot" has a type whose values PostgreSQL cannot compare/),
          extensions: { code: 'BAD_USER_INPUT' },
        },
      ],
    });
  });
});

describe('an enum', () => {
  test('sorts by position, and answers a label that is no name as it is', async () => {
    const data = await ask('{ thingCollection(orderBy: {hue: AscNullsLast}) { edges { node { hue } } } }');
    expect(data.thingCollection.edges.map((edge: typeof data) => edge.node.hue)).toEqual(['DARK_BLUE', '2nd', null]);
    expect(await column('thingCollection(filter: {hue: {eq: "2nd"}})', 'id')).toEqual([3]);
  });

  test('an enum may get a label between others, which sorts where it stands', async () => {
    const later = await openReader([
      "create schema lib; grant usage on schema lib to anon; create type lib.size as enum ('s', 'l'); create table lib.shirt (id int primary key, size lib.size); insert into lib.shirt values (1, 'l'), (2, 's'); grant select on lib.shirt to anon",
    ]);
    const sizes = (given: string) => later.column(`shirtCollection${given}`, 'size');
    expect(await sizes('(orderBy: {size: AscNullsLast})')).toEqual(['s', 'l']);
    await later.database.query("alter type lib.size add value 'm' before 'l'");
    await later.database.query("insert into lib.shirt values (3, 'm')");
    // Not yet in the schema, and readable already.
    expect(await sizes('(orderBy: {size: AscNullsLast})')).toEqual(['s', 'm', 'l']);
    await later.execution.reload();
    expect(await sizes('(filter: {size: {in: [m, s]}}, orderBy: {size: DescNullsLast})')).toEqual(['m', 's']);
  });

  test('an enum stands in a cursor under its label', async () => {
    const data = await ask('{ thingCollection(first: 1, orderBy: {hue: AscNullsLast}) { edges { cursor } } }');
    expect(Buffer.from(data.thingCollection.edges[0].cursor, 'base64').toString()).toBe('["dark-blue", 1]');
  });
});
