/**
 * A tenant inserts rows together with related rows, to attach rows to those of another tenant, to read or set the keys
 * on their way from one statement to the next, and to have a trigger confuse them.
 */
import { beforeEach, expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create function tenant() returns text stable language sql as $$ select current_setting('request.jwt.claims')::json ->> 'tenant' $$;
  create table account (id int generated always as identity primary key, tenant text not null default tenant(), name text, closed boolean not null default false);
  create table member (id int generated always as identity primary key, account_id int not null references account, name text);
  create table audit (id int generated always as identity primary key, account_id int not null references account, note text);
  create table seen (setting text);
  alter table account enable row level security;
  alter table member enable row level security;
  create policy own on account to anon using (tenant = (select tenant()) and not closed) with check (tenant = (select tenant()));
  create policy own on member to anon using (exists (select from account a where a.id = account_id)) with check (exists (select from account a where a.id = account_id));
  insert into account (tenant, name) values ('other', 'theirs');
  -- Code that runs between two statements: it guesses names, and looks for them.
  create function spy() returns trigger security definer language plpgsql as $$ begin
    perform set_config(guess, '[["1"],["1"],["1"]]', true)
      from unnest(array['pgreflect.k0', 'pgreflect.k1', 'pgreflect.keys', 'pgreflect_.k0', 'request.k0']) as guess;
    insert into seen select text from (select current_query() union select statement from pg_prepared_statements) as t(text)
      where text ~ 'pgreflect_[0-9a-f]';
    return null; end $$;
  create trigger spy after insert on account for each row execute function spy();
  create function close_it() returns trigger security definer language plpgsql as $$ begin
    if new.name = 'closes' then update account set closed = true where id = new.account_id; end if; return null; end $$;
  create trigger close_it after insert on member for each row execute function close_it();
  create function setting(name text) returns text stable language sql as $$ select current_setting(name, true) $$;
  create function put_setting(name text, value text) returns text volatile language sql as $$ select set_config(name, value, true) $$;
  grant select, insert on account, member to anon;
  grant select, insert (note) on audit to anon;
`);
const execution = await startExecution(database);
const given = { claims: { tenant: 'mine' } };

beforeEach(async () => {
  await database.query("delete from member; delete from account where tenant <> 'other'; delete from seen");
});

const members = () =>
  database.query(
    'select a.tenant, a.name, m.name as member from member m join account a on a.id = account_id order by m.id',
  );
const create =
  'insertIntoAccountCollection(objects: [{name: "a", memberCollection: {insert: [{name: "x"}]}}, {name: "b", memberCollection: {insert: [{name: "y"}]}}]) { affectedCount }';

test('policies of the child see the parent, and of nobody else', async () => {
  await execution.data('anon', `mutation { ${create} }`, given);
  expect(await members()).toEqual([
    { tenant: 'mine', name: 'a', member: 'x' },
    { tenant: 'mine', name: 'b', member: 'y' },
  ]);
});

test('the key of another tenant cannot be given below, nor reached beside', async () => {
  const [theirs] = await database.query("select id from account where tenant = 'other'");
  const refused = [
    `insertIntoAccountCollection(objects: [{name: "a", memberCollection: {insert: [{accountId: ${theirs?.id}}]}}]) { affectedCount }`,
    `insertIntoMemberCollection(objects: [{accountId: ${theirs?.id}, account: {insert: {name: "a"}}}]) { affectedCount }`,
    `insertIntoMemberCollection(objects: [{accountId: ${theirs?.id}}, {account: {insert: {name: "a"}}}]) { affectedCount }`,
    'insertIntoAccountCollection(objects: [{tenant: "other", memberCollection: {insert: [{name: "x"}]}}]) { affectedCount }',
  ];
  for (const field of refused) {
    const { data, errors } = await execution.run('anon', `mutation { it: ${field} }`, given);
    expect([data ?? null, errors.length, errors[0].extensions.code]).toEqual([
      null,
      1,
      expect.stringMatching(/^(BAD_USER_INPUT|PERMISSION_DENIED)$/),
    ]);
  }
  expect(await members()).toEqual([]);
  expect(await database.query("select count(*)::int as n from account where tenant = 'mine'")).toEqual([{ n: 0 }]);
});

test('what carries the keys is neither found nor set by code that runs between the statements', async () => {
  await execution.data('anon', `mutation { ${create} }`, given);
  expect((await members()).map(({ tenant }) => tenant)).toEqual(['mine', 'mine']);
  expect(await database.query('select * from seen')).toEqual([]);
});

test('what carries the keys is not set by functions that the caller calls beside it', async () => {
  const names = ['pgreflect.k0', 'pgreflect.k1', 'pgreflect_.k0', 'request.jwt.claims.k0'];
  const put = names.map((name, index) => `p${index}: putSetting(name: "${name}", value: "[[\\"1\\"],[\\"1\\"]]")`);
  const data = await execution.data('anon', `mutation { ${put.join(' ')} made: ${create} }`, given);
  expect(data.made).toEqual({ affectedCount: 2 });
  expect((await members()).map(({ tenant, name }) => [tenant, name])).toEqual([
    ['mine', 'a'],
    ['mine', 'b'],
  ]);
  for (const name of names)
    expect((await execution.data('anon', `{ setting(name: "${name}") }`, given)).setting ?? '').toBe('');
});

test('the name of what carries them differs from process to process, and is in no text', async () => {
  const statements = await execution.statements('anon', `mutation { ${create} }`);
  expect(statements.map(({ text }) => text).join()).not.toMatch(/pgreflect_/);
});

test('a row that policies hide in the end fails the whole operation', async () => {
  const field =
    'insertIntoAccountCollection(objects: [{name: "a", memberCollection: {insert: [{name: "closes"}]}}]) { affectedCount }';
  const { data, errors } = await execution.run('anon', `mutation { it: ${field} }`, given);
  expect(data).toBeNull();
  expect(errors).toEqual([
    {
      message: 'The role may not see a row as it is after all changes. Nothing was written.',
      path: ['it'],
      extensions: { code: 'PERMISSION_DENIED', input: 'objects[0]' },
    },
  ]);
  expect(await members()).toEqual([]);
  expect(await database.query("select count(*)::int as n from account where tenant = 'mine'")).toEqual([{ n: 0 }]);
});

test('without the right to set the foreign key, there is nothing to nest', async () => {
  const field =
    'insertIntoAccountCollection(objects: [{name: "a", auditCollection: {insert: [{note: "x"}]}}]) { affectedCount }';
  const [message] = await execution.errors('anon', `mutation { ${field} }`, given);
  expect(message).toContain('not to include unknown field "auditCollection"');
});
