/**
 * A tenant writes single rows by keys of rows that policies hide: to change them, to see them, or to learn that they are there. Nothing
 * tells a hidden row from none, and no more than one row is written.
 */
import { beforeEach, expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase(`
  create schema lib; grant usage on schema lib to anon;
  comment on schema lib is '@graphql({"inflect_names": true})';
  create function lib.tenant() returns int stable language sql as
    $$ select coalesce(nullif(current_setting('request.jwt.claims', true), '')::json ->> 'tenant', '1')::int $$;
  create table lib.note (id int primary key, tenant int not null default lib.tenant(), body text, secret text);
  alter table lib.note enable row level security;
  create policy own on lib.note to anon using (tenant = lib.tenant());
  create table lib.shared (id int primary key, tenant int not null, body text);
  alter table lib.shared enable row level security;
  create policy reads on lib.shared for select to anon using (true);
  create policy writes on lib.shared for update to anon using (tenant = lib.tenant());
  create policy deletes on lib.shared for delete to anon using (tenant = lib.tenant());
  create table lib.unread (id int primary key, tenant int not null, body text);
  alter table lib.unread enable row level security;
  create policy reads on lib.unread for select to anon using (tenant = lib.tenant());
  create policy changes on lib.unread for update to anon using (true) with check (true);
  create policy deletes on lib.unread for delete to anon using (true);
  create table lib.pile (id int, body text);
  comment on table lib.pile is '@graphql({"primary_key_columns": ["id"]})';
  create table lib.ruled (id int primary key, body text);
  create rule replaced as on insert to lib.ruled do instead update lib.ruled set body = new.body returning id, body;
  grant select (id, tenant, body), insert (id, tenant, body), update (tenant, body), delete on lib.note to anon;
  grant select, insert, update, delete on lib.shared, lib.unread, lib.pile, lib.ruled to anon;
`);
const execution = await startExecution(database, { schemas: ['lib'], introspection: 'always' });
const write = async (field: string, select = '__typename body') => {
  const { data, errors } = await execution.run('anon', `mutation { it: ${field} { ${select} } }`, {
    claims: { role: 'anon', tenant: 1 },
  });
  return errors ? { code: errors[0].extensions.code, message: errors[0].message } : data.it;
};
const everything = async () =>
  JSON.stringify(await database.query(`select (select json_agg(n order by id) from lib.note n) as n, (select json_agg(s order by id) from lib.shared s) as s,
    (select json_agg(u order by id) from lib.unread u) as u, (select json_agg(p order by id, body) from lib.pile p) as p, (select json_agg(r order by id) from lib.ruled r) as r`)); // biome-ignore format: one query

beforeEach(() =>
  database.query(`truncate lib.note, lib.shared, lib.unread, lib.pile, lib.ruled;
    insert into lib.note values (1, 1, 'mine', 's1'), (2, 2, 'theirs', 's2');
    insert into lib.shared values (1, 1, 'mine'), (2, 2, 'theirs'); insert into lib.unread values (1, 1, 'mine'), (2, 2, 'theirs');
    insert into lib.pile values (1, 'a'), (1, 'b')`),
);

test.each(['Note', 'Shared', 'Unread'])(
  'a row that the caller may not write stays as it is, and is not shown: %s',
  async (table) => {
    const before = await everything();
    const fields = (id: number) => [`update${table}ByPk(id: ${id}, set: {body: "x"})`, `delete${table}ByPk(id: ${id})`];
    // Row 3 is not there: its answer is the same.
    for (const id of [2, 3]) for (const field of fields(id)) expect(await write(field), field).toBeNull();
    expect(await everything()).toBe(before);
  },
);

test('a row of one tenant is not moved to another, and its answer tells nothing of others', async () => {
  const before = await everything();
  expect(await write('updateNoteByPk(id: 1, set: {tenant: 2})')).toMatchObject({ code: 'PERMISSION_DENIED' });
  expect(await write('insertNote(object: {id: 9, tenant: 2, body: "x"})')).toMatchObject({ code: 'PERMISSION_DENIED' });
  // The row would be hidden from who wrote it.
  expect(await write('updateUnreadByPk(id: 1, set: {tenant: 2})')).toMatchObject({ code: 'PERMISSION_DENIED' });
  expect(await everything()).toBe(before);
});

test('an upsert of a hidden row changes and shows nothing', async () => {
  const before = await everything();
  const upsert = (rest: string) =>
    write(`insertNote(object: {id: 2, body: "x"}, onConflict: {constraint: note_pkey${rest}})`);
  expect(await upsert('')).toBeNull();
  const hidden = await upsert(', updateColumns: [body]');
  expect(hidden).toMatchObject({ code: 'PERMISSION_DENIED' });
  for (const filter of ['{body: {eq: "theirs"}}', '{body: {eq: "other"}}'])
    expect(await upsert(`, updateColumns: [body], filter: ${filter}`)).toEqual(hidden);
  expect(await everything()).toBe(before);
});

test('a column without a grant is neither answered nor written', async () => {
  const before = await everything();
  for (const field of [
    'updateNoteByPk(id: 1, set: {body: "x"})',
    'deleteNoteByPk(id: 1)',
    'insertNote(object: {id: 7})',
  ])
    expect(await write(field, 'secret')).toMatchObject({ code: 'GRAPHQL_VALIDATION_FAILED' });
  expect(await write('updateNoteByPk(id: 1, set: {secret: "x"})')).toMatchObject({ code: 'GRAPHQL_VALIDATION_FAILED' });
  expect(await everything()).toBe(before);
});

test('a key of several rows writes none of them', async () => {
  const before = await everything();
  for (const field of ['updatePileByPk(id: 1, set: {body: "x"})', 'deletePileByPk(id: 1)'])
    expect(await write(field)).toMatchObject({ code: 'BAD_USER_INPUT' });
  expect(await everything()).toBe(before);
});

test('a rule that returns more rows adds none to the answer', async () => {
  await database.query('alter table lib.ruled disable rule replaced');
  await database.query(`insert into lib.ruled values (1, 'a'), (2, 'b')`);
  await database.query('alter table lib.ruled enable rule replaced');
  expect(await write('insertRuled(object: {id: 3, body: "new"})')).toEqual({ __typename: 'Ruled', body: 'new' });
});
