/** What `pgreflect check` says of views that let filters tell what is in rows that they leave out: what it says is tried. */
import { expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';
import { findings } from './check-findings.ts';

const keyed = `'@graphql({"primary_key_columns": ["id"]})'`;
const database = await createDatabase(`
  create table team (id int primary key, name text);
  create table letter (id int primary key, team_id int not null references team, body text, size int not null default 0, sent boolean not null default true);
  create table post (id int primary key, body text, draft boolean not null default true);
  create table rent (id int primary key, body text, owner text);
  alter table rent enable row level security;
  create policy own on rent for select to anon using (owner = current_user);
  insert into team values (1, 'anon'), (2, 'board');
  insert into letter values (1, 1, 'hello'), (2, 2, 'secret plan');
  -- Tell rows: by a subquery, a join, a view below, a branch, groups, and under policies.
  create view mine as select id, body from letter l where exists (select from team t where t.id = l.team_id and t.name = current_user);
  create view joined as select l.id, l.body from letter l join team t on t.id = l.team_id and t.name = current_user;
  create view above as select * from mine;
  create view branches as select id, body from mine union all select id, name from team;
  create view grouped as select id, body, count(*) from letter where sent group by id, body;
  create view rents as select id, body from rent where owner like 'a%';
  -- Do not: no condition, no text, all rows readable, a barrier, the caller's rights, a limit, no key, and not granted.
  create view plain as select l.id, l.body, t.name from letter l join team t on t.id = l.team_id;
  create view sizes as select id, size from letter where sent;
  create view posts as select id, body from post where not draft;
  create view kept with (security_barrier = on) as select id, body from letter where sent;
  create view above_kept as select * from kept;
  create view latest as select id, body from letter where sent order by id limit 3;
  create view keyless as select id, body from letter where sent;
  create view unread as select id, body from letter where sent;
  ${[
    'mine',
    'joined',
    'above',
    'branches',
    'grouped',
    'rents',
    'plain',
    'sizes',
    'posts',
    'kept',
    'above_kept',
    'latest',
    'unread',
  ]
    .map((view) => `comment on view ${view} is ${keyed}; grant select on ${view} to anon;`)
    .join('\n')}
  revoke select on unread from anon;
  grant select on keyless, post, rent to anon;
  grant select on above_kept, kept to anon;
`);
const told = async () => await findings(database, '--only', 'view_without_barrier');

test('names the views that let filters tell rows, and no others', async () => {
  const found = await told();
  expect(found.map(({ object }) => object)).toEqual(
    ['above', 'branches', 'grouped', 'joined', 'mine', 'rents'].map((name) => `public.${name}`),
  );
  expect(found.find(({ object }) => object === 'public.mine')).toEqual({
    check: 'view_without_barrier',
    severity: 'warning',
    object: 'public.mine',
    message:
      "Filters of anon can tell what is in rows that public.mine leaves out: it is no security barrier, and reads public.letter, public.team with its owner's rights.",
    fix: 'alter view public.mine set (security_barrier = true);\n-- From then on, filters on it use an index only with operators that are leakproof.',
  });
});

test('what it advises ends the finding, and filters tell nothing anymore', async () => {
  const execution = await startExecution(database);
  // A pattern that ends with the escape character fails on texts that begin with what stands before it.
  const failing = async (view: string, start: string) => {
    const filter = JSON.stringify(`${start}\\`);
    return (
      await execution.errors(
        'anon',
        `{ ${view}Collection(filter: {body: {like: ${filter}}}) { edges { node { id } } } }`,
      )
    ).length;
  };
  const views = ['mine', 'joined', 'above', 'branches'];
  for (const view of views)
    expect([view, await failing(view, 'secret'), await failing(view, 'secrot')]).toEqual([view, 1, 0]);
  for (const { fix } of await told()) await database.query(fix!);
  expect(await told()).toEqual([]);
  for (const view of views)
    expect([view, await failing(view, 'secret'), await failing(view, 'hell')]).toEqual([view, 0, 1]);
});
