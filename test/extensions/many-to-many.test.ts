/** Junction tables: each side gets a collection of the other (extension `many_to_many`, docs/relationships.md). */
import { describe, expect, test } from 'vitest';
import { blocksRead } from '../support/blocks-read.ts';
import { startExecution } from '../support/execution.ts';
import { createDatabase, createSchema } from '../support/postgres.ts';
import { modelReader } from '../support/read-model.ts';

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create table post (id int primary key, title text);
  create table tag (id int primary key, name text, weight int);
  create table post_tag (id int primary key, post_id int references post, tag_id int references tag, secret boolean not null default false);
  create table person (name text primary key);
  create table follow (id int primary key, follower text references person, followed text references person);
  comment on table post is '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}})';
  comment on table tag is '@graphql({"totalCount": {"enabled": true}, "aggregate": {"enabled": true}})';
  comment on table post_tag is '@graphql({"many_to_many": true})';
  comment on table follow is '@graphql({"many_to_many": {"from": "following", "to": "followers"}})';
  insert into post values (1, 'a'), (2, 'b'), (3, 'c');
  insert into tag values (1, 'red', 5), (2, 'blue', 7), (3, 'green', 1);
  -- One pair twice, one link without a tag, one that anon does not see.
  insert into post_tag values (1, 1, 1), (2, 1, 2), (3, 1, 1), (4, 2, 2), (5, 2, null);
  insert into post_tag values (6, 3, 3, true);
  insert into person values ('Ana'), ('Ben'), ('Cid');
  insert into follow values (1, 'Ana', 'Ben'), (2, 'Ana', 'Cid'), (3, 'Ben', 'Ana');
  alter table post_tag enable row level security;
  create policy open on post_tag to anon using (not secret);
  create policy all_of_them on post_tag to service_role using (true);
  grant select on all tables in schema public to anon, service_role;
  grant select on post, tag to authenticated; grant select (id, post_id) on post_tag to authenticated;
`);
const options = { introspection: 'always' } as const;
const execution = await startExecution(database, options);
type Edges = { edges: { node: Record<string, unknown> }[] };
const valuesOf = ({ edges }: Edges, key: string) => edges.map(({ node }) => node[key]);

const posts = async (given: string, role = 'anon') =>
  valuesOf((await execution.data(role, `{ postCollection(${given}) { edges { node { id } } } }`)).postCollection, 'id');

describe('each side', () => {
  test('each side has the rows that are linked, each once', async () => {
    const query = `{ postCollection { edges { node { tagCollection { totalCount aggregate { count sum { weight } } edges { node { name } } } } } } }`;
    const { postCollection } = await execution.data('anon', query);
    const found = postCollection.edges.map(
      ({ node: { tagCollection } }: { node: { tagCollection: Edges & { totalCount: number; aggregate: object } } }) => [
        tagCollection.totalCount,
        tagCollection.aggregate,
        ...valuesOf(tagCollection, 'name'),
      ],
    );
    expect(found).toEqual([
      [2, { count: 2, sum: { weight: 12 } }, 'red', 'blue'],
      [1, { count: 1, sum: { weight: 7 } }, 'blue'],
      [0, { count: 0, sum: { weight: null } }],
    ]);
    const { tagCollection } = await execution.data(
      'anon',
      '{ tagCollection { edges { node { postCollection { edges { node { id } } } } } } }',
    );
    const back = tagCollection.edges.map(({ node }: { node: { postCollection: Edges } }) =>
      valuesOf(node.postCollection, 'id'),
    );
    expect(back).toEqual([[1], [1, 2], []]);
  });

  test('each side has all arguments of a connection', async () => {
    const query = `{ postCollection(first: 1) { edges { node {
      page: tagCollection(first: 1, orderBy: {name: AscNullsLast}) { pageInfo { hasNextPage endCursor } edges { node { name } } }
      last: tagCollection(last: 1) { edges { node { name } } }
      filtered: tagCollection(filter: {weight: {lt: 6}}) { edges { node { name } } }
      one: tagCollection(distinctOn: [weight], offset: 1) { edges { node { name } } }
      grouped: tagCollection { groups(by: {column: name}) { key { name } count } } } } } }`;
    const { node } = (await execution.data('anon', query)).postCollection.edges[0];
    expect(node.page.pageInfo.hasNextPage).toBe(true);
    expect([node.page, node.last, node.filtered, node.one].map((each) => valuesOf(each, 'name'))).toEqual([
      ['blue'],
      ['blue'],
      ['red'],
      ['blue'],
    ]);
    expect(node.grouped.groups).toEqual([
      { key: { name: 'blue' }, count: 1 },
      { key: { name: 'red' }, count: 1 },
    ]);
    const next = `{ postCollection(first: 1) { edges { node { tagCollection(after: "${node.page.pageInfo.endCursor}", orderBy: {name: AscNullsLast}) { edges { node { name } } } } } } }`;
    expect(valuesOf((await execution.data('anon', next)).postCollection.edges[0].node.tagCollection, 'name')).toEqual([
      'red',
    ]);
  });

  test('each side may be the same table: names tell them apart', async () => {
    const query =
      '{ personCollection { edges { node { name following { edges { node { name } } } followers { edges { node { name followers { edges { node { name } } } } } } } } } }';
    const { personCollection } = await execution.data('anon', query);
    const found = personCollection.edges.map(({ node }: { node: { following: Edges; followers: Edges } }) => [
      valuesOf(node.following, 'name'),
      valuesOf(node.followers, 'name'),
    ]);
    expect(found).toEqual([
      [['Ben', 'Cid'], ['Ben']],
      [['Ana'], ['Ana']],
      [[], ['Ana']],
    ]);
  });
});

describe('filters and orders', () => {
  test.each([
    ['filter: {tagCollection: {some: {name: {eq: "blue"}}}}', [1, 2]],
    ['filter: {tagCollection: {none: {name: {eq: "red"}}}}', [2, 3]],
    ['filter: {tagCollection: {every: {weight: {gt: 6}}}}', [2, 3]],
    ['filter: {tagCollection: {none: {}}}', [3]],
    ['filter: {tagCollection: {aggregate: {count: {eq: 2}}}}', [1]],
    ['filter: {tagCollection: {aggregate: {sum: {weight: {eq: "12"}}}}}', [1]],
    ['filter: {tagCollection: {some: {postCollection: {some: {id: {eq: 2}}}}}}', [1, 2]],
    ['orderBy: {tagCollection: {count: DescNullsLast}}', [1, 2, 3]],
    ['orderBy: {tagCollection: {min: {weight: DescNullsFirst}}}', [3, 2, 1]],
  ])('%s', async (given, ids) => {
    expect(await posts(given)).toEqual(ids);
  });
});

describe('what a role may not see', () => {
  test('what a role may not see is no link', async () => {
    expect(await posts('filter: {tagCollection: {none: {}}}', 'service_role')).toEqual([]);
    expect(await posts('filter: {tagCollection: {none: {}}}')).toEqual([3]);
  });

  test('what a role may not see makes no field: a foreign key without a privilege', async () => {
    const fields = async (role: string) => {
      const { __type } = await execution.data(role, '{ __type(name: "Post") { fields { name } } }');
      return __type.fields.map(({ name }: { name: string }) => name);
    };
    expect(await fields('anon')).toEqual(['nodeId', 'id', 'title', 'postTagCollection', 'tagCollection']);
    expect(await fields('authenticated')).toEqual(['nodeId', 'id', 'title', 'postTagCollection']);
    const reasons = (await modelReader(database).omissions(['public'], 'authenticated')).map(({ reason }) => reason);
    expect(reasons).toContain(
      'Table public.post_tag links no two tables: it has 1 foreign keys that the role can use, not two.',
    );
  });

  test('without the extension there is no field, and no mistake in its directive', async () => {
    await createSchema(
      database,
      'other',
      `
      create table a (id int primary key); create table b (id int primary key);
      create table link (a int references a, b int references b, primary key (a, b));
      comment on table link is '@graphql({"many_to_many": {"form": "x"}})';
      insert into a values (1); insert into b values (2); insert into link values (1, 2);
      grant select on all tables in schema other to anon;
    `,
    );
    const query = '{ aCollection { edges { node { id } } } }';
    const off = await startExecution(database, { schemas: ['other'], extensions: [] });
    expect((await off.data('anon', query)).aCollection.edges).toEqual([{ node: { id: 1 } }]);
    expect(await off.errors('anon', query.replace('id', 'bCollection { edges { cursor } }'))).toHaveLength(1);
    const [message] = await (await startExecution(database, { schemas: ['other'] })).errors('anon', query);
    expect(message).toContain('link: "many_to_many" must be true, false or an object with the names "from" and "to"');
    await database.query(`comment on table other.link is '@graphql({"many_to_many": false})'`);
    const without = await startExecution(database, { schemas: ['other'] });
    expect(await without.errors('anon', query.replace('id', 'bCollection { edges { cursor } }'))).toHaveLength(1);
  });
});

test('fields take no name that is there without them, and that is reported with another one', async () => {
  await createSchema(
    database,
    'named',
    `
    comment on schema named is '@graphql({"inflect_names": true})';
    create table post (id int primary key, "tagCollection" text);
    create table tag (id int primary key, post_id int references post);
    create table post_tag (id int primary key, post_id int references post, tag_id int references tag);
    comment on table post_tag is '@graphql({"many_to_many": true})';
    create table three (id int primary key, a int references post, b int references tag, c int references post);
    comment on table three is '@graphql({"many_to_many": true})';
    insert into post values (1, 'mine'); insert into tag values (5, 1); insert into post_tag values (1, 1, 5);
    grant select on all tables in schema named to anon;
  `,
  );
  const on = await startExecution(database, { schemas: ['named'] });
  const query =
    '{ postCollection { edges { node { tagCollection { edges { node { postCollection { edges { node { id } } } } } } } } } }';
  expect((await on.data('anon', query)).postCollection.edges[0].node.tagCollection.edges[0].node).toEqual({
    postCollection: { edges: [{ node: { id: 1 } }] },
  });
  const omissions = (await modelReader(database).omissions(['named']))
    .map(({ reason, fix }) => `${reason} ${fix}`)
    .join('\n');
  expect(omissions).toContain(
    `Table named.post has no field "tagCollection" through named.post_tag: it has another one, or GraphQL has no such name. comment on table named.post_tag is '@graphql({"many_to_many":{"from":"tagCollectionThroughPostTag"}})';`,
  );
  expect(omissions).toContain(
    'Table named.three links no two tables: it has 3 foreign keys that the role can use, not two.',
  );
  await database.query(`comment on table named.post_tag is '@graphql({"many_to_many": {"from": "tags"}})'`);
  await on.reload();
  const renamed = '{ postCollection { edges { node { tags { edges { node { id } } } } } } }';
  expect((await on.data('anon', renamed)).postCollection.edges[0].node.tags.edges).toEqual([{ node: { id: 5 } }]);
});

test('with as many blocks as 200,000 links have, indexes serve', async () => {
  await createSchema(
    database,
    'big',
    `
    comment on schema big is '@graphql({"inflect_names": true})';
    create table post (id int primary key, tenant int not null) with (fillfactor = 10);
    create table tag (id int primary key, name text not null unique) with (fillfactor = 10);
    create table post_tag (post_id int not null, tag_id int not null, tenant int not null) with (fillfactor = 10);
    comment on table post_tag is '@graphql({"many_to_many": true})';
    insert into post select n, n % 10 from generate_series(1, 4000) n;
    insert into tag select n, 't' || n from generate_series(1, 2000) n;
    insert into post_tag select p, 1 + (p * 7 + k * 4001) % 2000, p % 10 from generate_series(1, 4000) p, generate_series(0, 4) k;
    -- With the rows there, one join checks them all.
    alter table post_tag add primary key (post_id, tag_id), add foreign key (post_id) references post, add foreign key (tag_id) references tag;
    create index on post_tag (tag_id);
    alter table post enable row level security; alter table post_tag enable row level security;
    create policy own on post using (tenant = (select 1)); create policy own on post_tag using (tenant = (select 1));
    grant select on all tables in schema big to anon, service_role;
    analyze;
  `,
  );
  const on = await startExecution(database, { schemas: ['big'] });
  const blocks = await blocksRead(database, on);
  for (const query of [
    '{ postCollection(filter: {id: {eq: 11}}) { edges { node { tagCollection { edges { node { name } } } } } } }',
    '{ postCollection(first: 5, filter: {tagCollection: {some: {name: {eq: "t78"}}}}) { edges { node { id } } } }',
  ]) {
    for (const role of ['anon', 'service_role']) {
      expect((await on.data(role, query)).postCollection.edges.length).toBeGreaterThan(0);
      expect(await blocks(role, query), `${role}: ${query}`).toBeLessThan(300);
    }
  }
});
