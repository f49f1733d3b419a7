/**
 * Small requests that would become very large statements: they are refused before anything is printed, and what is written once
 * travels once, however often it is used. Seconds of the one thread that answers everybody, and gigabytes, for a few kilobytes.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { type Json, startExecution, type TestExecution } from '../support/execution.ts';
import { createDatabase, fixture } from '../support/postgres.ts';

let execution: TestExecution;
beforeAll(async () => {
  execution = await startExecution(await createDatabase(fixture('attack-victim.sql')));
});

const filtered = 'query ($f: VictimFilter) { victimCollection(filter: $f) { edges { node { id } } } }';
const ordered =
  'query ($o: [VictimOrderBy!], $c: Cursor) { victimCollection(orderBy: $o, after: $c) { edges { node { id } } } }';

function nested(levels: number, inner: object): object {
  return Array.from({ length: levels }).reduce<object>((filter) => ({ not: filter }), inner);
}

function times<T>(length: number, make: (index: number) => T): T[] {
  return Array.from({ length }, (_, index) => make(index));
}

/** The selection of each fragment twice in the one before it. */
function doubled(levels: number, selection: string): string {
  const last = `fragment f${levels} on Victim { ${selection} }`;
  const others = times(levels, (level) => {
    const next = `boss { ...f${level + 1} }`;
    return `fragment f${level} on Victim { a: ${next} b: ${next} }`;
  });
  return `victimCollection { edges { node { ...f0 } } } } ${[...others, last].join(' ')}`;
}

/** What a refusal is for clients; its hint is for people. */
function withoutHint({ extensions: { hint: _hint, ...facts } }: Json): unknown {
  return facts;
}

async function refusal(query: string, variables: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
  const { data, errors } = await execution.run('anon', query, { variables });
  expect(data).toBeUndefined();
  return withoutHint(errors[0]);
}

describe('refused is an operation', () => {
  const conditions = (length: number) => ({ or: times(length, () => ({ id: { eq: 1 } })) });
  test('with many conditions deep inside a filter, each of which is read through all levels', async () => {
    expect(await refusal(filtered, { f: nested(1000, conditions(200)) })).toEqual({
      code: 'LIMIT_EXCEEDED',
      limit: 'inputs',
    });
  });

  test('that uses one filter of a variable in many places', async () => {
    const places = times(50, (index) => `a${index}: victimCollection(filter: $f) { edges { cursor } }`).join(' ');
    const query = `query ($f: VictimFilter) { ${places} }`;
    expect(await refusal(query, { f: conditions(1000) })).toEqual({ code: 'LIMIT_EXCEEDED', limit: 'inputs' });
  });

  test.each<[name: string, filter: (count: number) => object]>([
    [
      'many that must hold together',
      (count) => ({ and: times(count, () => ({ or: [{ id: { eq: 1 } }, { body: { eq: 'a' } }] })) }),
    ],
    ['many that are negated', (count) => ({ not: { or: times(count, () => ({ id: { eq: 1 }, body: { eq: 'a' } })) } })],
    ['two long ones', (count) => ({ ...conditions(count * 2), and: [{ and: [conditions(count)] }] })],
    ['many of related rows', (count) => ({ boss: { and: times(count, () => conditions(2)) } })],
  ])('with alternatives of which PostgreSQL compares each pair: %s', async (_, filter) => {
    expect(await refusal(filtered, { f: filter(500) })).toEqual({ code: 'LIMIT_EXCEEDED', limit: 'inputs' });
    expect((await execution.run('anon', filtered, { variables: { f: filter(200) } })).errors).toBeUndefined();
  });

  test('with an order of many terms, of which a cursor needs the square', async () => {
    const o = times(500, (index) => ({ id: index % 2 === 0 ? 'AscNullsLast' : 'DescNullsLast' }));
    const c = Buffer.from(JSON.stringify(times(501, () => 1))).toString('base64');
    expect(await refusal(ordered, { o, c })).toEqual({ code: 'LIMIT_EXCEEDED', limit: 'inputs' });
  });

  test('with an order by rows that are hundreds of relationships away', async () => {
    const o = times(2, () =>
      Array.from({ length: 600 }).reduce<object>((order) => ({ boss: order }), { id: 'AscNullsLast' }),
    );
    expect(
      await refusal('query ($o: [VictimOrderBy!]) { victimCollection(orderBy: $o) { edges { cursor } } }', { o }),
    ).toEqual({ code: 'LIMIT_EXCEEDED', limit: 'inputs' });
  });

  test('whose fragments lead to a table more than a thousand times', async () => {
    expect(await refusal(`{ ${doubled(10, 'boss { id }')}`)).toEqual({ code: 'LIMIT_EXCEEDED', limit: 'tables' });
  });

  const cursor = Buffer.from('["a",1]').toString('base64');
  test.each([
    ['a count', '', (key: string) => `${key}: totalCount`],
    ['an aggregate', '', (key: string) => `${key}: aggregate { count }`],
    ['groups', '', (key: string) => `${key}: groups(by: {column: body}) { count }`],
    [
      'a look behind the page',
      `, orderBy: [{body: AscNullsLast}], after: "${cursor}"`,
      (key: string) => `${key}: pageInfo { hasPreviousPage }`,
    ],
  ])('that has a filter again for each alias of %s', async (_, page, field) => {
    const fields = times(100, (index) => field(`a${index}`)).join(' ');
    const query = `query ($f: VictimFilter) { victimCollection(filter: $f${page}) { edges { cursor } aggregate { count } ${fields} } }`;
    expect(await refusal(query, { f: conditions(1000) })).toEqual({ code: 'LIMIT_EXCEEDED', limit: 'inputs' });
    expect((await execution.run('anon', query, { variables: { f: conditions(2) } })).errors).toBeUndefined();
  });

  test.each<[name: string, type: string, list: object[], field: (value: string) => string]>([
    ['terms', '[VictimOrderBy!]', times(2000, () => ({})), (value) => `victimCollection(orderBy: ${value})`],
    [
      'terms of related rows',
      '[VictimOrderBy!]',
      times(2000, () => ({ boss: {} })),
      (value) => `victimCollection(orderBy: ${value})`,
    ],
    ['filters', '[VictimFilter!]', times(2000, () => ({})), (value) => `victimCollection(filter: {and: ${value}})`],
  ])('that has many empty %s in many places, of a variable or of a fragment', async (_, type, list, field) => {
    const places = (value: string) =>
      times(400, (index) => `a${index}: ${field(value)} { edges { cursor } }`).join(' ');
    const inNode = (value: string) => `victimCollection { edges { node { boss { ${places(value)} } } } }`;
    const refused = { code: 'LIMIT_EXCEEDED', limit: 'inputs' };
    expect(await refusal(`query ($l: ${type}) { ${inNode('$l')} }`, { l: list })).toEqual(refused);
    const literal = `[${list.map((item) => ('boss' in item ? '{boss: {}}' : '{}')).join(' ')}]`;
    expect(await refusal(`{ ${doubled(6, `${field(literal)} { edges { cursor } }`)}`)).toEqual(refused);
  });
});

describe('answered is an operation', () => {
  test('with ten thousand conditions side by side', async () => {
    const f = { or: times(10_000, (index) => ({ id: { eq: index } })) };
    expect(await execution.data('anon', filtered, { variables: { f } })).toEqual({
      victimCollection: { edges: [{ node: { id: 1 } }] },
    });
  });

  test('with a filter of two hundred levels', async () => {
    expect(await execution.data('anon', filtered, { variables: { f: nested(200, { id: { eq: 1 } }) } })).toEqual({
      victimCollection: { edges: [{ node: { id: 1 } }] },
    });
  });

  test('that leads to two hundred and fifty tables', async () => {
    expect(await execution.data('anon', `{ ${doubled(6, 'boss { id }')}`)).toEqual({
      victimCollection: { edges: [{ node: { a: null, b: null } }] },
    });
  });
});

describe('refused is a mutation', () => {
  let writes: TestExecution;
  beforeAll(async () => {
    writes = await startExecution(
      await createDatabase(`
        create table box (id int primary key);
        create table toy (id int primary key, size int default 1, name text, box_id int references box);
        create type book_line as (what text, tags text[]);
        create type page as (lines book_line[]);
        create type book as (pages page[]);
        create function of_book(b book) returns int language sql immutable as 'select pg_catalog.cardinality((b).pages)';
        comment on schema public is '@graphql({"inflect_names": true})';
        grant select, insert, update, delete on box, toy to anon`),
    );
  });
  /** Each second one lacks a key with a default. */
  const toys = (length: number) => times(length, (id) => ({ id, name: 'x', ...(id % 2 === 0 && { size: 2 }) }));
  const refused = async (query: string, variables: Readonly<Record<string, unknown>>, role = 'anon') => {
    const { data, errors } = await writes.run(role, query, { variables });
    expect(data ?? null).toBeNull();
    return withoutHint(errors[0]);
  };
  const sent = async (query: string, variables: Readonly<Record<string, unknown>>) =>
    (await writes.statements('anon', query, { variables })).reduce((sum, { text }) => sum + text.length, 0);

  test('that inserts the objects of one variable in many fields', async () => {
    const fields = times(20, (index) => `i${index}: insertIntoToyCollection(objects: $o, onConflict: {constraint: toy_pkey}) { affectedCount }`).join(' '); // biome-ignore format: one line
    expect(await refused(`mutation ($o: [ToyInsertInput!]!) { ${fields} }`, { o: toys(800) })).toEqual({
      code: 'LIMIT_EXCEEDED',
      limit: 'keys',
    });
    const equal = times(800, (id) => ({ id, name: 'x' }));
    expect(await sent(`mutation ($o: [ToyInsertInput!]!) { ${fields} }`, { o: equal })).toBeLessThan(100_000);
  });

  test('or answered, if it has a filter of conflicts: that is in the statement once, however many objects there are', async () => {
    const upsert =
      'mutation ($o: [ToyInsertInput!]!, $f: ToyFilter) { insertIntoToyCollection(objects: $o, onConflict: {constraint: toy_pkey, updateColumns: [name], filter: $f}) { affectedCount } }';
    const names = { or: times(200, (index) => ({ name: { eq: `${index}` } })) };
    expect(await sent(upsert, { o: toys(800), f: names })).toBeLessThan(100_000);
    expect(await sent(upsert, { o: toys(800), f: { box: { id: { gt: 1 } } } })).toBeLessThan(100_000);
  });

  test('that has a long variable in many objects, of which each would be a copy', async () => {
    const s = 'x'.repeat(900_000);
    const objects = times(300, (id) => `{id: ${id} name: $s}`).join(' ');
    const insert = `mutation ($s: String) { insertIntoToyCollection(objects: [${objects}]) { affectedCount } }`;
    expect(await refused(insert, { s })).toEqual({ code: 'LIMIT_EXCEEDED', limit: 'text' });
    const entries = times(300, (id) => `{set: {name: $s} filter: {id: {eq: ${id}}}}`).join(' ');
    const update = `mutation ($s: String) { updateManyToyCollection(updates: [${entries}]) { affectedCount } }`;
    expect(await refused(update, { s })).toEqual({ code: 'LIMIT_EXCEEDED', limit: 'text' });
    const short = { s: 'x'.repeat(20_000) };
    expect(await writes.data('anon', update, { variables: short })).toMatchObject({ updateManyToyCollection: {} });
  });

  test('whose objects in each other double the quotes of a variable, until the process aborts', async () => {
    const page = '{lines: [{what: $s, tags: [$s]}]}';
    const query = (pages: number) => `query ($s: String) { ofBook(b: {pages: [${page.repeat(pages)}]}) }`;
    const s = '"'.repeat(100_000);
    expect(await refused(query(10), { s })).toEqual({ code: 'LIMIT_EXCEEDED', limit: 'text' });
    // The process is everybody's: the limit holds for callers without limits, too.
    expect(await refused(query(10), { s }, 'service_role')).toEqual({ code: 'LIMIT_EXCEEDED', limit: 'text' });
    expect(await writes.data('anon', query(10), { variables: { s: '"' } })).toEqual({ ofBook: 10 });
    const line = `query ($s: PageInput) { ofBook(b: {pages: [${'$s, '.repeat(50)}]}) }`;
    const long = { lines: [{ what: s, tags: [s] }] };
    expect(await refused(line, { s: long })).toEqual({ code: 'LIMIT_EXCEEDED', limit: 'text' });
  });

  test('that changes related rows by more entries than there may be statements', async () => {
    const query = 'mutation ($s: BoxUpdateInput!) { updateBoxCollection(set: $s) { affectedCount } }';
    const related = (length: number) => [
      { delete: times(length, () => ({})) },
      { update: times(length, () => ({ set: { name: 'x' } })) },
      { update: [{ set: { name: 'x' } }], delete: times(length - 1, () => ({ filter: {} })) },
    ];
    for (const toyCollection of related(101))
      expect(await refused(query, { s: { id: 1, toyCollection } })).toEqual({
        code: 'LIMIT_EXCEEDED',
        limit: 'nestedWrites',
      });
    for (const toyCollection of related(100))
      expect(await writes.data('anon', query, { variables: { s: { id: 1, toyCollection } } })).toEqual({
        updateBoxCollection: { affectedCount: 0 },
      });
  });

  test('that has many lists of updates, each with many statements', async () => {
    const query = (lists: number) =>
      `mutation ($u: [ToyUpdateEntry!]!) { ${times(lists, (index) => `u${index}: updateManyToyCollection(updates: $u) { affectedCount }`).join(' ')} }`;
    const u = times(20, () => ({ set: { name: 'x' }, filter: { size: { eq: 1 } }, atMost: 100 }));
    expect(await refused(query(6), { u })).toEqual({ code: 'LIMIT_EXCEEDED', limit: 'statements' });
    expect(Object.keys(await writes.data('anon', query(5), { variables: { u } }))).toHaveLength(5);
  });

  test('that answers a list of updates with many tables for each of them', async () => {
    const inner = times(20, (index) => `b${index}: box { id }`).join(' ');
    const query = `mutation ($u: [ToyUpdateEntry!]!) { updateManyToyCollection(updates: $u) { records { ${inner} } } }`;
    const updates = (length: number, same: boolean) =>
      times(length, (id) => ({ set: same || id % 2 === 0 ? { name: 'x' } : { size: 1 }, filter: { id: { eq: id } } }));
    expect(await refused(query, { u: updates(100, false) })).toEqual({ code: 'LIMIT_EXCEEDED', limit: 'tables' });
    expect(await sent(query, { u: updates(10, false) })).toBeLessThan(100_000);
    expect(await sent(query, { u: updates(1000, true) })).toBeLessThan(100_000);
  });
});

describe('one parameter of the statement is', () => {
  const slots = async (query: string, variables: Readonly<Record<string, unknown>>) => {
    const [statement] = await execution.statements('anon', query, { variables });
    // The limit of what is made at once is no value of the operation.
    return statement?.slots.filter(({ kind }) => kind !== 'counted_bytes').length;
  };
  const everywhere = (argument: string) =>
    times(100, (index) => `a${index}: victimCollection(${argument}) { edges { cursor } }`).join(' ');
  const inNode = (argument: string) => `victimCollection { edges { node { ${everywhere(argument)} } } }`;

  test('a variable, however often it is used', async () => {
    const query = `query ($s: String) { ${inNode('filter: {body: {eq: $s}}')} }`;
    expect(await slots(query, { s: 'long' })).toBe(1);
  });

  test('a list of a variable', async () => {
    const query = `query ($l: [String!]) { ${inNode('filter: {body: {in: $l}}')} }`;
    expect(await slots(query, { l: ['long'] })).toBe(1);
  });

  test('each element of a cursor and of a node id', async () => {
    const c = Buffer.from('["long",1]').toString('base64');
    const after = `query ($c: Cursor) { ${inNode('orderBy: [{body: AscNullsLast}], after: $c')} }`;
    expect(await slots(after, { c })).toBe(2);
    const n = Buffer.from('["public","victim",1]').toString('base64');
    expect(await slots(`query ($n: ID!) { ${inNode('filter: {nodeId: {eq: $n}}')} }`, { n })).toBe(1);
  });

  test('a value of a fragment that is spread often', async () => {
    const list =
      'a: victimCollection(filter: {body: {in: ["long", "longer"]}, token: {eq: "00000000-0000-0000-0000-000000000000"}}) { edges { cursor } }';
    expect(await slots(`{ ${doubled(5, list)}`, {})).toBe(2);
  });
});
