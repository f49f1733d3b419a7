/**
 * A tenant links rows by key, to learn which rows others have, and to get, move or change them: a database with hidden rows
 * answers as one without them, and they stay as they were.
 */
import { expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

const common = `
  comment on schema public is '@graphql({"inflect_names": true})';
  create table tag (id int primary key, tenant int not null, name text, code text unique, unique (tenant, name));
  create table post (id int primary key, tenant int not null default 1, title text, tag_id int references tag, tag_tenant int, tag_name text,
    foreign key (tag_tenant, tag_name) references tag (tenant, name));
  comment on constraint post_tag_tenant_tag_name_fkey on post is '@graphql({"foreign_name": "named", "local_name": "namingCollection"})';
  create table remark (id int primary key, tenant int not null, post_id int references post on delete cascade, slug text unique, body text default '');
  create table readonly_remark (id int primary key, post_id int references post, body text);
  create view open_tag as select id, name from tag where tenant = 1;
  alter table tag enable row level security; create policy own on tag to anon using (tenant = 1);
  alter table post enable row level security; create policy own on post to anon using (tenant = 1);
  alter table remark enable row level security;
  create policy seen on remark for select to anon using (tenant < 3);
  create policy changed on remark for update to anon using (tenant = 1);
  create policy added on remark for insert to anon with check (tenant = 1);
  create policy removed on remark for delete to anon using (tenant = 1);
  grant select, insert, update, delete on tag, post, remark to anon;
  grant select, insert on readonly_remark to anon; grant update (body) on readonly_remark to anon;
  insert into tag values (1, 1, 'mine', 'm'), (2, 1, 'also', 'a');
  insert into post (id, title) values (1, 'first');
  insert into remark values (1, 1, 1, 'own'), (2, 1, null, 'free'), (3, 2, null, 'seen');
  insert into readonly_remark values (1, null, 'x');
`;
// Rows of others, with keys that the caller tries.
const secrets = `
  insert into tag values (100, 2, 'mine', 'secret'), (101, 2, 'theirs', 'other');
  insert into post values (100, 2, 'theirs', 100), (101, 2, 'more', null);
  insert into remark values (100, 3, 100, 'hidden'), (101, 3, 1, 'under mine'), (102, 3, null, 'loose');
`;
const databases = await Promise.all([createDatabase(common + secrets), createDatabase(common)]);
const [full, empty] = await Promise.all(databases.map((database) => startExecution(database, {})));

const insertPost = (more: string) =>
  `insertIntoPostCollection(objects: [{id: 50, ${more}}]) { affectedCount records { id } }`;
const attempts = [
  ...[
    '{id: 100}',
    '{code: "secret"}',
    '{tenantAndName: {tenant: 2, name: "mine"}}',
    '{tenantAndName: {tenant: 2, name: "theirs"}}',
  ].flatMap((key) => [insertPost(`tag: {connect: ${key}}`), insertPost(`named: {connect: ${key}}`)]),
  ...['{id: 100}', '{id: 101}', '{slug: "hidden"}', '{slug: "under mine"}', '{id: 102}'].map((key) =>
    insertPost(`remarkCollection: {connect: [${key}]}`),
  ),
  insertPost('remarkCollection: {connect: [{id: 2}, {id: 102}]}'),
  'insertIntoRemarkCollection(objects: [{id: 50, tenant: 1, post: {connect: {id: 100}}}]) { affectedCount }',
];
const rows = async (index: number) => {
  const tables = ['tag', 'post', 'remark', 'readonly_remark'];
  return Promise.all(tables.map((table) => databases[index]!.query(`select * from ${table} order by id`)));
};

test('a hidden row and one that is not there are the same to who connects it, and nothing is written', async () => {
  const before = [await rows(0), await rows(1)];
  for (const field of attempts) {
    const query = `mutation { it: ${field} }`;
    const [withRows, without] = [await full!.run('anon', query), await empty!.run('anon', query)];
    expect(withRows, field).toEqual(without);
    expect(withRows.data, field).toBeNull();
    expect(withRows.errors?.[0].message, field).toMatch(/^A row to connect is not there/);
  }
  expect([await rows(0), await rows(1)]).toEqual(before);
});

test('a row that the caller sees and may not change is refused as one that is not there', async () => {
  const before = await rows(0);
  for (const key of ['{id: 3}', '{id: 999}']) {
    const { data, errors } = await full!.run(
      'anon',
      `mutation { it: ${insertPost(`remarkCollection: {connect: [${key}]}`)} }`,
    );
    expect([data, errors?.[0].message]).toEqual([null, expect.stringMatching(/^A row to connect is not there/)]);
  }
  expect(await rows(0)).toEqual(before);
});

test('a foreign key that the role may not change is not set', async () => {
  const before = await rows(0);
  const [message] = await full!.errors(
    'anon',
    `mutation { ${insertPost('readonlyRemarkCollection: {connect: [{id: 1}]}')} }`,
  );
  expect(message).toBe('"readonlyRemarkCollection" sets "postId" of the related rows, which the role may not change.');
  expect(await rows(0)).toEqual(before);
});
