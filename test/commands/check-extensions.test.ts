/** What `pgreflect check` says of the extensions of the API: junction tables without their directive. Each fix is run. */
import { describe, expect, test } from 'vitest';
import type { Finding } from '../../src/commands/check/finding.ts';
import { startExecution } from '../support/execution.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { runCommand } from './run-command.ts';

async function findings(database: TestDatabase, ...args: string[]): Promise<readonly Finding[]> {
  const env = { DATABASE_URL: database.urlAs('authenticator', 'test') };
  const { out } = await runCommand(['check', '--format', 'json', ...args], { env });
  return (JSON.parse(out) as { findings: readonly Finding[] }).findings;
}

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

  test('are a note each, with the comment that keeps what it says already', () => {
    const found = before.filter(({ check }) => check === 'many_to_many_missing');
    expect(found.map(({ fix }) => fix)).toEqual(fixes);
    expect(new Set(found.map(({ severity }) => severity))).toEqual(new Set(['note']));
    expect(found[0]?.message).toBe(
      'Table public.post_tag links public.post and public.tag. Its comment can give them collections of each other, "tagCollectionThroughPostTag" and "postCollection".',
    );
  });

  test('each fix ends its finding and makes no other, and the collections are there', async () => {
    let known = before;
    for (const fix of fixes) {
      await database.query(fix);
      const after = await findings(database);
      const gone = known.filter((finding) => !after.map(keyOf).includes(keyOf(finding)));
      expect(gone.map((finding) => finding.fix)).toEqual([fix]);
      expect(after.filter((finding) => !known.map(keyOf).includes(keyOf(finding)))).toEqual([]);
      known = after;
    }
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

test('of many junction tables a long report shows three', async () => {
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
  expect(out).toContain('… and 57 more: pgreflect check --only many_to_many_missing');
  expect(out.trimEnd().split('\n').length).toBeLessThanOrEqual(100);
});
