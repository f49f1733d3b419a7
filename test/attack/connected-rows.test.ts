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
  create table card (id int primary key, tenant int not null default 1, post_id int unique references post, body text default '');
  alter table card enable row level security; create policy own on card to anon using (tenant = 1);
  grant select, insert, update, delete on card to anon;
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
  insert into card values (100, 2, 100, 'hidden'), (101, 2, 1, 'under mine');
  insert into remark values (100, 3, 100, 'hidden'), (101, 3, 1, 'under mine'), (102, 3, null, 'loose');
`;
const databases = await Promise.all([createDatabase(common + secrets), createDatabase(common)]);
const [full, empty] = await Promise.all(databases.map((database) => startExecution(database, {})));

const insertPost = (more: string) =>
  `insertIntoPostCollection(objects: [{id: 50, ${more}}]) { affectedCount records { id } }`;
const updatePost = (set: string) =>
  `updatePostCollection(set: {${set}}, filter: {id: {eq: 1}}) { affectedCount records { id } }`;
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
  ...['tag: {connect: {id: 100}}', 'named: {connect: {tenantAndName: {tenant: 2, name: "mine"}}}'].map(updatePost),
  ...['{id: 100}', '{slug: "under mine"}'].map((key) => updatePost(`remarkCollection: {connect: [${key}]}`)),
  ...['{id: 100}', '{id: 101}'].map((key) => updatePost(`card: {connect: ${key}}`)),
  updatePost('remarkCollection: {replace: DELETE, connect: [{id: 102}]}'),
];
const rows = async (index: number) => {
  const tables = ['tag', 'post', 'remark', 'card', 'readonly_remark'];
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

test('the only row that refers to one of the caller, and is hidden, is neither changed nor told from none', async () => {
  const before = await rows(0);
  for (const entry of [
    'update: {set: {body: "x"}}',
    'update: {set: {body: "x"}, filter: {id: {gt: 0}}}',
    'disconnect: true',
  ]) {
    const query = `mutation { it: ${updatePost(`card: {${entry}}`)} }`;
    const [withRows, without] = [await full!.run('anon', query), await empty!.run('anon', query)];
    expect(withRows, entry).toEqual({ data: { it: { affectedCount: 1, records: [{ id: 1 }] } } });
    expect(without, entry).toEqual(withRows);
  }
  expect(await rows(0)).toEqual(before);
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
  expect(message).toBe('"readonlyRemarkCollection" sets "postId", which the role may not change.');
  expect(await rows(0)).toEqual(before);
});

// Answers the same in both databases, and leaves the rows of others as they are.
const harmless = [
  updatePost('remarkCollection: {replace: DELETE}'),
  updatePost('remarkCollection: {replace: DISCONNECT}'),
  updatePost('remarkCollection: {replace: DELETE, replaceAtMost: 1, connect: [{id: 2}]}'),
  updatePost('remarkCollection: {disconnect: [{filter: {slug: {eq: "under mine"}}, atMost: 9}]}'),
  updatePost('remarkCollection: {disconnect: [{atMost: 1}]}'),
  updatePost('tag: {update: {set: {name: "x"}}}'),
  'updatePostCollection(set: {remarkCollection: {delete: [{atMost: 9}]}}, filter: {id: {eq: 100}}) { affectedCount }',
  'updatePostCollection(set: {remarkCollection: {disconnect: [{atMost: 9}]}}, filter: {}, atMost: 9) { affectedCount records { id } }',
  'updatePostCollection(set: {tag: {update: {set: {name: "x"}}}}, filter: {}, atMost: 9) { affectedCount records { id } }',
  'updateTagCollection(set: {postCollection: {replace: DISCONNECT}}, filter: {id: {eq: 100}}) { affectedCount }',
];
const ofOthers = async () => (await rows(0)).flat().filter(({ tenant }) => tenant !== undefined && Number(tenant) > 1);

test('related rows that are hidden or not the caller’s are neither replaced nor disconnected, and not counted', async () => {
  const before = await ofOthers();
  expect(before).toHaveLength(10);
  for (const field of harmless) {
    const query = `mutation { it: ${field} }`;
    expect(await full!.run('anon', query), field).toEqual(await empty!.run('anon', query));
    expect(await ofOthers(), field).toEqual(before);
    for (const database of databases)
      await database.query('update remark set post_id = 1 where id = 1; update remark set post_id = null where id = 2');
  }
});

test('equal rows of several places take no row that the caller does not see, nor make one for others', async () => {
  const before = await rows(0);
  const both = (object: string, constraint: string) => {
    const entry = `{insert: ${object}, onConflict: {constraint: ${constraint}, updateColumns: [name, code]}}`;
    const twice = `[{id: 60, tag: ${entry}, named: ${entry}}]`;
    return `mutation { insertIntoPostCollection(objects: ${twice}) { affectedCount } }`;
  };
  const attempts = [
    both('{id: 100, tenant: 1, name: "taken"}', 'tag_pkey'),
    both('{id: 61, tenant: 2, name: "theirs"}', 'tag_tenant_name_key'),
    both('{id: 61, tenant: 1, name: "x", code: "secret"}', 'tag_code_key'),
    both('{id: 61, tenant: 2, name: "new"}', 'tag_pkey'),
  ];
  for (const query of attempts) {
    const { data, errors } = await full!.run('anon', query);
    expect([data, errors?.length, await rows(0)], query).toEqual([null, 1, before]);
  }
  // A trigger gives the new row to another tenant: neither place may get its key, read back or not.
  const [database] = databases;
  await database!.query(`create function give_away() returns trigger language plpgsql as 'begin new.tenant := 2; return new; end';
    create trigger give_away before insert on tag for each row execute function give_away()`);
  const entry = '{insert: {id: 61, tenant: 1, name: "x"}}';
  for (const shown of ['{ affectedCount }', '{ records { id } }']) {
    const query = `mutation { insertIntoPostCollection(objects: [{id: 60, tag: ${entry}, named: ${entry}}]) ${shown} }`;
    expect((await full!.run('anon', query)).data, shown).toBe(null);
  }
  await database!.query('drop trigger give_away on tag');
  expect(await rows(0)).toEqual(before);
});

test('a row that the caller connects while another one does belongs to one of them, and nothing hangs', async () => {
  const posts = Array.from({ length: 12 }, (_, index) => 200 + index);
  const [first, second] = ['{id: 1}, {id: 2}', '{id: 2}, {id: 1}'];
  const run = (id: number, keys: string) =>
    full!.run(
      'anon',
      `mutation { insertIntoPostCollection(objects: [{id: ${id}, remarkCollection: {connect: [${keys}]}}]) { affectedCount } }`,
    );
  await databases[0]!.query("insert into remark values (1, 1, null, 'own') on conflict do nothing");
  const answers = await Promise.all(posts.map((id, index) => run(id, index % 2 === 0 ? first : second)));
  for (const { errors } of answers) if (errors) expect(errors[0].extensions.code).toBe('CONFLICT');
  const made = answers.filter(({ errors }) => errors === undefined).length;
  expect(made).toBeGreaterThan(0);
  const [owners] = await databases[0]!.query(
    'select count(distinct post_id)::int as owners, bool_and(post_id >= 200) as are_new from remark where id < 3',
  );
  expect(owners).toEqual({ owners: 1, are_new: true });
});

test('policies that tell tenants apart for reading alone keep links from the rows of others: none is found, moved, replaced or changed', async () => {
  const all = (table: string) =>
    `alter table ${table} enable row level security; grant select, insert, update, delete on ${table} to anon;
     create policy seen on ${table} for select to anon using (tenant = 1); create policy added on ${table} for insert to anon with check (true);
     create policy changed on ${table} for update to anon using (true); create policy removed on ${table} for delete to anon using (true)`;
  const careless = `create table shelf (id int primary key, tenant int not null, code text unique, spare text default 'secret');
    create table copy (id int primary key, tenant int not null, shelf_id int references shelf, label text); ${all('shelf')}; ${all('copy')};
    revoke select on shelf from anon; grant select (id, tenant, code) on shelf to anon;
    insert into shelf values (1, 1, 'mine'); insert into copy values (1, 1, 1, 'mine'), (2, 1, null, 'free');`;
  const hidden = `insert into shelf values (100, 2, 'theirs'); insert into copy values (100, 2, 1, 'under mine'), (101, 2, null, 'loose'), (102, 2, 100, 'theirs');`;
  const both = await Promise.all([createDatabase(careless + hidden), createDatabase(careless)]);
  const [withRows, without] = await Promise.all(both.map((database) => startExecution(database, {})));
  const theirs = () =>
    both[0]!.query(`select (select json_agg(s order by id) from shelf s where tenant = 2) as shelves,
    (select json_agg(c order by id) from copy c where tenant = 2) as copies`); // biome-ignore format: one query
  const before = await theirs();
  const update = (set: string, filter = '{code: {eq: "mine"}}') =>
    `updateshelfCollection(set: {copyCollection: {${set}}}, filter: ${filter}, atMost: 9)`;
  for (const field of [
    ...['{id: 100}', '{code: "theirs"}'].map(
      (key) => `insertIntocopyCollection(objects: [{id: 50, tenant: 1, shelf: {connect: ${key}}}])`,
    ),
    'updatecopyCollection(set: {shelf: {connect: {id: 100}}}, filter: {id: {eq: 2}})',
    ...['100', '101', '102'].map((id) => update(`connect: [{id: ${id}}]`)),
    'insertIntoshelfCollection(objects: [{id: 50, tenant: 1, copyCollection: {connect: [{id: 2}, {id: 101}]}}])',
    update('connect: [{id: 101}], replace: DELETE'),
    update('insert: [{id: 51, tenant: 1}]', '{id: {eq: 100}}'),
    update('replace: DELETE', '{id: {eq: 100}}'),
    update('delete: [{atMost: 9}]', '{}'),
    update('disconnect: [{atMost: 9}]', '{}'),
    update('update: [{set: {label: "x"}, atMost: 9}]', '{}'),
    update('replace: DISCONNECT, replaceAtMost: 2'),
    update('replace: DELETE, replaceAtMost: 2'),
    'updatecopyCollection(set: {shelf: {update: {set: {tenant: 1}}}}, filter: {}, atMost: 9)',
    'updatecopyCollection(set: {shelf: {disconnect: true}}, filter: {}, atMost: 9)',
  ]
    .map((each) => `${each} { affectedCount }`)
    .concat([
      'updateshelfByPk(id: 100, set: {tenant: 1}) { __typename }',
      'updateshelfByPk(id: 100, set: {copyCollection: {replace: DELETE}}) { __typename }',
      'deletecopyByPk(id: 101) { __typename }',
      'insertcopy(object: {id: 52, tenant: 1, shelf: {connect: {id: 100}}}) { __typename }',
    ])) {
    // biome-ignore format: a list of attempts
    const query = `mutation { it: ${field} }`;
    const [one, other] = [await withRows!.run('anon', query), await without!.run('anon', query)];
    expect(one, field).toEqual(other);
    expect(JSON.stringify(one), field).not.toMatch(/secret|under mine|VALIDATION/);
    expect(await theirs(), field).toEqual(before);
  }
  // A given key overwrites nothing, and what refers to the new row never gets the one that is there.
  for (const select of ['affectedCount', 'records { __typename }'])
    for (const objects of [
      'insertIntocopyCollection(objects: [{id: 53, tenant: 1, shelf: {insert: {id: 100, tenant: 1}}}])',
      'insertIntocopyCollection(objects: [{id: 53, tenant: 1, shelf: {insert: {id: 60, tenant: 1}}}, {id: 101, tenant: 1}])',
      'insertIntoshelfCollection(objects: [{id: 100, tenant: 1, copyCollection: {insert: [{id: 53, tenant: 1}]}}])',
    ]) {
      const { data, errors } = await withRows!.run('anon', `mutation { it: ${objects} { ${select} } }`);
      expect([data, errors[0].extensions.code], objects).toEqual([null, 'CONSTRAINT_VIOLATION']);
      expect(JSON.stringify(errors), objects).not.toMatch(/secret|under mine/);
      expect(await theirs(), objects).toEqual(before);
    }
});
