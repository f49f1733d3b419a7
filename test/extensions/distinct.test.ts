/** Of rows that are equal in some columns, the first (extension `distinct`, docs/filters.md). */
import { describe, expect, test } from 'vitest';
import { blocksRead } from '../support/blocks-read.ts';
import { startExecution } from '../support/execution.ts';
import { createDatabase, createSchema } from '../support/postgres.ts';
import { modelReader } from '../support/read-model.ts';

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create extension citext;
  create table city (id int primary key, name text);
  create table trip (id int primary key, city_id int references city, kind text, label citext, length int, secret int, spans interval, hidden boolean not null default false);
  comment on table trip is '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}})';
  insert into city values (1, 'Bern'), (2, 'Oslo'), (3, 'Rome');
  insert into trip values
    (1, 1, 'a', 'X', 5, 1), (2, 1, 'a', 'x', 9, 1), (3, 1, 'b', 'y', 7, 1), (4, 2, 'b', 'Y', null, 1), (5, 2, null, 'z', 1, 1),
    (6, null, 'a', null, 2, 1), (7, null, null, null, 3, 1), (8, 2, 'b', 'x', 8, 1);
  insert into trip values (9, 1, 'hidden', 'h', 99, 1, null, true), (10, 1, 'a', 'h', 100, 1, null, true);
  grant select on city to anon, service_role; grant select on trip to service_role;
  grant select (id, city_id, kind, label, length, spans, hidden) on trip to anon;
  alter table trip enable row level security; create policy open on trip to anon using (not hidden);
  create function trips() returns setof trip stable language sql as 'select * from trip';
  create function trips_of("distinctOn" int) returns setof trip stable language sql as 'select * from trip where id <= "distinctOn"';
  create function loud_trips() returns setof trip volatile language sql as 'select * from trip';
`);
const options = { introspection: 'always' } as const;
const execution = await startExecution(database, options);

/** Ids of the trips. */
async function trips(given: string, role = 'anon', variables: Record<string, unknown> = {}, declared = '') {
  const query = `query ${declared} { tripCollection(${given}) { edges { node { id } } } }`;
  const { tripCollection } = await execution.data(role, query, { variables });
  return tripCollection.edges.map(({ node }: { node: { id: number } }) => node.id);
}

describe('of rows that are equal in the columns, the first in the order stays', () => {
  test.each([
    ['distinctOn: [kind]', [1, 3, 5]],
    ['distinctOn: kind', [1, 3, 5]],
    ['distinctOn: []', [1, 2, 3, 4, 5, 6, 7, 8]],
    ['distinctOn: null', [1, 2, 3, 4, 5, 6, 7, 8]],
    ['distinctOn: [kind, kind]', [1, 3, 5]],
    ['distinctOn: [id]', [1, 2, 3, 4, 5, 6, 7, 8]],
    // Longest of each kind.
    ['distinctOn: [kind], orderBy: [{length: DescNullsLast}]', [2, 8, 7]],
    ['distinctOn: [kind], orderBy: [{length: DescNullsFirst}]', [2, 4, 7]],
    // A column that the order begins with keeps its direction.
    ['distinctOn: [kind], orderBy: [{kind: DescNullsFirst}, {length: AscNullsLast}]', [5, 3, 6]],
    ['distinctOn: [kind], orderBy: [{kind: DescNullsLast}]', [3, 1, 5]],
    // Elsewhere it does not matter: the column is put in front.
    ['distinctOn: [kind], orderBy: [{length: AscNullsLast}, {kind: DescNullsLast}]', [6, 3, 5]],
    ['distinctOn: [cityId, kind]', [1, 3, 4, 5, 6, 7]],
    ['distinctOn: [kind, cityId], orderBy: [{kind: DescNullsLast}]', [3, 4, 1, 6, 5, 7]],
    ['distinctOn: [cityId, kind], orderBy: [{kind: DescNullsLast}, {length: DescNullsLast}]', [3, 8, 2, 6, 5, 7]],
    // Equal in its own way.
    ['distinctOn: [label]', [1, 3, 5, 6]],
    ['distinctOn: [kind], filter: {cityId: {is: NULL}}', [6, 7]],
    ['distinctOn: [kind], filter: {length: {gt: 5}}', [2, 3]],
  ])('%s', async (given, ids) => {
    expect(await trips(given)).toEqual(ids);
  });

  test('also where it is a variable', async () => {
    const declared = '($on: [TripColumn!], $one: TripColumn!)';
    const on = (value: unknown) => trips('distinctOn: $on', 'anon', { on: value }, '($on: [TripColumn!])');
    expect(await on(['kind'])).toEqual([1, 3, 5]);
    expect(await on('kind')).toEqual([1, 3, 5]);
    expect(await on([])).toHaveLength(8);
    expect(await on(null)).toHaveLength(8);
    expect(await trips('distinctOn: $on', 'anon', {}, '($on: [TripColumn!])')).toHaveLength(8);
    const both = await execution.data(
      'anon',
      `query ${declared} { a: tripCollection(distinctOn: [$one]) { totalCount } b: tripCollection(distinctOn: $on) { totalCount } }`,
      { variables: { one: 'cityId', on: ['cityId', 'kind'] } },
    );
    expect(both).toEqual({ a: { totalCount: 3 }, b: { totalCount: 6 } });
  });
});

describe('pages', () => {
  const page = async (given: string) => {
    const selection =
      'totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { cursor node { id } }';
    return (await execution.data('anon', `{ tripCollection(${given}) { ${selection} } }`)).tripCollection;
  };
  const idsOf = (edges: { node: { id: number } }[]) => edges.map(({ node }) => node.id);

  test.each([
    ['distinctOn: [kind]', [1, 3, 5]],
    ['distinctOn: [kind], orderBy: [{length: DescNullsLast}]', [2, 8, 7]],
    ['distinctOn: [kind], orderBy: [{kind: DescNullsFirst}, {length: AscNullsLast}]', [5, 3, 6]],
    ['distinctOn: [kind], orderBy: [{kind: AscNullsFirst}]', [5, 1, 3]],
    ['distinctOn: [cityId, kind], orderBy: [{kind: DescNullsLast}, {length: DescNullsLast}]', [3, 8, 2, 6, 5, 7]],
    ['distinctOn: [cityId, kind], orderBy: [{cityId: AscNullsFirst}]', [6, 7, 1, 3, 4, 5]],
    ['distinctOn: [label, id]', [1, 2, 8, 3, 4, 5, 6, 7]],
  ])('visit every row once, forward and backward: %s', async (given, ids) => {
    for (const size of [1, 2, 4]) {
      const forward: number[] = [];
      let after = '';
      for (;;) {
        const { edges, pageInfo, totalCount } = await page(`${given}, first: ${size}${after}`);
        expect(totalCount).toBe(ids.length);
        expect(pageInfo.hasPreviousPage).toBe(forward.length > 0);
        forward.push(...idsOf(edges));
        expect(pageInfo.hasNextPage).toBe(forward.length < ids.length);
        expect([pageInfo.startCursor, pageInfo.endCursor]).toEqual([edges[0].cursor, edges.at(-1).cursor]);
        if (!pageInfo.hasNextPage) break;
        after = `, after: "${pageInfo.endCursor}"`;
      }
      expect(forward).toEqual(ids);
      const backward: number[] = [];
      let before = '';
      for (;;) {
        const { edges, pageInfo } = await page(`${given}, last: ${size}${before}`);
        expect(pageInfo.hasNextPage).toBe(backward.length > 0);
        backward.unshift(...idsOf(edges));
        expect(pageInfo.hasPreviousPage).toBe(backward.length < ids.length);
        if (!pageInfo.hasPreviousPage) break;
        before = `, before: "${pageInfo.startCursor}"`;
      }
      expect(backward).toEqual(ids);
    }
  });

  test('pages have an offset', async () => {
    expect(await trips('distinctOn: [kind], offset: 1, first: 1')).toEqual([3]);
    expect(await trips('distinctOn: [kind], offset: 2')).toEqual([5]);
  });

  test('pages continue after the values of a cursor, although another row is the first of them by now', async () => {
    const { edges } = await page('distinctOn: [kind], first: 1');
    const after = `distinctOn: [kind], after: "${edges[0].cursor}"`;
    await database.query(`update trip set length = null where id = 1; insert into trip values (0, 1, 'a', 'n', 1)`);
    expect(await trips('distinctOn: [kind]')).toEqual([0, 3, 5]);
    expect(await trips(after)).toEqual([3, 5]);
    await database.query('delete from trip where id = 0; update trip set length = 5 where id = 1');
  });

  test('pages take a cursor that is shorter than the columns', async () => {
    const cursor = Buffer.from('[1]').toString('base64');
    expect(await trips(`distinctOn: [cityId, kind], after: "${cursor}"`)).toEqual([4, 5, 6, 7]);
  });
});

describe('counts', () => {
  const counts = async (given: string, selection: string) =>
    (await execution.data('anon', `{ tripCollection${given} { ${selection} } }`)).tripCollection;

  test('totalCount counts the distinct rows; aggregate and groups are of all rows', async () => {
    expect(
      await counts(
        '(distinctOn: [kind], first: 1)',
        'totalCount aggregate { count } groups(by: {column: kind}) { count } edges { node { id } }',
      ),
    ).toEqual({
      totalCount: 3,
      aggregate: { count: 8 },
      groups: [{ count: 3 }, { count: 3 }, { count: 2 }],
      edges: [{ node: { id: 1 } }],
    });
    expect(await counts('(distinctOn: [cityId, kind])', 'totalCount')).toEqual({ totalCount: 6 });
    expect(await counts('(distinctOn: [kind], filter: {id: {lt: 0}})', 'totalCount edges { cursor }')).toEqual({
      totalCount: 0,
      edges: [],
    });
  });

  test('totalCount counts no further than atMost', async () => {
    expect(await counts('(distinctOn: [cityId, kind])', 'a: totalCount(atMost: 2) b: totalCount(atMost: 100)')).toEqual(
      { a: 2, b: 6 },
    );
    expect(await counts('(distinctOn: [kind])', 'totalCount(atMost: 2) edges { node { id } }')).toMatchObject({
      totalCount: 2,
    });
  });

  test('page info alone, and edges without a column', async () => {
    expect(await counts('(distinctOn: [kind], first: 2)', 'pageInfo { hasNextPage }')).toEqual({
      pageInfo: { hasNextPage: true },
    });
    expect(await counts('(distinctOn: [kind])', 'edges { __typename }')).toEqual({
      edges: [1, 2, 3].map(() => ({ __typename: 'TripEdge' })),
    });
  });
});

describe('distinctOn may be used', () => {
  test('in nested collections, with nested rows', async () => {
    const query =
      '{ cityCollection { edges { node { tripCollection(distinctOn: [kind], orderBy: {length: DescNullsLast}) { totalCount edges { node { id city { name } } } } } } } }';
    const { cityCollection } = await execution.data('anon', query);
    const found = cityCollection.edges.map(
      ({ node }: { node: { tripCollection: { totalCount: number; edges: { node: { id: number } }[] } } }) => [
        node.tripCollection.totalCount,
        ...node.tripCollection.edges.map((edge) => edge.node.id),
      ],
    );
    expect(found).toEqual([[2, 2, 3], [2, 8, 5], [0]]);
  });

  test('on results of functions', async () => {
    const ids = ({ edges }: { edges: { node: { id: number } }[] }) => edges.map(({ node }) => node.id);
    const { trips } = await execution.data(
      'service_role',
      '{ trips(distinctOn: [kind]) { totalCount edges { node { id } } } }',
    );
    expect([trips.totalCount, ...ids(trips)]).toEqual([4, 1, 3, 9, 5]);
    const { one } = await execution.data(
      'service_role',
      '{ one: trips(distinctOn: [kind], last: 2) { edges { node { id } } } }',
    );
    expect(ids(one)).toEqual([9, 5]);
    const { loudTrips } = await execution.data(
      'service_role',
      'mutation { loudTrips(distinctOn: [kind], first: 1) { pageInfo { hasNextPage } edges { node { id } } } }',
    );
    expect([loudTrips.pageInfo.hasNextPage, ...ids(loudTrips)]).toEqual([true, 1]);
  });
});

describe('names and roles', () => {
  const argumentsOf = async (field: string, type = 'Query', on = execution, role = 'anon') => {
    const { __type } = await on.data(
      role,
      `{ __type(name: "${type}") { fields { name args { name type { name ofType { name } } } } } }`,
    );
    return __type.fields.find(({ name }: { name: string }) => name === field).args as {
      name: string;
      type: { name: string | null };
    }[];
  };

  test('distinctOn is the last argument of every connection', async () => {
    const names = ['first', 'last', 'before', 'after', 'offset', 'filter', 'orderBy', 'distinctOn'];
    expect((await argumentsOf('tripCollection')).map(({ name }) => name)).toEqual(names);
    expect((await argumentsOf('tripCollection', 'City')).map(({ name }) => name)).toEqual(names);
    expect((await argumentsOf('trips')).map(({ name }) => name)).toEqual(names);
  });

  test('an argument of a function keeps its name, and that is reported', async () => {
    const args = await argumentsOf('tripsOf');
    expect(args.filter(({ name }) => name === 'distinctOn')).toMatchObject([{ type: { ofType: { name: 'Int' } } }]);
    const { tripsOf } = await execution.data('service_role', '{ tripsOf(distinctOn: 2) { edges { node { id } } } }');
    expect(tripsOf.edges).toEqual([{ node: { id: 1 } }, { node: { id: 2 } }]);
    const reasons = (await modelReader(database).omissions(['public'])).map(({ reason }) => reason);
    expect(reasons).toContain(
      'Function public.trips_of has no "distinctOn" of the collection: an argument of its own has that name.',
    );
  });

  test('only columns that the role may select can be named, and only those that can be told apart', async () => {
    const values = async (role: string) => {
      const { __type } = await execution.data(role, '{ __type(name: "TripColumn") { enumValues { name } } }');
      return __type.enumValues.map(({ name }: { name: string }) => name);
    };
    expect(await values('anon')).toEqual(['id', 'cityId', 'kind', 'label', 'length', 'hidden']);
    expect(await values('service_role')).toContain('secret');
    const secret = '{ tripCollection(distinctOn: [secret]) { totalCount } }';
    expect(await execution.errors('anon', secret)).toEqual(['Value "secret" does not exist in "TripColumn" enum.']);
  });

  test('rows that the role does not see are never the first', async () => {
    expect(await trips('distinctOn: [kind], orderBy: {length: DescNullsLast}')).toEqual([2, 8, 7]);
    expect(await trips('distinctOn: [kind], orderBy: {length: DescNullsLast}', 'service_role')).toEqual([10, 8, 9, 7]);
  });

  test('without the extension there is no such argument, and no such enum', async () => {
    const plain = await startExecution(database, { ...options, extensions: [] });
    expect((await argumentsOf('tripCollection', 'Query', plain)).map(({ name }) => name)).not.toContain('distinctOn');
    const none = await plain.data('anon', '{ __schema { types { name } } }');
    const names = none.__schema.types.map(({ name }: { name: string }) => name);
    expect(names).not.toContain('TripColumn');
  });

  test('where the name is taken it is left out, and `check` reports that', async () => {
    await createSchema(
      database,
      'named',
      `
      comment on schema named is '@graphql({"inflect_names": true})';
      create table part (id int primary key); create table part_column (id int primary key);
      grant select on all tables in schema named to anon;
    `,
    );
    const on = await startExecution(database, { ...options, schemas: ['named'] });
    expect((await argumentsOf('partCollection', 'Query', on)).map(({ name }) => name)).not.toContain('distinctOn');
    expect((await argumentsOf('partColumnCollection', 'Query', on)).map(({ name }) => name)).toContain('distinctOn');
    const reasons = (await modelReader(database).omissions(['named'])).map(({ reason, fix }) => `${reason} ${fix}`);
    expect(reasons.join('\n')).toMatch(/part would have the type "PartColumn", and .* comment on table named\.part is/);
  });
});

describe('with as many blocks as 200,000 rows have, an index serves', async () => {
  await createSchema(
    database,
    'big',
    `
    comment on schema big is '@graphql({"inflect_names": true})';
    create table message (id int primary key, tenant int not null, sender int not null, sent int not null) with (fillfactor = 10);
    insert into message select n, n % 10, 1 + (n - 1) % 2000, n from generate_series(1, 20000) n;
    create index on message (sender, sent, id); create index on message (tenant, sender, sent, id);
    alter table message enable row level security; create policy own on message using (tenant = (select 1));
    grant select on message to anon, service_role;
    analyze;
  `,
  );
  await database.query('vacuum big.message');
  const on = await startExecution(database, { schemas: ['big'] });
  const blocks = await blocksRead(database, on);
  const last =
    'distinctOn: [sender], orderBy: [{sender: DescNullsLast}, {sent: DescNullsLast}, {id: DescNullsLast}], first: 5';

  // A scan of all messages reads more than a thousand blocks.
  test.each([
    ['first page', 'distinctOn: [sender], orderBy: [{sender: AscNullsLast}, {sent: AscNullsLast}], first: 5'],
    [
      'after a cursor',
      `distinctOn: [sender], orderBy: [{sender: AscNullsLast}, {sent: AscNullsLast}], first: 5, after: "${Buffer.from('[1000]').toString('base64')}"`,
    ],
    ['the last of each', last],
  ])('%s', async (_, given) => {
    for (const role of ['anon', 'service_role']) {
      const query = `{ messageCollection(${given}) { edges { node { id } } } }`;
      expect((await on.data(role, query)).messageCollection.edges).toHaveLength(5);
      expect(await blocks(role, query), role).toBeLessThan(300);
    }
  });
});
