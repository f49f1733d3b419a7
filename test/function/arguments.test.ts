/**
 * Arguments of root functions: every type, defaults, and what introspection shows of them.
 */
import { describe, expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { openLibrary } from './library.ts';

const echoed: readonly (readonly [type: string, graphql: string, literal: string, answer: unknown])[] = [
  ['smallint', 'Int', '7', 7],
  ['int', 'Int', '-7', -7],
  ['bigint', 'BigInt', '"9007199254740993"', '9007199254740993'],
  ['real', 'Float', '0.5', 0.5],
  ['double precision', 'Float', '0.1', 0.1],
  ['numeric', 'BigFloat', '"12.50"', '12.50'],
  ['boolean', 'Boolean', 'true', true],
  ['text', 'String', '"a \'b\' $1 \\"c\\""', 'a \'b\' $1 "c"'],
  ['varchar(3)', 'String', '"longer than three"', 'longer than three'],
  ['char(2)', 'String', '"longer than two"', 'longer than two'],
  ['uuid', 'UUID', '"00000000-0000-0000-0000-00000000000A"', '00000000-0000-0000-0000-00000000000a'],
  ['date', 'Date', '"2024-05-01"', '2024-05-01'],
  ['time', 'Time', '"10:00"', '10:00:00'],
  ['timestamp', 'Datetime', '"2024-05-01T10:00:00.1"', '2024-05-01T10:00:00.1'],
  ['json', 'JSON', '"{\\"page\\":  3}"', '{"page":  3}'],
  ['jsonb', 'JSON', '"\\"late\\""', 'late'],
  ['timetz', 'Opaque', '"10:00+05"', '10:00:00+05'],
  ['interval', 'Opaque', '"26 hours"', '26:00:00'],
  ['inet', 'Opaque', '"192.168.0.1"', '192.168.0.1'],
  ['lib.positive', 'Opaque', '3', 3],
  ['lib.pair_domain', 'Opaque', '"(1,b)"', { a: 1, b: 'b' }],
  ['int[]', '[Int]', '[1, null, 3]', [1, null, 3]],
  ['bigint[]', '[BigInt]', '["9007199254740993"]', ['9007199254740993']],
  ['numeric[]', '[BigFloat]', '["1.50", "NaN"]', ['1.50', 'NaN']],
  ['double precision[]', '[Float]', '[0.5]', [0.5]],
  ['boolean[]', '[Boolean]', '[true, false]', [true, false]],
  ['text[]', '[String]', '["a,b", "\\"c\\\\"]', ['a,b', '"c\\']],
  ['varchar(2)[]', '[String]', '["abc"]', ['abc']],
  ['char(2)[]', '[String]', '["abc"]', ['abc']],
  ['uuid[]', '[UUID]', '"00000000-0000-0000-0000-00000000000a"', ['00000000-0000-0000-0000-00000000000a']],
  ['date[]', '[Date]', '["2024-05-01"]', ['2024-05-01']],
  ['time[]', '[Time]', '["10:00"]', ['10:00:00']],
  ['timestamp[]', '[Datetime]', '["2024-05-01 10:00"]', ['2024-05-01T10:00:00']],
  ['jsonb[]', '[JSON]', '["\\"late\\"", "null", "{\\"page\\":3}"]', ['"late"', 'null', '{"page": 3}']],
];
const echo = echoed.map(
  ([type], n) =>
    `create function lib.echo_${n}(given ${type}) returns ${type} immutable language sql as 'select given';`,
);
const tell = echoed.map(
  ([type], n) => `create function lib.tell_${n}(given ${type}) returns ${type} language sql as 'select given';`,
);

const { ask, errors, field, execution, database } = await openLibrary(
  `
  ${echo.join('\n')}
  ${tell.join('\n')}
  create function lib.add_up(a int, b int default 2, c int default 3) returns int immutable language sql
    as 'select coalesce(a, 0) * 100 + coalesce(b, 0) * 10 + coalesce(c, 0)';
  create function lib.shown(i int default 7, s smallint default 4, t text default 'it''s "so" \\ ', f float8 default 1.0,
    r real default 0.5, b boolean default true) returns text immutable language sql
    as $$ select concat_ws('|', i, s, t, f, r, b) $$;
  create function lib.hidden_defaults(i int default -7, n int default null, c int default abs(1), m int default 1 + 1,
    l bigint default 7, v varchar default 'v', x numeric default 1.5, d date default '2024-05-01',
    e uuid default NULL::uuid, j jsonb default '{}', w timestamptz default now(), a int[] default '{}') returns text
    immutable language sql as $$ select concat_ws('|', i, n is null, c, m, l, v, x, d, e is null, j, w is null, a) $$;
  create function lib.comma(days int default 7, note text default 'a, b') returns text immutable language sql as 'select days || note';
  create function lib.quoted(a text, b text default '"it''s, ("', c text[] default array['x', '],y'], d int default 3) returns text
    immutable language sql as $$ select concat_ws('|', a, b, array_to_string(c, ','), d) $$;
  create function lib.list_default(a int[] default '{1,2}') returns int[] immutable language sql as 'select a';
  create function lib.call_default(a int default greatest(1, 2)) returns int immutable language sql as 'select a';
  create function lib.nulls(a int default null, b text default NULL, c bigint default Null, d text[] default null) returns text
    immutable language sql as $$ select concat(a is null, b is null, c is null, d is null) $$;
  create function lib.out_args(a int, out b text, c int default 5) immutable language sql as 'select a || ''-'' || c';
  create function lib.in_out(inout a int) immutable language sql as 'select a + 1';
  create function lib.heartbeat() returns int immutable language sql as 'select 42';
  create function lib.by_id(node_id int) returns lib.patron stable language sql as 'select * from lib.patron where id = node_id';
  create function lib.ids_after(node_id int) returns setof lib.patron stable language sql as 'select * from lib.patron where id > node_id';
  create function lib."Renew""; --"() returns int immutable language sql as 'select 1';
  create function lib."Odd"("From" int, "order" int) returns int immutable language sql as 'select "From" - "order"';
  create function lib.strict_one(a int default 1) returns int strict immutable language sql as 'select a';
`,
  { extensions: [] },
);

describe('an argument', () => {
  test.each(echoed.map(([type, graphql, literal, answer], n) => ({ type, graphql, literal, answer, n })))(
    'of type $type is a $graphql and comes back whole from a query and from a mutation',
    async ({ graphql, literal, answer, n }) => {
      expect(await field('Query', `echo${n}`)).toBe(`(given: ${graphql}!): ${graphql}`);
      expect(await ask(`{ v: echo${n}(given: ${literal}) }`)).toEqual({ v: answer });
      expect(await ask(`mutation { v: tell${n}(given: ${literal}) }`)).toEqual({ v: answer });
      const value = JSON.parse(literal);
      const head = `query($v: ${graphql}!)`;
      expect(await ask(`${head} { v: echo${n}(given: $v) }`, { v: value })).toEqual({ v: answer });
    },
  );

  test('that is a list takes a single value and elements from variables', async () => {
    const list = echoed.findIndex(([type]) => type === 'int[]');
    expect(await ask(`{ v: echo${list}(given: 4) }`)).toEqual({ v: [4] });
    const query = `query($a: Int, $b: Int) { v: echo${list}(given: [$a, 2, $b]) }`;
    expect(await ask(query, { a: 1, b: null })).toEqual({ v: [1, 2, null] });
  });

  test('of a domain is checked by PostgreSQL', async () => {
    const domain = echoed.findIndex(([type]) => type === 'lib.positive');
    const [message] = await errors(`{ v: echo${domain}(given: 0) }`);
    expect(message).toBe('value for domain positive violates check constraint "positive_check"');
  });

  test('an argument may have any name that GraphQL can spell, an output parameter is none', async () => {
    expect(await field('Query', 'odd')).toBe('(from: Int!, order: Int!): Int');
    expect(await ask('{ odd(order: 2, from: 9) }')).toEqual({ odd: 7 });
    expect(await field('Query', 'outArgs')).toBe('(a: Int!, c: Int): String');
    expect(await ask('{ outArgs(a: 1) inOut(a: 1) }')).toEqual({ outArgs: '1-5', inOut: 2 });
  });

  test('an argument may be called like the global id, and a function may be called heartbeat', async () => {
    const query = '{ heartbeat byId(nodeId: 2) { fullName } idsAfter(nodeId: 1) { edges { node { id } } } }';
    expect(await ask(query)).toEqual({
      heartbeat: 42,
      byId: { fullName: 'Bo' },
      idsAfter: { edges: [{ node: { id: 2 } }, { node: { id: 3 } }] },
    });
  });

  test('an argument is a parameter, never text of the statement', async () => {
    const hostile = `'); drop table lib.loan; --`;
    const text = echoed.findIndex(([type]) => type === 'text');
    expect(await ask(`query($v: String!) { v: echo${text}(given: $v) }`, { v: hostile })).toEqual({ v: hostile });
    expect(await ask('{ loanByPk(id: 1) { title } }')).toEqual({ loanByPk: { title: 'Logic' } });
  });
});

describe('a default', () => {
  test("a default is PostgreSQL's, wherever an argument is left out", async () => {
    expect(await field('Query', 'addUp')).toBe('(a: Int!, b: Int, c: Int): Int');
    expect(await ask('{ x: addUp(a: 1) y: addUp(c: 9, a: 1) z: addUp(b: 4, a: 1) }')).toEqual({
      x: 123,
      y: 129,
      z: 143,
    });
    const query = 'query($b: Int, $c: Int) { addUp(a: 1, b: $b, c: $c) }';
    expect(await ask(query)).toEqual({ addUp: 123 });
    expect(await ask(query, { c: 7 })).toEqual({ addUp: 127 });
  });

  test('a default is not applied to null, which is passed on', async () => {
    expect(await ask('{ x: addUp(a: 1, b: null) strictOne(a: null) y: strictOne }')).toEqual({
      x: 103,
      strictOne: null,
      y: 1,
    });
    expect(await ask('query($b: Int = 5) { addUp(a: 1, b: $b) }', { b: null })).toEqual({ addUp: 103 });
    expect(await ask('query($b: Int = 5) { addUp(a: 1, b: $b) }')).toEqual({ addUp: 153 });
  });

  test('that is missing makes the argument required, and null an error', async () => {
    expect(await errors('{ addUp(b: 1) }')).toHaveLength(1);
    expect(await errors('{ addUp(a: null) }')).toHaveLength(1);
    expect(await errors('query($a: Int!) { addUp(a: $a) }')).toHaveLength(1);
    expect(await errors('query($a: Int) { addUp(a: $a) }', { a: null })).toEqual([
      'Variable "$a" must not be null where "Int!" is expected.',
    ]);
  });

  test('a default is shown as a literal where it is a plain one of few types', async () => {
    const shown = await shownDefaults('shown');
    expect(shown).toEqual({ i: '7', s: '4', t: '"it\'s \\"so\\" \\\\ "', f: '1', r: '0.5', b: 'true' });
    expect(await ask('{ shown }')).toEqual({ shown: '7|4|it\'s "so" \\ |1|0.5|t' });
  });

  test('a default is not shown where it is anything else, and applies all the same', async () => {
    const shown = await shownDefaults('hiddenDefaults');
    expect(Object.keys(shown)).toHaveLength(12);
    expect(new Set(Object.values(shown))).toEqual(new Set([null]));
    expect(await ask('{ hiddenDefaults }')).toEqual({ hiddenDefaults: '-7|t|1|2|7|v|1.5|2024-05-01|t|{}|f|{}' });
  });

  test('of null in any spelling makes the argument nullable, and no default is shown', async () => {
    expect(await field('Query', 'nulls')).toBe('(a: Int, b: String, c: BigInt, d: [String]): String');
    expect(new Set(Object.values(await shownDefaults('nulls')))).toEqual(new Set([null]));
    expect(await ask('{ x: nulls y: nulls(a: 1, d: ["x"]) }')).toEqual({ x: 'tttt', y: 'fttf' });
  });

  test('with a comma in it makes all arguments of the function required', async () => {
    expect(await field('Query', 'comma')).toBe('(days: Int!, note: String!): String');
    expect(await field('Query', 'listDefault')).toBe('(a: [Int]!): [Int]');
    expect(await field('Query', 'callDefault')).toBe('(a: Int!): Int');
    expect(await shownDefaults('comma')).toEqual({ days: null, note: null });
    expect(await ask('{ comma(days: 1, note: "x") listDefault(a: [3]) }')).toEqual({ comma: '1x', listDefault: [3] });
  });

  test('with a comma in it leaves its argument optional with the extension', async () => {
    const extended = await startExecution(database, { schemas: ['lib'], introspection: 'always' });
    expect(await shownDefaults('comma', extended)).toEqual({ days: '7', note: '"a, b"' });
    expect(await shownDefaults('quoted', extended)).toEqual({ a: null, b: '"\\"it\'s, (\\""', c: null, d: '3' });
    expect(await extended.data('anon', '{ comma listDefault callDefault quoted(a: "a", d: 4) }')).toEqual({
      comma: '7a, b',
      listDefault: [1, 2],
      callDefault: 2,
      quoted: 'a|"it\'s, ("|x,],y|4',
    });
  });
});

async function shownDefaults(name: string, on = execution): Promise<Record<string, string | null>> {
  const { __type } = await on.data('anon', '{ __type(name: "Query") { fields { name args { name defaultValue } } } }');
  type Shown = { readonly name: string; readonly defaultValue: string | null };
  const found = __type.fields.find((one: { readonly name: string }) => one.name === name);
  return Object.fromEntries(found.args.map((argument: Shown) => [argument.name, argument.defaultValue]));
}
