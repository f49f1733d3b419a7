/** Rows are filtered by the rows that their relationships lead to (extension `relation_filters`). */
import { describe, expect, test } from 'vitest';
import { blocksRead } from '../support/blocks-read.ts';
import { startExecution } from '../support/execution.ts';
import { createDatabase, createSchema } from '../support/postgres.ts';
import { modelReader } from '../support/read-model.ts';

const database = await createDatabase(`
  create schema lib; grant usage on schema lib to anon, authenticated;
  comment on schema lib is '@graphql({"inflect_names": true})';
  create table lib.city (id int primary key, name text not null);
  create table lib.author (id int primary key, name text, city_id int references lib.city, mentor_id int references lib.author);
  create table lib.book (id int primary key, author_id int references lib.author, title text not null, pages int, price numeric, printed date, secret boolean not null default false);
  create table lib.review (id int primary key, book_id int not null references lib.book, stars int, words text);
  comment on table lib.book is '@graphql({"aggregate": {"enabled": true}, "totalCount": {"enabled": true}})';
  insert into lib.city values (1, 'Bern'), (2, 'Oslo');
  insert into lib.author values (1, 'Ana', 1, null), (2, 'Ben', 2, 1), (3, 'Cid', null, 2), (4, 'Dea', 1, 2), (5, null, null, null);
  insert into lib.book values
    (1, 1, 'Alps', 100, 10.5, '2020-01-01', false), (2, 1, 'Bears', 300, 20, '2021-01-01', false), (3, 1, 'Caves', null, null, null, false),
    (4, 2, 'Dunes', 50, 5, '2019-01-01', false), (5, 4, 'Elks', 700, 99.9, '2022-01-01', true), (6, null, 'Fens', 10, 1, null, false);
  insert into lib.review values (1, 1, 5, 'good'), (2, 1, 1, null), (3, 2, null, 'long'), (4, 4, 4, 'dry'), (5, 5, 5, 'wow');
  grant select, update, delete on all tables in schema lib to anon, authenticated;
  alter table lib.book enable row level security;
  create policy open on lib.book to anon using (not secret);
  create policy all_of_them on lib.book to authenticated using (true);
`);
const execution = await startExecution(database, { schemas: ['lib'], introspection: 'always' });

/** Ids of the authors that meet the filter. */
async function authors(filter: string, role = 'anon', variables: Record<string, unknown> = {}, declared = '') {
  const query = `query ${declared} { authorCollection(filter: ${filter}) { edges { node { id } } } }`;
  const { authorCollection } = await execution.data(role, query, { variables });
  return authorCollection.edges.map(({ node }: { node: { id: number } }) => node.id);
}

describe('to-one', () => {
  test.each([
    ['{city: {name: {eq: "Bern"}}}', [1, 4]],
    ['{not: {city: {name: {eq: "Bern"}}}}', [2, 3, 5]],
    ['{city: {}}', [1, 2, 3, 4, 5]],
    ['{city: null}', [1, 2, 3, 4, 5]],
    ['{city: {name: null}}', [1, 2, 3, 4, 5]],
    ['{city: {id: {is: NOT_NULL}}}', [1, 2, 4]],
    ['{not: {city: {id: {is: NOT_NULL}}}}', [3, 5]],
    ['{mentor: {city: {name: {eq: "Oslo"}}}}', [3, 4]],
    ['{mentor: {mentor: {name: {eq: "Ana"}}}, city: {id: {eq: 1}}}', [4]],
    ['{or: [{city: {name: {eq: "Oslo"}}}, {name: {eq: "Cid"}}]}', [2, 3]],
    ['{mentor: {name: {eq: null}}}', []],
    ['{not: {mentor: {name: {eq: null}}}}', [1, 2, 3, 4, 5]],
  ])('%s', async (filter, ids) => {
    expect(await authors(filter)).toEqual(ids);
  });
});

describe('to-many', () => {
  test.each([
    // Books of 1: three, of 2: one, of 4: one that anon does not see.
    ['{bookCollection: {some: {}}}', [1, 2]],
    ['{bookCollection: {none: {}}}', [3, 4, 5]],
    ['{bookCollection: {every: {}}}', [1, 2, 3, 4, 5]],
    ['{bookCollection: {}}', [1, 2, 3, 4, 5]],
    ['{bookCollection: {some: null, none: null}}', [1, 2, 3, 4, 5]],
    ['{bookCollection: {some: {pages: {gt: 100}}}}', [1]],
    ['{bookCollection: {none: {pages: {gt: 100}}}}', [2, 3, 4, 5]],
    // The pages of one book of 1 are unknown, which counts as failing.
    ['{bookCollection: {every: {pages: {gte: 50}}}}', [2, 3, 4, 5]],
    ['{not: {bookCollection: {every: {pages: {gte: 50}}}}}', [1]],
    ['{bookCollection: {some: {title: {like: "B%"}}, none: {pages: {is: NULL}}}}', []],
    ['{bookCollection: {some: {reviewCollection: {some: {stars: {gte: 5}}}}}}', [1]],
    ['{bookCollection: {some: {reviewCollection: {none: {}}}}}', [1]],
    ['{bookCollection: {every: {reviewCollection: {some: {}}}}}', [2, 3, 4, 5]],
    ['{bookCollection: {every: {reviewCollection: {none: {}}}}}', [3, 4, 5]],
    ['{bookCollection: {every: {pages: {lt: 300}}}}', [2, 3, 4, 5]],
    ['{bookCollection: {every: {id: {lte: 3}}}}', [1, 3, 4, 5]],
    ['{bookCollection: {every: {id: {neq: 4}}}}', [1, 3, 4, 5]],
    ['{bookCollection: {every: {id: {neq: 4}, pages: {is: NOT_NULL}}}}', [3, 4, 5]],
    ['{bookCollection: {every: {or: [{pages: {is: NULL}}, {pages: {gt: 60}}]}}}', [1, 3, 4, 5]],
    ['{bookCollection: {every: {not: {pages: {gt: 200}}}}}', [2, 3, 4, 5]],
    ['{bookCollection: {every: {id: {gt: null}}}}', [3, 4, 5]],
    ['{bookCollection: {some: {author: {city: {name: {eq: "Oslo"}}}}}}', [2]],
    ['{authorCollection: {some: {bookCollection: {some: {}}}}}', [1]],
  ])('%s', async (filter, ids) => {
    expect(await authors(filter)).toEqual(ids);
  });

  test('every: null is no number that others differ from', async () => {
    const every = (value: number | null) =>
      authors('{bookCollection: {every: {id: {neq: $v}}}}', 'anon', { v: value }, '($v: Int)');
    expect(await every(4)).toEqual([1, 3, 4, 5]);
    expect(await every(null)).toEqual([3, 4, 5]);
  });

  test('to-many counts only what policies show', async () => {
    expect(await authors('{bookCollection: {some: {}}}', 'authenticated')).toEqual([1, 2, 4]);
    expect(await authors('{bookCollection: {aggregate: {sum: {pages: {gt: 0}}}}}', 'authenticated')).toEqual([1, 2, 4]);
  });
});

describe('aggregates of related rows', () => {
  const ofBooks = (aggregate: string) => `{bookCollection: {aggregate: ${aggregate}}}`;

  test.each([
    ['{}', [1, 2, 3, 4, 5]],
    ['{filter: {pages: {gt: 1}}}', [1, 2, 3, 4, 5]],
    ['{count: {eq: 3}}', [1]],
    ['{count: {eq: 1}}', [2]],
    ['{count: {eq: 0}}', [3, 4, 5]],
    ['{count: {neq: 0}}', [1, 2]],
    ['{count: {neq: 1}}', [1, 3, 4, 5]],
    ['{count: {gt: 1}}', [1]],
    ['{count: {gt: 0}}', [1, 2]],
    ['{count: {gt: -1}}', [1, 2, 3, 4, 5]],
    ['{count: {gte: 1}}', [1, 2]],
    ['{count: {gte: 2}}', [1]],
    ['{count: {gte: 0}}', [1, 2, 3, 4, 5]],
    ['{count: {lt: 3}}', [2, 3, 4, 5]],
    ['{count: {lt: 1}}', [3, 4, 5]],
    ['{count: {lt: 0}}', []],
    ['{count: {lte: 1}}', [2, 3, 4, 5]],
    ['{count: {lte: 0}}', [3, 4, 5]],
    ['{count: {lte: -1}}', []],
    ['{count: {eq: -1}}', []],
    ['{count: {neq: -1}}', [1, 2, 3, 4, 5]],
    ['{count: {in: [0, 3, -2]}}', [1, 3, 4, 5]],
    ['{count: {in: []}}', []],
    ['{count: {is: NULL}}', []],
    ['{count: {is: NOT_NULL}}', [1, 2, 3, 4, 5]],
    ['{count: {eq: null}}', []],
    ['{count: {gte: 1, lte: 2}}', [2]],
    ['{filter: {pages: {gt: 60}}, count: {gte: 2}}', [1]],
    ['{sum: {pages: {eq: "400"}}}', [1]],
    ['{sum: {pages: {lt: "100"}}}', [2]],
    ['{sum: {pages: {is: NULL}}}', [3, 4, 5]],
    ['{avg: {price: {gte: "15.25", lt: "15.26"}}}', [1]],
    ['{min: {title: {startsWith: "A"}}}', [1]],
    ['{max: {printed: {eq: "2021-01-01"}}}', [1]],
    ['{max: {printed: {in: ["2021-01-01", "2019-01-01"]}}, count: {lt: 2}}', [2]],
    ['{filter: {title: {neq: "Bears"}}, sum: {pages: {eq: "100"}}, count: {eq: 2}}', [1]],
    ['{distinctCount: {title: {eq: 3}, pages: {eq: 2}}}', [1]],
    ['{distinctCount: {pages: {eq: 0}}}', [3, 4, 5]],
  ])('%s', async (aggregate, ids) => {
    expect(await authors(ofBooks(aggregate))).toEqual(ids);
    const others = [1, 2, 3, 4, 5].filter((id) => !ids.includes(id));
    // What asks nothing is no condition, also below `not`.
    const asksNothing = ids.length === 5 && !aggregate.includes('count');
    expect(await authors(`{not: ${ofBooks(aggregate)}}`)).toEqual(asksNothing ? ids : others);
  });

  test('a count takes variables, which are no part of the shape of a statement beyond none, one and more', async () => {
    const declared = '($n: Int, $of: [Int!])';
    const at = (n: number) => authors(ofBooks('{count: {gte: $n}}'), 'anon', { n }, declared);
    expect([await at(-3), await at(0), await at(1), await at(2), await at(3), await at(1000)]).toEqual([
      [1, 2, 3, 4, 5], [1, 2, 3, 4, 5], [1, 2], [1], [1], [],
    ]); // biome-ignore format: a table
    expect(await authors(ofBooks('{count: {in: $of}}'), 'anon', { of: [1, 3] }, declared)).toEqual([1, 2]);
    expect(await authors(ofBooks('{count: {in: [1, $n]}}'), 'anon', { n: 3 }, declared)).toEqual([1, 2]);
    const texts = await Promise.all(
      [2, 3, 999].map(async (n) => {
        const query = `query ($n: Int) { authorCollection(filter: ${ofBooks('{count: {gt: $n}}')}) { edges { node { id } } } }`;
        return (await execution.statements('anon', query, { variables: { n } }))[0]!.text;
      }),
    );
    expect(new Set(texts).size).toBe(1);
    expect(texts[0]).toContain('limit');
  });

  test('a count is compared with numbers up to 1000', async () => {
    const message = 'A count of related rows is compared with numbers up to 1000.';
    const query = (count: string) =>
      `query ($n: Int, $of: [Int!]) { authorCollection(filter: ${ofBooks(`{count: ${count}}`)}) { edges { cursor } } }`;
    for (const [count, variables] of [
      ['{gte: 1001}', {}],
      ['{in: [1, 1001]}', {}],
      ['{lt: $n}', { n: 2_000_000 }],
      ['{in: $of}', { of: [1001] }],
      ['{in: [$n]}', { n: 1001 }],
      ['{gte: 1001}, sum: {pages: {gt: "0"}}', {}],
      ['{in: $of}, distinctCount: {pages: {gt: 0}}', { of: [1001] }],
    ] as const) {
      const { errors } = await execution.run('anon', query(count), { variables });
      expect(errors).toMatchObject([{ message, path: ['authorCollection'], extensions: { code: 'BAD_USER_INPUT' } }]);
    }
    const { errors } = await execution.run('anon', query('{gte: 1001}'));
    expect(errors[0].extensions.input).toBe('filter.bookCollection.aggregate.count.gte');
  });

  test('a sum of floats is compared with all digits that are answered', async () => {
    await createSchema(
      database,
      'floats',
      `
      create table shelf (id int primary key);
      create table jar (id int primary key, shelf_id int references shelf, small real, large float8);
      comment on table jar is '@graphql({"aggregate": {"enabled": true}})';
      insert into shelf values (1), (2);
      insert into jar values (1, 1, 100000, 1000000000000000), (2, 1, 1.25, 0.5), (3, 2, 100001, 1000000000000000);
      grant select on all tables in schema floats to anon;
    `,
    );
    const on = await startExecution(database, { schemas: ['floats'] });
    for (const sum of ['small: {eq: "100001.25"}', 'large: {eq: "1000000000000000.5"}']) {
      const query = `{ shelfCollection(filter: {jarCollection: {aggregate: {sum: {${sum}}}}}) { edges { node { id } } } }`;
      expect((await on.data('anon', query)).shelfCollection.edges).toEqual([{ node: { id: 1 } }]);
    }
  });

  test('sums need aggregates to be enabled on the relation', async () => {
    const fields = async (name: string) => {
      const { __type } = await execution.data('anon', `{ __type(name: "${name}") { inputFields { name } } }`);
      return __type?.inputFields.map((field: { name: string }) => field.name) ?? null;
    };
    expect(await fields('BookAggregateFilter')).toEqual([
      ...['filter', 'count', 'distinctCount', 'sum', 'avg', 'min', 'max', 'stddev', 'variance', 'boolAnd', 'boolOr'],
    ]);
    expect(await fields('ReviewAggregateFilter')).toEqual(['filter', 'count', 'distinctCount']);
    expect(await fields('ReviewAggregateColumnFilter')).toBeNull();
    expect(await fields('BookAggregateColumnFilter')).toEqual([
      ...['id', 'authorId', 'title', 'pages', 'price', 'printed', 'secret'],
    ]);
    // No collection leads to cities.
    expect(await fields('CityCollectionFilter')).toBeNull();
  });
});

describe('filters of related rows may be used', () => {
  test('in nested collections', async () => {
    const query = `{ authorCollection(filter: {id: {eq: 1}}) { edges { node {
      bookCollection(filter: {reviewCollection: {some: {stars: {lt: 2}}}}) { totalCount edges { node { title } } } } } } }`;
    const { authorCollection } = await execution.data('anon', query);
    expect(authorCollection.edges[0].node.bookCollection).toEqual({
      totalCount: 1,
      edges: [{ node: { title: 'Alps' } }],
    });
  });

  test('with page info, a total count and aggregates', async () => {
    const query = `{ bookCollection(filter: {author: {city: {name: {eq: "Bern"}}}}, first: 2, orderBy: [{title: DescNullsLast}]) {
      totalCount aggregate { sum { pages } } pageInfo { hasNextPage endCursor } edges { cursor node { title } } } }`;
    const { bookCollection } = await execution.data('anon', query);
    expect(bookCollection).toMatchObject({ totalCount: 3, aggregate: { sum: { pages: 400 } } });
    expect(bookCollection.pageInfo.hasNextPage).toBe(true);
    expect(bookCollection.edges.map(({ node }: { node: { title: string } }) => node.title)).toEqual(['Caves', 'Bears']);
  });

  test('in updates and deletes', async () => {
    await createSchema(
      database,
      'writes',
      `
      create table shelf (id int primary key, name text);
      create table item (id int primary key, shelf_id int references shelf, state text);
      insert into shelf values (1, 'a'), (2, 'b');
      insert into item values (1, 1, 'new'), (2, 1, 'new'), (3, 2, 'new'), (4, null, 'new');
      grant select, update, delete on all tables in schema writes to anon;
    `,
    );
    const on = await startExecution(database, { schemas: ['writes'] });
    const update = `mutation { updateitemCollection(set: {state: "old"}, filter: {shelf: {name: {eq: "a"}}}, atMost: 5) { affectedCount records { id } } }`;
    expect((await on.data('anon', update)).updateitemCollection).toEqual({
      affectedCount: 2,
      records: [{ id: 1 }, { id: 2 }],
    });
    const remove = `mutation { deleteFromitemCollection(filter: {not: {shelf: {id: {gt: 0}}}}, atMost: 1) { affectedCount records { id } } }`;
    expect((await on.data('anon', remove)).deleteFromitemCollection).toEqual({
      affectedCount: 1,
      records: [{ id: 4 }],
    });
    const list = `mutation { updateManyitemCollection(updates: [
      {set: {state: "b"}, filter: {shelf: {name: {eq: "b"}}}, atMost: 2},
      {set: {state: "many"}, filter: {shelf: {itemCollection: {aggregate: {count: {gte: 2}}}}}, atMost: 2}
    ]) { affectedCount records { id } } }`;
    expect((await on.data('anon', list)).updateManyitemCollection).toEqual([
      { affectedCount: 1, records: [{ id: 3 }] },
      { affectedCount: 2, records: [{ id: 1 }, { id: 2 }] },
    ]);
    const tooMany = `mutation { deleteFromitemCollection(filter: {shelf: {itemCollection: {aggregate: {count: {eq: 2}}}}}) { affectedCount } }`;
    expect(await on.errors('anon', tooMany)).toEqual(['delete impacts too many records']);
  });

  test('on results of functions', async () => {
    await createSchema(
      database,
      'made',
      `
      create table shelf (id int primary key, name text);
      create table item (id int primary key, shelf_id int references shelf);
      insert into shelf values (1, 'a'), (2, 'b');
      insert into item values (1, 1), (2, 2);
      create function items() returns setof item stable language sql as 'select * from item';
      create function loud_items() returns setof item volatile language sql as 'select * from item';
      comment on schema made is '@graphql({"inflect_names": true})';
      grant select on all tables in schema made to anon;
    `,
    );
    const on = await startExecution(database, { schemas: ['made'] });
    const { items } = await on.data('anon', '{ items(filter: {shelf: {name: {eq: "b"}}}) { edges { node { id } } } }');
    expect(items.edges).toEqual([{ node: { id: 2 } }]);
    const call = 'mutation { loudItems(filter: {shelf: {name: {eq: "b"}}}) { edges { node { id } } } }';
    expect((await on.data('anon', call)).loudItems.edges).toEqual([{ node: { id: 2 } }]);
  });
});

describe('limits', () => {
  const bookFilter = (depth: number): string =>
    depth === 0 ? '{id: {gt: 0}}' : `{author: {bookCollection: {some: ${bookFilter(depth - 2)}}}}`;

  test('filters of related rows nest at most four deep', async () => {
    const query = (filter: string) => `{ bookCollection(filter: ${filter}) { edges { node { id } } } }`;
    expect((await execution.data('anon', query(bookFilter(4)))).bookCollection.edges).toHaveLength(4);
    const { errors } = await execution.run('anon', query(bookFilter(6)));
    expect(errors).toMatchObject([
      { message: 'Filters through relationships nest at most 4 deep.', path: ['bookCollection'] },
    ]);
    expect(errors[0].extensions.input).toContain('filter.author.bookCollection.some.author.bookCollection.some.author');
  });

  test('an operation has at most twenty', async () => {
    const query = (count: number) =>
      `{ bookCollection(filter: {and: [${'{author: {id: {gt: 0}}}, '.repeat(count)}]}) { edges { node { id } } } }`;
    expect((await execution.data('anon', query(20))).bookCollection.edges).toHaveLength(4);
    const { errors } = await execution.run('anon', query(21));
    expect(errors).toMatchObject([
      {
        message: 'The operation has more than 20 filters through relationships.',
        extensions: { code: 'LIMIT_EXCEEDED', limit: 'relationFilters' },
      },
    ]);
  });

  const byAuthor = 'filter: {author: {id: {gt: 0}}}';
  const books = `bookCollection(${byAuthor}) { edges { cursor } }`;
  test.each([
    ['aliases', '{ PARTS }', `N: ${books}`],
    ['fragments', `{ PARTS } fragment f on Author { ${books} }`, 'N: authorCollection { edges { node { ...f } } }'],
    ['variables', 'query ($f: BookFilter) { PARTS }', 'N: bookCollection(filter: {and: [$f]}) { edges { cursor } }'],
    ['lists of updates', 'mutation ($u: [BookUpdateEntry!]!) { updateManyBookCollection(updates: $u) { affectedCount } }', ''],
    ['conditions of groups', '{ PARTS }', `N: bookCollection { groups(by: {column: authorId}, having: {count: {gt: 0}, ${byAuthor}}) { count } }`],
    ['aggregates', '{ PARTS }', 'N: cityCollection(filter: {authorCollection: {aggregate: {count: {gt: 5}}}}) { edges { cursor } }'],
  ])('more of them by %s are refused, too', async (_, query, part) => {
    const parts = (count: number) => Array.from({ length: count }, (__, n) => part.replace('N', `x${n}`)).join(' ');
    const f = { author: { id: { gt: 0 } } };
    const run = (count: number) => {
      const u = Array.from({ length: count }, () => ({ set: { pages: 1 }, filter: { ...f, id: { lt: 0 } } }));
      return execution.run('anon', query.replace('PARTS', parts(count)), { variables: { f, u } });
    };
    expect((await run(20)).errors).toBeUndefined();
    expect((await run(21)).errors).toMatchObject([{ extensions: { code: 'LIMIT_EXCEEDED', limit: 'relationFilters' } }]);
  }); // biome-ignore format: a table

  test('each counts for the depth and for the cost', async () => {
    const query = '{ bookCollection(first: 10, filter: {author: {city: {id: {eq: 1}}}}) { edges { node { id } } } }';
    const shallow = await startExecution(database, { schemas: ['lib'], limits: { maxDepth: 2 } });
    expect(await shallow.errors('anon', query)).toEqual([
      'The operation has 3 levels of tables, more than the limit of 2 (option --max-depth).',
    ]);
    const cheap = await startExecution(database, { schemas: ['lib'], limits: { maxCost: 29 } });
    expect(await cheap.errors('anon', query)).toEqual([
      'The operation has 30 rows at most, more than the limit of 29 (option --max-cost).',
    ]);
    const count =
      '{ authorCollection(first: 2, filter: {bookCollection: {aggregate: {count: {lt: 11}}}}) { edges { node { id } } } }';
    expect(await cheap.errors('anon', count)).toEqual([]);
    expect(await cheap.errors('anon', count.replace('11', '13'))).toEqual([
      'The operation has 30 rows at most, more than the limit of 29 (option --max-cost).',
    ]);
  });
});

describe('what a role may not see', async () => {
  await createSchema(
    database,
    'hidden',
    `
    create table owner (id int primary key, name text, pin text);
    create table pet (id int primary key, owner_id int references owner, name text);
    create table vet (id int primary key, pet_id int references pet);
    grant select on pet to anon; grant select (id, name) on owner to anon;
    grant select on pet, owner, vet to authenticated;
    grant select (id) on vet to anon;
  `,
  );
  const on = await startExecution(database, { schemas: ['hidden'], introspection: 'always' });

  test('what a role may not see is no entry: columns, relations, and relationships over columns without a grant', async () => {
    const entries = async (role: string, type: string) => {
      const { __type } = await on.data(role, `{ __type(name: "${type}") { inputFields { name } } }`);
      return __type.inputFields.map(({ name }: { name: string }) => name);
    };
    expect(await entries('authenticated', 'petFilter')).toEqual([
      ...['id', 'owner_id', 'name', 'nodeId', 'and', 'or', 'not', 'owner', 'vetCollection'],
    ]);
    expect(await entries('anon', 'petFilter')).toEqual([
      ...['id', 'owner_id', 'name', 'nodeId', 'and', 'or', 'not', 'owner'],
    ]);
    expect(
      await on.errors('anon', '{ petCollection(filter: {owner: {pin: {eq: "1"}}}) { edges { cursor } } }'),
    ).toEqual([expect.stringContaining('"pin"')]);
  });
});

describe('names', async () => {
  await createSchema(
    database,
    'named',
    `
    comment on schema named is '@graphql({"inflect_names": true})';
    create table shelf (id int primary key);
    create table book (id int primary key, shelf int, shelf_id int references shelf, "not" int references shelf);
    create table book_collection (id int primary key);
    grant select on all tables in schema named to anon;
  `,
  );
  const on = await startExecution(database, { schemas: ['named'], introspection: 'always' });
  const entries = async (type: string) => {
    const { __type } = await on.data('anon', `{ __type(name: "${type}") { inputFields { name type { name } } } }`);
    return __type.inputFields.map((field: { name: string; type: { name: string } }) => [field.name, field.type.name]);
  };

  test('of columns and of types that are there without them stay', async () => {
    expect(await entries('BookFilter')).toContainEqual(['shelf', 'IntFilter']);
    expect((await entries('BookFilter')).map(([name]: [string]) => name)).toEqual([
      ...['id', 'shelf', 'shelfId', 'not', 'nodeId', 'and', 'or'],
    ]);
    // The filter of the table book_collection has the name.
    expect((await entries('ShelfFilter')).map(([name]: [string]) => name)).toEqual([
      'id',
      'nodeId',
      'and',
      'or',
      'not',
    ]);
    expect(await entries('BookCollectionFilter')).toContainEqual(['id', 'IntFilter']);
  });

  test('that are taken are reported', async () => {
    const reasons = (await modelReader(database).omissions(['named'])).map(({ reason, fix }) => `${reason} ${fix}`);
    expect(reasons.join('\n')).toContain(
      `Table named.book has no filter by its relationship "shelf": the filter has another entry of that name.`,
    );
    expect(reasons.join('\n')).toContain(`Table named.book would have the type "BookCollectionFilter", and`);
  });
});

test('without the extension nothing of it is there', async () => {
  const sdl = async (extensions: Parameters<typeof startExecution>[1]) => {
    const on = await startExecution(database, { schemas: ['lib'], introspection: 'always', ...extensions });
    const { __schema } = await on.data('anon', '{ __schema { types { name inputFields { name } } } }');
    return __schema.types as { name: string; inputFields: { name: string }[] | null }[];
  };
  const [all, none] = [await sdl({ extensions: ['reads'] }), await sdl({ extensions: [] })];
  const names = new Set(none.map(({ name }) => name));
  const added = all.filter(({ name }) => !names.has(name)).map(({ name }) => name);
  expect(added.filter((name) => name.endsWith('Filter'))).toEqual([
    'AuthorAggregateFilter', 'AuthorCollectionFilter', 'AuthorDistinctCountFilter', 'BookAggregateColumnFilter',
    'BookAggregateFilter', 'BookCollectionFilter', 'BookDistinctCountFilter',
    'ReviewAggregateFilter', 'ReviewCollectionFilter', 'ReviewDistinctCountFilter',
  ]); // biome-ignore format: a list of names
  const entries = (types: typeof all) =>
    types.find(({ name }) => name === 'AuthorFilter')!.inputFields!.map(({ name }) => name);
  expect(entries(none)).toEqual(entries(all).slice(0, entries(none).length));
});

describe('with as many blocks as 200,000 rows have, indexes serve', async () => {
  await createSchema(
    database,
    'big',
    `
    comment on schema big is '@graphql({"inflect_names": true})';
    create table customer (id int primary key, tenant int not null, email text not null unique) with (fillfactor = 10);
    create table parcel (id int primary key, tenant int not null, customer_id int not null, code text not null, weight int not null, damage int) with (fillfactor = 10);
    insert into customer select n, n % 10, 'c' || n from generate_series(1, 2000) n;
    insert into parcel select n, n % 10, 1 + (n - 1) % 2000, 'p' || n, n % 100, case when n % 1000 in (1, 2) then 9 else n % 5 end from generate_series(1, 20000) n;
    create index on parcel (customer_id); create index on parcel (code); create index on parcel (damage);
    -- With the rows there, one join checks them all.
    alter table parcel add foreign key (customer_id) references customer;
    comment on table parcel is '@graphql({"aggregate": {"enabled": true}})';
    alter table customer enable row level security; alter table parcel enable row level security;
    create policy own on customer using (tenant = (select 1)); create policy own on parcel using (tenant = (select 1));
    grant select on customer, parcel to anon, service_role;
    analyze;
  `,
  );
  const on = await startExecution(database, { schemas: ['big'] });

  const blocks = await blocksRead(database, on);

  // A scan of all parcels reads more than a thousand blocks.
  test.each([
    ['to-one', '{ parcelCollection(filter: {customer: {email: {eq: "c11"}}}) { edges { node { id } } } }', 10],
    [
      'some',
      '{ customerCollection(filter: {parcelCollection: {some: {code: {eq: "p11"}}}}) { edges { node { id } } } }',
      1,
    ],
    [
      'two levels',
      '{ parcelCollection(filter: {customer: {parcelCollection: {some: {code: {eq: "p11"}}}}}) { edges { node { id } } } }',
      10,
    ],
    [
      'every, of which few fail',
      '{ customerCollection(filter: {not: {parcelCollection: {every: {damage: {lt: 9}}}}, tenant: {eq: 1}}) { edges { node { id } } } }',
      2,
    ],
    [
      'none, of a few',
      '{ customerCollection(filter: {email: {in: ["c11", "c21"]}, parcelCollection: {none: {weight: {gt: 98}}}}) { edges { node { id } } } }',
      2,
    ],
    [
      'a count, of a page',
      '{ customerCollection(first: 5, filter: {parcelCollection: {aggregate: {count: {gte: 3}}}}) { edges { node { id } } } }',
      5,
    ],
    [
      'a sum of few',
      '{ customerCollection(filter: {tenant: {eq: 1}, parcelCollection: {aggregate: {filter: {damage: {eq: 9}}, sum: {weight: {gt: "0"}}}}}) { edges { node { id } } } }',
      2,
    ],
    [
      'a sum, of a page',
      '{ customerCollection(first: 5, filter: {parcelCollection: {aggregate: {sum: {weight: {gt: "0"}}}}}) { edges { node { id } } } }',
      5,
    ],
  ])('%s', async (_, query, rows) => {
    for (const role of ['anon', 'service_role']) {
      const answer = await on.data(role, query);
      const [collection] = Object.values(answer) as { edges: unknown[] }[];
      expect(collection!.edges.length).toBe(rows);
      expect(await blocks(role, query), role).toBeLessThan(600);
    }
  });
});
