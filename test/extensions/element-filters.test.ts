/** Arrays are filtered by their elements, and arrays of enums as other arrays are (extension `reads`). */
import { describe, expect, test } from 'vitest';
import { type Json, startExecution } from '../support/execution.ts';
import { createDatabase, createSchema } from '../support/postgres.ts';
import { modelReader } from '../support/read-model.ts';

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create extension citext;
  create collation loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
  create type state as enum ('new', 'paid', 'on-hold', 'off hold');
  comment on type state is '@graphql({"mappings": {"on-hold": "ON_HOLD"}})';
  create domain small as int check (value < 100);
  create domain numbers as int[];
  create table item (id int primary key, tags text[], scores int[], prices numeric(8,2)[], codes varchar(3)[], states state[],
    small small[], numbers numbers, words citext[], days timestamptz[], loose text[] collate loose, flags bool[], settings jsonb[]);
  insert into item values
    (1, '{red,blue}', '{1,5}', '{1.50}', '{abc}', '{new,on-hold}', '{5}', '{1,2}', '{Red}', '{2024-01-31 23:30+00}', '{Red}', '{t,f}', '{}'),
    (2, '{red,NULL}', '{5,6}', '{2}', '{a,b}', '{paid}', '{50}', '{3}', '{blue,RED}', '{2025-01-31 23:30+00}', '{x}', '{t}', null),
    (3, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', null),
    (4, null, null, null, null, null, null, null, null, null, null, null, null),
    (5, '{{red,green},{rose,blue}}', '{{7}}', '{0}', '{NULL}', '{NULL,"off hold"}', '{NULL}', '{NULL}', '{NULL}', '{NULL}', '{NULL}', '{NULL}', null);
  create function doubled(item) returns int[] immutable language sql as 'select array(select 2 * s from pg_catalog.unnest($1.scores) s)';
  comment on function doubled(item) is '@graphql({"filter": true})';
  create function past(item) returns state[] immutable language sql as 'select $1.states[:1]';
  comment on function past(item) is '@graphql({"filter": true})';
  create table part (id int primary key, item_id int references item, labels text[]);
  insert into part values (1, 1, '{x}'), (2, 1, '{y,z}'), (3, 2, '{z}');
  grant all on item, part to anon;
  create schema plain; grant usage on schema plain to anon;
  create table plain.other (id int primary key, tags text[], states state[]); grant select on plain.other to anon;
  insert into plain.other values (1, '{a}', '{new}');
`);
const execution = await startExecution(database, { introspection: 'always' });

type Variables = Record<string, unknown>;

const operation = (filter: string, declared = '') =>
  `query ${declared} { itemCollection(filter: ${filter}) { edges { node { id } } } }`;

async function items(filter: string, variables: Variables = {}, declared = ''): Promise<readonly number[]> {
  const { itemCollection } = await execution.data('anon', operation(filter, declared), { variables });
  return itemCollection.edges.map(({ node }: Json) => node.id);
}

describe('elements', () => {
  test.each([
    // Of `anyElement` one is enough; of `everyElement` unknown is not. Of null arrays nothing is known.
    ['tags: {anyElement: {eq: "red"}}', [1, 2, 5], [3]],
    ['tags: {everyElement: {eq: "red"}}', [3], [1, 2, 5]],
    ['tags: {everyElement: {in: ["red", "blue"]}}', [1, 3], [2, 5]],
    ['tags: {anyElement: {startsWith: "r", like: "%o%"}}', [5], [1, 2, 3]],
    ['tags: {anyElement: {startsWith: "r"}, everyElement: {neq: "blue"}}', [], [1, 2, 3, 5]],
    ['tags: {anyElement: {is: NULL}}', [2], [1, 3, 5]],
    ['tags: {everyElement: {is: NOT_NULL}}', [1, 3, 5], [2]],
    ['tags: {anyElement: {neq: "red"}}', [1, 5], [2, 3]],
    ['tags: {anyElement: {eq: null}}', [], [1, 2, 3, 5]],
    ['tags: {everyElement: {eq: null}}', [3], [1, 2, 5]],
    // Without a condition, `anyElement` finds arrays that have elements.
    ['tags: {anyElement: {}}', [1, 2, 5], [3]],
    ['tags: {anyElement: {}, contains: ["blue"]}', [1, 5], [2, 3]],
    ['tags: {is: NULL}', [4], [1, 2, 3, 5]],
    ['scores: {anyElement: {gt: 5}}', [2, 5], [1, 3]],
    ['scores: {everyElement: {gte: 5, lt: 7}}', [2, 3], [1, 5]],
    ['prices: {anyElement: {lte: "1.5"}}', [1, 5], [2, 3]],
    ['codes: {anyElement: {eq: "abc"}}', [1], [2, 3, 5]],
    ['small: {anyElement: {gt: 1000}}', [], [1, 2, 3, 5]],
    ['numbers: {everyElement: {gt: 2}}', [2, 3], [1, 5]],
    ['words: {anyElement: {eq: "red"}}', [1, 2], [3, 5]],
    ['words: {everyElement: {ilike: "RE%"}}', [1, 3], [2, 5]],
    ['days: {anyElement: {gt: "2025-01-01"}}', [2], [1, 3, 5]],
    ['flags: {everyElement: {eq: true}}', [2, 3], [1, 5]],
    ['loose: {anyElement: {eq: "RED"}}', [1], [2, 3, 5]],
    ['doubled: {anyElement: {eq: 12}}', [2], [1, 3, 4, 5]],
    // The elements of an enum, under their GraphQL names.
    ['states: {contains: [ON_HOLD]}', [1], [2, 3, 5]],
    ['states: {containedBy: [new, ON_HOLD, "off hold"]}', [1, 3], [2, 5]],
    ['states: {overlaps: [paid, new]}', [1, 2], [3, 5]],
    ['states: {eq: [new, ON_HOLD]}', [1], [2, 3, 5]],
    ['states: {eq: []}', [3], [1, 2, 5]],
    ['states: {is: NOT_NULL}', [1, 2, 3, 5], [4]],
    ['states: {anyElement: {in: [ON_HOLD, "off hold"]}}', [1, 5], [2, 3]],
    ['states: {everyElement: {neq: paid}}', [1, 3], [2, 5]],
    ['past: {contains: new}', [1], [2, 3, 5]],
  ])('%s', async (entry, ids, others) => {
    expect(await items(`{${entry}}`)).toEqual(ids);
    expect(await items(`{not: {${entry}}}`)).toEqual(others);
    expect(await items(`{not: {not: {${entry}}}}`)).toEqual(ids);
  });

  test.each(['{}', 'null', '{anyElement: null}', '{everyElement: null}', '{everyElement: {}}', '{anyElement: $no}'])(
    '%s is no condition',
    async (filter) => {
      expect(await items(`{tags: ${filter}}`, {}, '($no: StringFilter)')).toEqual([1, 2, 3, 4, 5]);
      expect(await items(`{not: {tags: ${filter}}}`, {}, '($no: StringFilter)')).toEqual([1, 2, 3, 4, 5]);
    },
  );

  test('values, conditions and whole filters come from variables, and values are no part of the statement', async () => {
    const texts = await Promise.all(
      [
        ['red', 5],
        ['blue', 1],
      ].map(async ([tag, score]) => {
        const filter = '{tags: {anyElement: {eq: $tag}}, scores: {anyElement: $score}}';
        const variables = { tag, score: { eq: score } };
        expect(await items(filter, variables, '($tag: String, $score: IntFilter)')).toEqual(
          tag === 'red' ? [1, 2] : [1],
        );
        return (
          await execution.statements('anon', operation(filter, '($tag: String, $score: IntFilter)'), { variables })
        )[0]!.text;
      }),
    );
    expect(new Set(texts).size).toBe(1);
    expect(await items('$f', { f: { states: { anyElement: { eq: 'ON_HOLD' } } } }, '($f: ItemFilter)')).toEqual([1]);
    expect(await items('{states: $s}', { s: { overlaps: ['paid'] } }, '($s: StateListFilter)')).toEqual([2]);
    expect(await items('{states: {contains: $s}}', { s: ['ON_HOLD'] }, '($s: [State!])')).toEqual([1]);
    expect(await items('{tags: $t}', { t: { everyElement: { neq: 'x' } } }, '($t: StringListFilter)')).toEqual([
      1, 3, 5,
    ]);
  });

  test('elements are filtered in related rows, updates and deletes', async () => {
    expect(await items('{partCollection: {some: {labels: {anyElement: {eq: "z"}}}}}')).toEqual([1, 2]);
    expect(await items('{partCollection: {every: {labels: {anyElement: {eq: "z"}}}}}')).toEqual([2, 3, 4, 5]);
    expect(await items('{partCollection: {none: {labels: {everyElement: {gt: "x"}}}}}')).toEqual([3, 4, 5]);
    const update =
      'mutation { updatePartCollection(set: {labels: ["q"]}, filter: {labels: {everyElement: {eq: "x"}}}, atMost: 3) { records { id } } }';
    expect((await execution.data('anon', update)).updatePartCollection.records).toEqual([{ id: 1 }]);
    const remove =
      'mutation { deleteFromPartCollection(filter: {labels: {anyElement: {eq: "q"}}}, atMost: 3) { affectedCount } }';
    expect((await execution.data('anon', remove)).deleteFromPartCollection.affectedCount).toBe(1);
  });

  test.each([
    ['{codes: {anyElement: {eq: "abcd"}}}', 'Invalid input for String type. Maximum character length 3'],
    ['{tags: {anyElement: {is: null}}}', '"is" on "tags" must be NULL or NOT_NULL.'],
    [
      '{loose: {anyElement: {ilike: "r%"}}}',
      '"ilike" cannot be used on "loose": its collation takes different texts for equal, and PostgreSQL looks for no such patterns in it.',
    ],
  ])('%s is refused', async (filter, message) => {
    const { errors } = await execution.run('anon', operation(filter));
    expect(errors).toMatchObject([{ path: ['itemCollection'], extensions: { code: 'BAD_USER_INPUT' } }]);
    expect(errors[0].message).toContain(message);
  });

  test('an operation has at most 100 filters of elements, and their patterns count as others do', async () => {
    const many = (count: number) =>
      `{or: [${Array.from({ length: count }, () => '{tags: {anyElement: {eq: "blue"}}}').join(', ')}]}`;
    expect(await items(many(100))).toEqual([1, 5]);
    expect((await execution.run('anon', operation(many(101)))).errors).toMatchObject([
      { extensions: { code: 'LIMIT_EXCEEDED', limit: 'elementFilters' } },
    ]);
    const long = await execution.run('anon', operation(`{tags: {anyElement: {like: "${'a'.repeat(2001)}"}}}`));
    expect(long.errors).toMatchObject([{ extensions: { code: 'LIMIT_EXCEEDED', limit: 'operands' } }]);
  });
});

describe('the schema', () => {
  const fieldsOf = async (type: string, on = execution) => {
    const { __type } = await on.data('anon', `{ __type(name: "${type}") { inputFields { name type { name } } } }`);
    return __type?.inputFields.map(({ name, type: { name: of } }: Json) => `${name}: ${of}`) ?? null;
  };

  test('lists have the filter of their scalar or enum for elements', async () => {
    expect((await fieldsOf('IntListFilter')).slice(-2)).toEqual(['anyElement: IntFilter', 'everyElement: IntFilter']);
    expect(await fieldsOf('StateListFilter')).toEqual([
      ...['containedBy: null', 'contains: null', 'eq: null', 'is: FilterIs', 'overlaps: null'],
      ...['anyElement: StateFilter', 'everyElement: StateFilter'],
    ]);
    expect(await fieldsOf('ItemFilter')).not.toContainEqual(expect.stringContaining('settings'));
  });

  test('a schema without the extension has neither, also beside one that has it', async () => {
    const none = await startExecution(database, { introspection: 'always', extensions: [] });
    expect(await fieldsOf('IntListFilter', none)).toHaveLength(5);
    expect(await fieldsOf('StateListFilter', none)).toBeNull();
    expect(await fieldsOf('ItemFilter', none)).not.toContainEqual(expect.stringContaining('states'));
    await database.query(`comment on schema plain is '@graphql({"inflect_names": true, "extensions": []})'`);
    const both = await startExecution(database, { introspection: 'always', schemas: ['public', 'plain'] });
    expect(await fieldsOf('OtherFilter', both)).not.toContainEqual(expect.stringContaining('states'));
    const others = (filter: string) =>
      `query ($f: StringListFilter) { otherCollection(filter: {tags: ${filter}}) { edges { node { id } } } }`;
    expect(await both.data('anon', others('{contains: ["a"]}'))).toEqual({
      otherCollection: { edges: [{ node: { id: 1 } }] },
    });
    expect(await both.data('anon', others('$f'), { variables: { f: { eq: ['a'] } } })).toEqual({
      otherCollection: { edges: [{ node: { id: 1 } }] },
    });
    expect((await both.run('anon', others('{anyElement: {eq: "a"}}'))).errors[0].message).toContain('"anyElement"');
    expect(
      (await both.run('anon', others('$f'), { variables: { f: { anyElement: { eq: 'a' } } } })).errors,
    ).toHaveLength(1);
  });

  test('names of others are kept, and what is left out is recorded with a fix', async () => {
    await createSchema(
      database,
      'taken',
      `
      create type "Tint" as enum ('red'); create table "TintListFilter" (id int primary key);
      create table a (id int primary key, colors "Tint"[], "and" "Tint"[]); grant select on all tables in schema taken to anon;
    `,
    );
    const omissions = await modelReader(database).omissions(['taken']);
    const found = omissions.filter(({ names }) => names.includes('TintListFilter') || names.includes('and'));
    expect(found.map(({ object, reason, fix }) => [object, reason, fix])).toMatchInlineSnapshot(`
      [
        [
          "taken.a",
          "Table taken.a has no filter by its column "and": the filter has another entry of that name.",
          "comment on column taken.a."and" is '@graphql({"name":"and_list"})';",
        ],
        [
          "taken."Tint"",
          "Lists of type taken."Tint" have no filter: table taken."TintListFilter" has the name "TintListFilter" already.",
          "comment on type taken."Tint" is '@graphql({"name":"TintValue"})';",
        ],
      ]
    `);
    const on = await startExecution(database, { schemas: ['taken'], introspection: 'always' });
    expect(await fieldsOf('aFilter', on)).not.toContainEqual(expect.stringContaining('colors'));
    for (const { fix } of found) await database.query(fix!);
    const mended = await startExecution(database, { schemas: ['taken'], introspection: 'always' });
    expect(await fieldsOf('aFilter', mended)).toContainEqual('colors: TintValueListFilter');
  });
});
