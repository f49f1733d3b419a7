/**
 * A tenant upserts related rows whose keys belong to others: to take rows of another tenant, to attach rows to them, to
 * change what may only be read, and to ask a filter about hidden rows.
 */
import { beforeEach, describe, expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

const database = await createDatabase(`
  comment on schema public is '@graphql({"inflect_names": true})';
  create function tenant() returns text stable language sql as $$ select current_setting('request.jwt.claims')::json ->> 'tenant' $$;
  create table account (id int primary key, tenant text not null default tenant(), code text unique, name text);
  create table member (id int primary key, account_id int not null references account, email text unique, name text, frozen boolean not null default false);
  create table hidden (id int primary key, account_id int not null references account, name text, tenant text not null default tenant());
  create view own_sheet as select id, account_id, name from hidden where tenant = tenant();
  comment on view own_sheet is '@graphql({"primary_key_columns": ["id"], "foreign_keys": [
    {"local_columns": ["account_id"], "foreign_schema": "public", "foreign_table": "account", "foreign_columns": ["id"], "local_name": "ownSheetCollection", "foreign_name": "account"}]})';
  alter table account enable row level security;
  alter table member enable row level security;
  create policy own on account to anon using (tenant = (select tenant()));
  create policy reads on member for select to anon using (exists (select from account a where a.id = account_id));
  create policy adds on member for insert to anon with check (exists (select from account a where a.id = account_id));
  create policy changes on member for update to anon using (not frozen and exists (select from account a where a.id = account_id));
  grant select, insert, update on account, member, own_sheet to anon;
`);
const execution = await startExecution(database);

beforeEach(() =>
  database.query(`truncate account, member, hidden;
    insert into account values (1, 'mine', 'a', 'own'), (2, 'mine', 'b', 'own, too'), (3, 'other', 'c', 'secret');
    insert into member values (11, 1, 'x@a', 'of 1', false), (12, 2, 'y@b', 'of 2', false), (13, 3, 'z@c', 'secret', false), (14, 2, 'f@b', 'frozen', true);
    insert into hidden values (21, 1, 'own', 'mine'), (23, 3, 'secret', 'other')`),
);

const everything = async () =>
  JSON.stringify(
    await database.query(`select (select json_agg(a order by id) from account a) as a,
      (select json_agg(m order by id) from member m) as m, (select json_agg(h order by id) from hidden h) as h`),
  );
const run = (field: string, variables = {}) =>
  execution.run('anon', `mutation ${field}`, { variables, claims: { tenant: 'mine' } });
/** Inserts account 9 with a related row; its update would take the row for account 9. */
const below = (entry: string, object: string, onConflict: string) =>
  run(`{ it: insertIntoAccountCollection(objects: [{id: 9, name: "new", ${entry}: {insert: [${object}], onConflict: {${onConflict}}}}]) { affectedCount } }`); // biome-ignore format: a query

// Each pair: true of the hidden row, and false.
const filters = ['{}', '{id: {is: NULL}}', '{name: {eq: "secret"}}', '{name: {eq: "x"}}', '{name: {regex: "(s"}}'];

describe.each([
  ['memberCollection', '{id: 13, email: "n@n", name: "x"}', 'member_pkey', 'PERMISSION_DENIED'],
  ['memberCollection', '{id: 99, email: "z@c", name: "x"}', 'member_email_key', 'PERMISSION_DENIED'],
  ['ownSheetCollection', '{id: 23, name: "x"}', 'hidden_pkey', 'CONFLICT'],
])('a hidden row of %s, met by %s', (entry, object, constraint, code) => {
  test('a hidden row is not taken, and no filter tells what is in it', async () => {
    const before = await everything();
    const answers = new Set<string>();
    for (const filter of ['', ...filters.map((each) => `, filter: ${each}`)]) {
      const { data, errors } = await below(
        entry,
        object,
        `constraint: ${constraint}, updateColumns: [name, accountId]${filter}`,
      );
      expect(data ?? null).toBeNull();
      expect(errors).toMatchObject([{ extensions: { code } }]);
      answers.add(JSON.stringify(errors));
    }
    expect(answers.size).toBe(1);
    expect([...answers][0]).not.toMatch(/secret|tenant|other"/);
    expect(await everything()).toBe(before);
  });

  test('a hidden row stays as it is, unseen, where there is nothing to update', async () => {
    const rows =
      'select (select json_agg(m order by id) from member m) as m, (select json_agg(h order by id) from hidden h) as h';
    const before = await database.query(rows);
    const { data } = await below(entry, object, `constraint: ${constraint}`);
    expect(data).toEqual({ it: { affectedCount: 1 } });
    expect(await database.query(rows)).toEqual(before);
  });
});

test('rows are not attached to the row of another tenant that its key names', async () => {
  const before = await everything();
  for (const object of ['{id: 3, code: "c", name: "x"}', '{id: 8, code: "c", name: "x"}']) {
    for (const constraint of ['account_pkey', 'account_code_key']) {
      const conflict = `{constraint: ${constraint}, updateColumns: [name]}`;
      const { errors } = await run(`{ it: insertIntoMemberCollection(objects: [{id: 50, email: "m@m", account: {insert: ${object}, onConflict: ${conflict}}}]) { records { account { name } } } }`); // biome-ignore format: a query
      expect(errors).toMatchObject([{ extensions: { code: expect.stringMatching(/^(PERMISSION_DENIED|CONSTRAINT_VIOLATION|CONFLICT)$/) } }]); // biome-ignore format: a code
      expect(JSON.stringify(errors)).not.toContain('secret');
      expect(await everything()).toBe(before);
    }
  }
});

test('an own row of another parent is taken only by naming the foreign key, and only where policies let it be updated', async () => {
  const before = await everything();
  const unnamed = await below(
    'memberCollection',
    '{id: 12, name: "x"}',
    'constraint: member_pkey, updateColumns: [name]',
  );
  expect(unnamed.errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
  const frozen = await below(
    'memberCollection',
    '{id: 14, name: "x"}',
    'constraint: member_pkey, updateColumns: [name, accountId]',
  );
  expect(frozen.errors).toMatchObject([{ extensions: { code: 'PERMISSION_DENIED' } }]);
  expect(await everything()).toBe(before);
  const taken = await below(
    'memberCollection',
    '{id: 12, name: "x"}',
    'constraint: member_pkey, updateColumns: [name, accountId]',
  );
  expect(taken.data).toEqual({ it: { affectedCount: 1 } });
  expect(await database.query('select account_id, name, email from member where id = 12')).toEqual([
    { account_id: 9, name: 'x', email: 'y@b' },
  ]);
});

test('the filter of one object is never used for another', async () => {
  const before = await everything();
  const entry = (id: number, filter: object) => ({
    id,
    memberCollection: { insert: [{ id: 12, name: 'x' }], onConflict: { constraint: 'member_pkey', updateColumns: ['name', 'accountId'], filter } }, // biome-ignore format: an entry
  });
  const query = '($o: [AccountInsertInput!]!) { it: insertIntoAccountCollection(objects: $o) { affectedCount } }';
  for (const [first, second] of [
    [{ id: { eq: 1 } }, { id: { eq: 12 } }],
    [{ name: { eq: 'of 2' } }, {}],
    [{ id: { in: [12, 1] } }, { id: { in: [1, 12] } }],
    [{ and: [] }, { or: [] }],
  ]) {
    const { errors } = await run(query, { o: [entry(7, first!), entry(8, second!)] });
    expect(errors).toMatchObject([{ message: expect.stringContaining('different "onConflict"') }]);
  }
  expect(await everything()).toBe(before);
});
