/** What `pgreflect check` says of junction tables, and of indexes that filters do without: what it says is tried. */
import { describe, expect, test } from 'vitest';
import type { Finding } from '../../src/check/finding.ts';
import { bindSlots } from '../../src/graphql/compile/input/bind-slot.ts';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';
import { findings } from './check-findings.ts';
import { runCommand } from './run-command.ts';

const keyOf = ({ check, object, message }: Finding) => `${check} ${object} ${message}`;

describe('junction tables without a directive', async () => {
  const database = await createDatabase(
    `
    comment on schema public is '@graphql({"inflect_names": true, "introspection": true})';
    create table post (id int primary key, title text);
    create table tag (id int primary key, label text, pinned_id int references post);
    create table person (name text primary key);
    -- Links alone.
    create table post_tag (post_id int references post, tag_id int references tag, primary key (post_id, tag_id));
    create table liked (id bigint generated always as identity primary key, post_id int references post, tag_id int references tag,
      at timestamptz not null default now(), unique (tag_id, post_id));
    create table follow (follower text references person, followed text references person, primary key (followed, follower));
    create table pair (tenant int, id int, primary key (tenant, id));
    create table tenant_link (tenant int, a int, b int, primary key (tenant, a, b), foreign key (tenant, a) references pair, foreign key (tenant, b) references pair);
    comment on table post_tag is 'The labels, as they were "stuck". @graphql({"max_rows": 9})';
    -- More than links, links that may be there twice, one to one, three sides, and those that somebody has decided about.
    create table review (post_id int references post, person text references person, stars int not null, primary key (post_id, person));
    create table message (id int primary key, sender text references person, recipient text references person);
    create table pinned (post_id int primary key references post, tag_id int references tag);
    create table three (a int references post, b int references tag, c text references person, primary key (a, b, c));
    create table partly (a int references post, b int references tag, ended date default null); create unique index on partly (a, b) where ended is null;
    create table decided (a int references post, b int references tag, primary key (a, b));
    comment on table decided is '@graphql({"many_to_many": false})';
    create table hushed (a int references post, b int references tag, primary key (a, b));
    comment on table hushed is '@graphql({"ignore": ["many_to_many_missing"]})';
    insert into post values (1, 'a'), (2, 'b'); insert into tag values (1, 'red', 2); insert into post_tag values (1, 1); insert into liked (post_id, tag_id) values (2, 1);
    insert into person values ('Ana'), ('Ben'); insert into follow values ('Ana', 'Ben');
    grant select on all tables in schema public to anon, service_role;
    -- Who does not see the foreign key has the plain name free.
    revoke select on tag from anon; grant select (id, label) on tag to anon;
  `,
  );
  const fixes = [
    `comment on table public.post_tag is 'The labels, as they were "stuck". @graphql({"max_rows":9,"many_to_many":{"from":"tagCollectionThroughPostTag"}})';`,
    `comment on table public.liked is '@graphql({"many_to_many":{"from":"tagCollectionThroughLiked","to":"postCollectionThroughLiked"}})';`,
    `comment on table public.follow is '@graphql({"many_to_many":{"from":"personCollectionByFollowed","to":"personCollectionByFollower"}})';`,
    `comment on table public.tenant_link is '@graphql({"many_to_many":{"from":"pairCollectionByTenantB","to":"pairCollectionByTenantA"}})';`,
  ];
  const before = await findings(database);

  test('junction tables without a directive are a note each, with the comment that keeps what it says already', () => {
    const found = before.filter(({ check }) => check === 'many_to_many_missing');
    expect(found.map(({ fix }) => fix)).toEqual(fixes);
    expect(new Set(found.map(({ severity }) => severity))).toEqual(new Set(['note']));
    expect(found[0]?.message).toBe(
      'Table public.post_tag links public.post and public.tag. Its comment can give them collections of each other, "tagCollectionThroughPostTag" and "postCollection".',
    );
  });

  test('each fix ends its finding and makes no other, and the collections are there', async () => {
    for (const fix of fixes) await database.query(fix);
    const after = (await findings(database)).map(keyOf);
    expect(after).toEqual(before.filter(({ fix }) => !fixes.includes(fix!)).map(keyOf));
    const execution = await startExecution(database, {});
    for (const role of ['anon', 'service_role']) {
      const data = await execution.data(
        role,
        `{ post: postByPk(id: 1) { tagCollectionThroughPostTag { edges { node { label postCollectionThroughLiked { edges { node { id } } } } } } }
           person: personByPk(name: "Ben") { personCollectionByFollowed { edges { node { name } } } personCollectionByFollower { edges { node { name } } } } }`,
      );
      expect(JSON.stringify(data)).toBe(
        JSON.stringify({
          post: {
            tagCollectionThroughPostTag: {
              edges: [{ node: { label: 'red', postCollectionThroughLiked: { edges: [{ node: { id: 2 } }] } } }],
            },
          },
          person: {
            personCollectionByFollowed: { edges: [] },
            personCollectionByFollower: { edges: [{ node: { name: 'Ana' } }] },
          },
        }),
      );
    }
  });

  test('without the extension nothing is said', async () => {
    await database.query('comment on table follow is null');
    const found = await findings(database, '--only', 'many_to_many_missing', '--extensions', 'none');
    expect(found).toEqual([]);
    expect(await findings(database, '--only', 'many_to_many_missing')).toHaveLength(1);
  });
});

test('many junction tables are one finding of a long report', async () => {
  const tables = Array.from(
    { length: 60 },
    (_, at) => `create table link_${at} (a int references a, b int references b, primary key (a, b));`,
  );
  const database = await createDatabase(`
    create table a (id int primary key); create table b (id int primary key); ${tables.join('\n')}
    grant usage on schema public to anon, authenticated, service_role;
    grant select on all tables in schema public to anon, authenticated, service_role;
  `);
  const env = { DATABASE_URL: database.urlAs('authenticator', 'test') };
  const { out } = await runCommand(['check'], { env });
  expect(out).toContain('note     many_to_many_missing (60)\n');
  expect(out.split('many_to_many_missing')[1]).toContain('And 59 more like this: public.link_1, ');
  expect(out.trimEnd().split('\n').length).toBeLessThanOrEqual(100);
});

describe('an index and row security', async () => {
  // An index for each filter, of 3,000 rows that one of them finds, and whether PostgreSQL may use it under a policy.
  const filters = [
    ['int4', 'n', 'using btree (%)', '{eq: 7}', 'used'],
    ['text', "'t' || n", 'using btree (%)', '{eq: "t7"}', 'used'],
    ['uuid', 'md5(n::text)::uuid', 'using hash (%)', '{eq: "8f14e45f-ceea-167a-5a36-dedd4bea2543"}', 'used'],
    [
      'timestamptz',
      "'2020-01-01'::timestamptz + n * interval '1 day'",
      'using btree (%)',
      '{lt: "2020-01-03T00:00:00Z"}',
      'used',
    ],
    ['numeric', 'n', 'using btree (%)', '{eq: "7"}', 'behind'],
    ['state', "case n when 7 then 'rare'::state else 'usual' end", 'using btree (%)', '{eq: rare}', 'behind'],
    ['text', "'t' || n", 'using btree (% text_pattern_ops)', '{like: "t299%"}', 'behind'],
    ['text', "'t' || md5(n::text)", 'using gin (% gin_trgm_ops)', '{ilike: "%CEEA167A%"}', 'behind'],
    ['text[]', "array['t' || n]", 'using gin (%)', '{contains: ["t7"]}', 'behind'],
    ['jsonb', "jsonb_build_object('n', n)", 'using gin (%)', '{contains: "{\\"n\\": 7}"}', 'behind'],
    ['jsonb', "jsonb_build_object('k' || n, 1)", 'using gin (%)', '{hasKey: "k7"}', 'behind'],
    ['jsonb', "jsonb_build_object('n', n)", 'using gin (% jsonb_path_ops)', '{matches: "$.n ? (@ == 7)"}', 'behind'],
    ['tsvector', "to_tsvector('simple', 't' || n)", 'using gin (%)', '{plain: "t7", config: "simple"}', 'behind'],
    ['tsvector', "to_tsvector('simple', 't' || n)", 'using gist (%)', '{plain: "t7", config: "simple"}', 'behind'],
  ] as const;
  const columns = filters.map(([type], at) => `c${at} ${type}`);
  const database = await createDatabase(`
    create extension pg_trgm; create type state as enum ('usual', 'rare');
    create table thing (id int primary key, owner int not null, ${columns.join(', ')});
    insert into thing select n, 1, ${filters.map(([, value]) => value).join(', ')} from generate_series(1, 3000) n;
    ${filters.map(([, , index], at) => `create index thing_c${at} on thing ${index.replace('%', `c${at}`)};`).join('\n')}
    create index thing_words on thing (lower(c1));
    alter table thing enable row level security;
    create policy own on thing to anon using (owner = (select 1));
    create policy everything on thing to service_role using (true);
    grant select on thing to anon, service_role;
    analyze thing;
  `);
  const execution = await startExecution(database, {});
  const conditions = async (role: string, given: string): Promise<string> => {
    const [statement] = await execution.statements(role, `{ thingCollection(${given}) { edges { node { id } } } }`);
    const values = bindSlots(statement!.slots, { variables: {}, introspection: new Map(), countedBytes: 1_000_000 });
    await database.query(`begin; set local role ${role}`);
    const plan = await database.query<{ 'QUERY PLAN': string }>(`explain ${statement!.text}`, values);
    await database.query('rollback');
    return plan
      .map((row) => row['QUERY PLAN'])
      .filter((line) => line.includes('Index Cond'))
      .join('\n');
  };
  const found = await findings(database);
  const behind = found.filter(({ check }) => check === 'index_behind_policy');

  test.each(filters.map(([type, , index, filter, use], at) => ({ at, type, index, filter, use })))(
    '$type $index $filter: $use',
    async ({ at, filter, use }) => {
      const [given, name] = [`filter: {c${at}: ${filter}}`, `c${at}`];
      expect(await conditions('service_role', given)).toContain(name);
      const [named] = behind.filter(({ object }) => object === `public.thing.${name}`);
      if (use === 'used') {
        expect(await conditions('anon', given)).toContain(name);
        expect(named).toBeUndefined();
      } else {
        expect(await conditions('anon', given)).not.toContain(name);
        expect(named).toMatchObject({ severity: 'note', fix: null });
        expect(named?.message).toContain(`"thing_${name}" for anon: `);
      }
    },
  );

  test('an order by an index is of use, and a cursor is no place in it', async () => {
    const orderOf = (at: number) => `first: 2, orderBy: {c${at}: AscNullsLast}`;
    for (const [at, use] of [
      [0, 'used'],
      [4, 'behind'],
    ] as const) {
      const query = `{ thingCollection(${orderOf(at)}) { edges { cursor } } }`;
      const { edges } = (await execution.data('anon', query)).thingCollection;
      const next = `${orderOf(at)}, after: "${edges[1].cursor}"`;
      expect(await conditions('service_role', next)).toContain(`c${at}`);
      expect(/c\d+ >=/.test(await conditions('anon', next))).toBe(use === 'used');
    }
    const messages = behind.filter(({ message }) => message.includes('Orders use the index, cursors do not.'));
    expect(messages.map(({ object }) => object).toSorted()).toEqual([
      'public.thing',
      'public.thing.c4',
      'public.thing.c5',
    ]);
  });

  test('on an expression of the rows is one of the table', () => {
    const [onTable] = behind.filter(({ object }) => object === 'public.thing');
    expect(onTable?.message).toBe(
      'The policy "own" keeps filters by public.thing from using the index "thing_words" for anon: its operators could reveal hidden rows, so PostgreSQL asks the policy for every row first. Orders use the index, cursors do not. An index on the column that the policy compares helps.',
    );
  });

  test('an index and row security is used where somebody has declared the operators leakproof, and nothing is said', async () => {
    await database.query('alter function jsonb_contains(jsonb, jsonb) leakproof');
    expect(await conditions('anon', `filter: {c9: ${filters[9][3]}}`)).toContain('c9');
    const objects = (await findings(database, '--only', 'index_behind_policy')).map(({ object }) => object);
    expect(objects).not.toContain('public.thing.c9');
    expect(objects).toContain('public.thing.c8');
  });
});

test('columns whose contents are filtered by have an index each, and its statement ends the finding', async () => {
  const database = await createDatabase(`
    create domain document as jsonb; create type color as enum ('red');
    create table event (id int, at date, body document, primary key (id, at)) partition by range (at);
    create table event_1 partition of event for values from ('2020-01-01') to ('2021-01-01');
    create table event_2 partition of event for values from ('2021-01-01') to ('2022-01-01');
    create table page (id int primary key, "Words" tsvector, tags int[], colors color[], old json, secret jsonb);
    create table locked (id int primary key, body jsonb);
    create materialized view stored as select id, '{}'::jsonb as body from page;
    comment on materialized view stored is '@graphql({"primary_key_columns": ["id"]})';
    create schema bare; comment on schema bare is '@graphql({"extensions": false})';
    create table bare.other (id int primary key, body jsonb, words tsvector, tags text[]);
    grant usage on schema bare to anon; grant select on event_1, event_2, stored, bare.other to anon;
    grant select (id, "Words", tags, colors, old) on page to anon;
    grant select on locked to service_role;
  `);
  const missing = () => findings(database, '--only', 'contents_unindexed', '--schemas', 'public,bare');
  const found = await missing();
  expect(found.map(({ fix }) => fix)).toEqual([
    'create index on bare.other using gin (tags);',
    'create index on public.page using gin ("Words");',
    'create index on public.page using gin (colors);',
    'create index on public.page using gin (tags);',
    'create index on public.stored using gin (body);',
    'create index on public.event using gin (body);',
  ]);
  for (const { fix } of found) await database.query(fix!);
  expect(await missing()).toEqual([]);
});
