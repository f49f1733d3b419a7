/**
 * Filters: every operator, and what null, absent and empty mean for it (docs/filters.md).
 */
import { describe, expect, test } from 'vitest';
import { openReader } from './reader.ts';

const more = `
  create extension citext schema public;
  grant usage on schema public to anon;
  create table lib.word (id int primary key, n int, s text, ok boolean, f float, a int[], c char(5), ci public.citext, v varchar(4));
  insert into lib.word values
    (1, 10, 'alpha', true, 0.5, '{1,2}', 'ab', 'Qa', 'äöüß'), (2, 20, 'Beta', false, 1.5, '{}', 'abc', 'qb', 'x'),
    (3, 30, '100%', null, null, '{2,3}', 'b', null, null), (4, null, null, true, 2.5, null, null, 'QC', 'y');
  create collation lib.loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
  create table lib.player (id int primary key, name text collate lib.loose);
  comment on table lib.player is '@graphql({"aggregate": {"enabled": true}})';
  insert into lib.player values (1, 'Ada'), (2, 'ada'), (3, 'Bo');
  grant select on lib.word, lib.player to anon;`;
const { ask, run, errors, column, database } = await openReader(['query-library.sql', more], {
  extraSearchPath: ['public'],
});
const words = (filter: string, variables?: Record<string, unknown>, head?: string) =>
  column(`wordCollection(filter: ${filter})`, 'id', variables, head);

describe('an operator', () => {
  test.each([
    ['{n: {eq: 10}}', [1]],
    ['{n: {neq: 10}}', [2, 3]],
    ['{n: {lt: 20}}', [1]],
    ['{n: {lte: 20}}', [1, 2]],
    ['{n: {gt: 20}}', [3]],
    ['{n: {gte: 20}}', [2, 3]],
    ['{n: {gt: 10, lt: 30}}', [2]],
    ['{n: {gt: 99}}', []],
    ['{n: {in: [10, 30, 10]}}', [1, 3]],
    ['{n: {in: 10}}', [1]],
    ['{n: {is: NULL}}', [4]],
    ['{n: {is: "NOT_NULL"}}', [1, 2, 3]],
    ['{f: {gte: 1.5}}', [2, 4]],
    ['{f: {eq: 1}}', []],
    ['{ok: {eq: true}}', [1, 4]],
    ['{ok: {is: NULL}}', [3]],
    ['{s: {eq: "alpha"}}', [1]],
    ['{s: {neq: "alpha"}}', [2, 3]],
    ['{s: {gt: "Beta"}}', [1]],
    ['{s: {in: ["alpha", "100%"]}}', [1, 3]],
    ['{s: {startsWith: "100%"}}', [3]],
    ['{s: {startsWith: "%"}}', []],
    ['{s: {startsWith: "A"}}', []],
    ['{s: {like: "%a"}}', [1, 2]],
    ['{s: {like: "beta"}}', []],
    ['{s: {like: "B_ta"}}', [2]],
    ['{s: {like: "100\\\\%"}}', [3]],
    ['{s: {ilike: "b%"}}', [2]],
    ['{s: {regex: "^al"}}', [1]],
    ['{s: {regex: "^B|%$"}}', [2, 3]],
    ['{s: {regex: "beta"}}', []],
    ['{s: {iregex: "BETA$"}}', [2]],
    ['{s: {is: NULL}}', [4]],
    ['{a: {contains: [1, 2]}}', [1]],
    ['{a: {contains: 2}}', [1, 3]],
    ['{a: {containedBy: [1, 2, 9]}}', [1, 2]],
    ['{a: {overlaps: [3, 1]}}', [1, 3]],
    ['{a: {overlaps: 9}}', []],
    ['{a: {eq: [1, 2]}}', [1]],
    ['{a: {eq: [2, 1]}}', []],
    ['{a: {eq: []}}', [2]],
    ['{a: {is: NULL}}', [4]],
    ['{a: {is: NOT_NULL}}', [1, 2, 3]],
    ['{c: {eq: "ab"}}', [1]],
    ['{c: {startsWith: "ab "}}', [1, 2]],
    ['{c: {like: "ab"}}', []],
    ['{c: {like: "ab   "}}', [1]],
    ['{c: {regex: "^ab +$"}}', [1]],
    ['{ci: {eq: "qA"}}', [1]],
    ['{ci: {in: ["qa", "qc"]}}', [1, 4]],
    ['{ci: {like: "q%"}}', [1, 2, 4]],
    ['{ci: {startsWith: "q"}}', [2]],
    ['{v: {eq: "äöüß"}}', [1]],
    ['{v: {startsWith: "äöüß and more"}}', []],
    ['{v: {like: "longer than four%"}}', []],
  ])('in %s finds %j', async (filter, expected) => {
    expect(await words(filter)).toEqual(expected);
  });

  test.each([
    ['{state: {eq: lost}}', [2]],
    ['{state: {eq: "lost"}}', [2]],
    ['{state: {neq: out}}', [1, 2]],
    ['{state: {in: [out, lost]}}', [1, 2, 1, 1]],
    ['{state: {in: lost}}', [2]],
    ['{state: {is: NULL}}', []],
    ['{fee: {eq: "12.504"}}', [2]],
    ['{fee: {gt: "1", lt: "5"}, state: {neq: lost}}', [1]],
    ['{dueOn: {gt: "2024-05-01"}}', [1, 1]],
    ['{dueOn: {in: ["2024-05-01", "2024-06-30"]}}', [1, 1]],
    ['{patronId: {eq: 12}}', [1]],
    ['{patronId: {in: ["12", 2]}}', [1, 1]],
    ['{nodeId: {eq: "WyJsaWIiLCAibG9hbiIsIDEyLCAiUUEtNzYiLCAxXQ=="}}', [1]],
    ['{nodeId: {}}', [1, 1, 2, 1, 1]],
    ['{nodeId: null}', [1, 1, 2, 1, 1]],
  ])('on a loan in %s finds the sequence numbers %j', async (filter, expected) => {
    expect(await column(`loanCollection(filter: ${filter})`, 'seq')).toEqual(expected);
  });

  test('of a pattern that is no regular expression is an error of the database', async () => {
    expect(await run('{ wordCollection(filter: {s: {regex: "("}}) { edges { cursor } } }')).toMatchObject({
      data: null,
      errors: [{ extensions: { sqlstate: '2201B' } }],
    });
  });

  test('an operator compares no text longer than the column, unless it is a pattern', async () => {
    const message = 'Invalid input for String type. Maximum character length 4';
    const query = (filter: string) => errors(`{ wordCollection(filter: ${filter}) { edges { cursor } } }`);
    expect(await query('{v: {eq: "12345"}}')).toEqual([message]);
    expect(await query('{v: {in: ["1", "12345"]}}')).toEqual([message]);
    expect(await query('{not: {v: {lt: "12345"}}}')).toEqual([message]);
    expect(await query('{c: {eq: "123456"}}')).toEqual([message.replace('4', '5')]);
    for (const operator of ['like', 'ilike', 'regex', 'iregex', 'startsWith']) {
      expect(await query(`{v: {${operator}: "12345"}}`)).toEqual([]);
    }
    const head = 'query ($v: String, $l: [String!])';
    const given = `${head} { wordCollection(filter: {v: {eq: $v, in: $l}}) { edges { cursor } } }`;
    expect(await errors(given, { v: '12345' })).toEqual([message]);
    expect(await errors(given, { l: ['a', '12345'] })).toEqual([message]);
    expect(await errors(given, { v: 'äöüß', l: ['👍👍👍👍'] })).toEqual([]);
  });
});

describe('on a column whose collation takes different texts for equal', () => {
  const players = (filter: string) => `{ playerCollection(filter: ${filter}) { edges { node { id } } } }`;
  const given = { eq: '"ADA"', in: '["ADA"]', neq: '"bo"' };

  test.each(['eq', 'in', 'neq'] as const)('%s compares as it does', async (operator) => {
    expect(await column(`playerCollection(filter: {name: {${operator}: ${given[operator]}}})`, 'id')).toEqual([1, 2]);
  });

  test.each(['ilike', 'startsWith', 'regex', 'iregex'])(
    '%s is refused, with the name and what to use',
    async (operator) => {
      const message = new RegExp(`^"${operator}" cannot be used on "name": its collation .+ Use "eq"`);
      for (const filter of [`{name: {${operator}: "a"}}`, `{not: {or: [{name: {${operator}: "a"}}]}}`]) {
        const { errors } = await run(players(filter));
        expect(errors).toMatchObject([
          {
            message: expect.stringMatching(message),
            path: ['playerCollection'],
            extensions: { code: 'BAD_USER_INPUT' },
          },
        ]);
      }
      expect(await errors(players(`{name: {${operator}: null}}`))).toEqual([]);
      const groups = `{ playerCollection { groups(by: {column: id}, having: {max: {name: {${operator}: "a"}}}) { count } } }`;
      expect(await errors(groups)).toEqual([expect.stringMatching(message)]);
    },
  );

  test('like compares as it does, or is refused where PostgreSQL cannot', async () => {
    const [server] = await database.query<{ version: number }>(
      `select current_setting('server_version_num')::int as version`,
    );
    if (server!.version >= 180_000) {
      expect(await column('playerCollection(filter: {name: {like: "ad%"}})', 'id')).toEqual([1, 2]);
    } else {
      expect(await errors(players('{name: {like: "ad%"}}'))).toEqual([
        expect.stringMatching(/^"like" cannot .+ Use "eq" or "in"/),
      ]);
    }
  });
});

describe('null, absent and empty', () => {
  const all = [1, 2, 3, 4];
  type Case = readonly [filter: string, expected: readonly number[]];
  const cases: readonly Case[] = [
    ['null', all],
    ['{}', all],
    ['{n: null}', all],
    ['{n: {}}', all],
    ['{n: {}, s: {eq: "alpha"}}', [1]],
    ...['eq', 'neq', 'lt', 'lte', 'gt', 'gte', 'in'].map((operator): Case => [`{n: {${operator}: null}}`, []]),
    ...['like', 'ilike', 'regex', 'iregex', 'startsWith'].map((operator): Case => [`{s: {${operator}: null}}`, []]),
    ...['contains', 'containedBy', 'overlaps', 'eq'].map((operator): Case => [`{a: {${operator}: null}}`, []]),
    ['{not: {n: {eq: null}}}', []],
    ['{not: {n: {in: null}}}', []],
    ['{n: {in: []}}', []],
    ['{not: {n: {in: []}}}', all],
    ['{a: {contains: []}}', [1, 2, 3]],
    ['{a: {containedBy: []}}', [2]],
    ['{a: {overlaps: []}}', []],
  ];
  test.each(cases)('%s finds %j', async (filter, expected) => {
    expect(await words(filter)).toEqual(expected);
  });

  test.each(['is', 'eq', 'neq', 'in', 'lt'])('an absent variable as the operand of %s is ignored', async (operator) => {
    const type = operator === 'is' ? 'FilterIs' : operator === 'in' ? '[Int!]' : 'Int';
    expect(await words(`{n: {${operator}: $x}}`, {}, `query ($x: ${type})`)).toEqual(all);
  });

  test('a null variable as an operand matches no row, as the whole filter or a column entry every row', async () => {
    expect(await words('{n: {eq: $x}}', { x: null }, 'query ($x: Int)')).toEqual([]);
    expect(await words('{n: {in: $x}}', { x: null }, 'query ($x: [Int!])')).toEqual([]);
    expect(await words('{n: $x}', { x: null }, 'query ($x: IntFilter)')).toEqual(all);
    expect(await words('$x', { x: null }, 'query ($x: WordFilter)')).toEqual(all);
    expect(await words('$x', { x: { n: { eq: null } } }, 'query ($x: WordFilter)')).toEqual([]);
  });

  test('"is: null" fails the field, in the document and in a variable', async () => {
    const expected = {
      data: null,
      errors: [{ message: '"is" on "n" must be NULL or NOT_NULL.', path: ['wordCollection'] }],
    };
    expect(await run('{ wordCollection(filter: {n: {is: null}}) { edges { cursor } } }')).toMatchObject(expected);
    const query = 'query ($x: FilterIs) { wordCollection(filter: {n: {is: $x}}) { edges { cursor } } }';
    expect(await run(query, { x: null })).toMatchObject(expected);
    expect(await run(query, { x: 'NULL' })).not.toHaveProperty('errors');
    expect(await run(query, { x: 'MAYBE' })).not.toHaveProperty('data');
    expect(await run('{ wordCollection(filter: {n: {is: MAYBE}}) { edges { cursor } } }')).not.toHaveProperty('data');
  });
});

describe('boolean operators', () => {
  test.each([
    ['{and: [{n: {gte: 20}}, {n: {lt: 30}}]}', [2]],
    ['{and: [{n: {gte: 20}}]}', [2, 3]],
    ['{and: [{n: {gt: 0}}, {n: {lt: 30}}, {s: {like: "%a"}}]}', [1, 2]],
    ['{or: [{n: {eq: 10}}, {n: {eq: 30}}]}', [1, 3]],
    ['{or: [{n: {eq: 10}}]}', [1]],
    ['{or: [{n: {eq: 10}}, {n: {eq: 20}}, {n: {is: NULL}}]}', [1, 2, 4]],
    ['{or: [{n: {eq: 10}, s: {eq: "Beta"}}, {n: {eq: 30}, s: {eq: "100%"}}]}', [3]],
    ['{or: {n: {eq: 10}, s: {eq: "Beta"}}}', []],
    ['{or: {n: {eq: 10}, s: {eq: "alpha"}}}', [1]],
    ['{not: {n: {eq: 10}}}', [2, 3]],
    ['{not: {n: {eq: 10}, s: {eq: "Beta"}}}', [1, 2, 3]],
    ['{not: {not: {n: {eq: 10}}}}', [1]],
    ['{and: []}', [1, 2, 3, 4]],
    ['{or: []}', [1, 2, 3, 4]],
    ['{not: {}}', [1, 2, 3, 4]],
    ['{and: null, or: null, not: null}', [1, 2, 3, 4]],
    ['{and: [{}]}', [1, 2, 3, 4]],
    ['{or: [{}]}', [1, 2, 3, 4]],
    ['{or: [{}, {}]}', [1, 2, 3, 4]],
    ['{or: [{}, {n: {eq: 10}}]}', [1]],
    ['{or: [{n: null}, {n: {}}, {n: {eq: 10}}]}', [1]],
    ['{not: {or: [{}]}}', [1, 2, 3, 4]],
    ['{or: [{and: [{}]}, {n: {eq: 10}}]}', [1]],
    ['{id: {gt: 1}, or: [{n: {eq: 10}}, {n: {eq: 20}}]}', [2]],
    ['{or: [{and: [{n: {gte: 20}}, {n: {lte: 20}}]}, {n: {is: NULL}}]}', [2, 4]],
    ['{and: [{or: [{n: {eq: 10}}, {n: {eq: 20}}]}, {ok: {eq: false}}]}', [2]],
    ['{and: [{or: [{not: {n: {eq: 10}}}, {s: {is: NULL}}]}]}', [2, 3, 4]],
    ['{and: [{id: {gt: 1}}], or: [{id: {lt: 4}}], not: {id: {eq: 2}}}', [3]],
  ])('%s finds %j', async (filter, expected) => {
    expect(await words(filter)).toEqual(expected);
  });

  test('boolean operators may be nested thirty levels deep', async () => {
    const nested = `${'{and: [{or: ['.repeat(15)}{n: {eq: 10}}${']}]}'.repeat(15)}`;
    expect(await words(nested)).toEqual([1]);
  });

  test('drop elements that are empty because their variables are absent', async () => {
    const head = 'query ($a: Int, $b: Int)';
    const filter = '{or: [{n: {eq: $a}}, {n: {eq: $b}}]}';
    expect(await words(filter, { a: 10 }, head)).toEqual([1]);
    expect(await words(filter, { a: 10, b: 20 }, head)).toEqual([1, 2]);
    expect(await words(filter, {}, head)).toEqual([1, 2, 3, 4]);
  });
});

describe('a filter from variables', () => {
  test('a filter from variables may be the whole filter, a column entry, an operand, a list, or an element of a list', async () => {
    expect(
      await words(
        '$f',
        { f: { n: { gt: 10 }, or: [{ ok: { eq: false } }, { ok: { is: 'NULL' } }] } },
        'query ($f: WordFilter)',
      ),
    ).toEqual([2, 3]);
    expect(await words('$f', { f: { or: { n: { eq: 10 } } } }, 'query ($f: WordFilter)')).toEqual([1]);
    expect(await words('{n: $x}', { x: { lt: 30, gt: 10 } }, 'query ($x: IntFilter)')).toEqual([2]);
    expect(await words('{n: {eq: $x}}', { x: 20 }, 'query ($x: Int)')).toEqual([2]);
    expect(await words('{n: {in: $x}}', { x: [10, 20] }, 'query ($x: [Int!])')).toEqual([1, 2]);
    expect(await words('{n: {in: $x}}', { x: 10 }, 'query ($x: [Int!])')).toEqual([1]);
    expect(await words('{n: {in: [$x, 30, $y]}}', { x: 10, y: 20 }, 'query ($x: Int!, $y: Int!)')).toEqual([1, 2, 3]);
    expect(await words('{and: [$f, {ok: {eq: true}}]}', { f: { n: { gt: 0 } } }, 'query ($f: WordFilter!)')).toEqual([
      1,
    ]);
    expect(await words('{a: {overlaps: [$x]}}', { x: 3 }, 'query ($x: Int!)')).toEqual([3]);
    expect(await words('{not: $f}', { f: { n: { eq: 10 } } }, 'query ($f: WordFilter)')).toEqual([2, 3]);
  });

  test.each([
    [{ f: { nope: { eq: 1 } } }],
    [{ f: 'n' }],
    [{ f: { n: 1 } }],
    [{ f: { n: { eq: 'x' } } }],
    [{ f: { n: { eq: [1] } } }],
    [{ f: { n: { in: [null] } } }],
    [{ f: { n: { equal: 1 } } }],
    [{ f: { and: [null] } }],
    [{ f: { 'n; drop table lib.word': { eq: 1 } } }],
  ])('with %j is rejected', async (variables) => {
    const body = await run('query ($f: WordFilter) { wordCollection(filter: $f) { edges { cursor } } }', variables);
    expect(body).not.toHaveProperty('data');
    expect(body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
  });

  test('with SQL in a text finds nothing and leaves the rows as they are', async () => {
    for (const value of ["'; drop table lib.word; --", '\\', '"', '$1', '$$', '{1,2}', '\u0001', '\n']) {
      expect(await words('{s: {eq: $v, like: $v, in: [$v]}}', { v: value }, 'query ($v: String!)')).toEqual([]);
      expect(await words(`{s: {in: [${JSON.stringify(value)}]}}`)).toEqual([]);
    }
    expect(await database.query('select from lib.word')).toHaveLength(4);
  });

  test('with a NUL character is an error, not a crash', async () => {
    const body = await run('query ($v: String) { wordCollection(filter: {s: {eq: $v}}) { edges { cursor } } }', {
      v: 'a\0b',
    });
    expect(body).toMatchObject({ errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] });
  });
});

describe('a filter by node id', () => {
  const id = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');
  const query = 'query ($id: ID) { patronCollection(filter: {nodeId: {eq: $id}}) { edges { node { fullName } } } }';

  test('a filter by node id finds its row, and is ignored where its variable is absent', async () => {
    expect((await ask(query, { id: id(['lib', 'patron', 12]) })).patronCollection.edges).toEqual([
      { node: { fullName: 'Eve' } },
    ]);
    expect((await ask(query, { id: id(['lib', 'patron', 99]) })).patronCollection.edges).toEqual([]);
    expect((await ask(query)).patronCollection.edges).toHaveLength(6);
  });

  test.each([
    [id(['lib', 'volume', 'QA-9']), 'nodeId belongs to a different collection'],
    [id(['other', 'patron', 12]), 'nodeId belongs to a different collection'],
    ['nonsense!', 'Invalid nodeId.'],
    [id(['lib', 'patron', 1, 2]), expect.any(String)],
    [null, expect.any(String)],
  ])('of %j fails the field: %s', async (value, message) => {
    const expected = { data: null, errors: [{ message, path: ['patronCollection'] }] };
    expect(await run(query, { id: value })).toMatchObject(expected);
    const literal = `{ patronCollection(filter: {nodeId: {eq: ${JSON.stringify(value)}}}) { edges { cursor } } }`;
    expect(await run(literal)).toMatchObject(expected);
  });
});
