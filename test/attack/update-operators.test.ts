/**
 * A tenant uses operators and lists of updates to change or to learn what the role may not see: values of columns and
 * rows, keys of other tenants, by answers, counts and errors.
 */
import { beforeEach, describe, expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

const common = `
  comment on schema public is '@graphql({"inflect_names": true})';
  create table account (id int primary key, tenant int not null default 1, balance int not null default 0, tags text[], data jsonb, secret int not null default 0, list text[], doc jsonb);
  alter table account enable row level security;
  create policy own on account to anon using (tenant = 1) with check (tenant = 1);
  grant select (id, tenant, balance, tags, data), update on account to anon;
`;
const hidden = await createDatabase(common);
const absent = await createDatabase(common);
const [full, empty] = [await startExecution(hidden), await startExecution(absent)];
// Errors where a hidden row is changed: a sum out of range, an array of two dimensions, a JSON scalar.
const hiddenRow = `insert into account values (2, 2, 2147483647, '{{a},{b}}', '5', 2147483647, '{{a}}', '5')`;

beforeEach(async () => {
  for (const database of [hidden, absent]) {
    await database.query(
      `truncate account; insert into account values (1, 1, 10, '{a}', '{"a": 1}', 77, '{x}', '{"k": 1}')`,
    );
  }
  await hidden.query(hiddenRow);
});

const rows = () => hidden.query('select * from account order by id');
const victim = async () => (await hidden.query('select * from account where id = 2'))[0];

describe('a hidden row', () => {
  test.each([
    'updateAccountCollection(set: {}, increment: {balance: 1}, filter: {id: {eq: 2}}) { affectedCount records { balance } }',
    'updateAccountCollection(set: {}, increment: {balance: 1}, filter: {}, atMost: 1) { affectedCount }',
    'updateAccountCollection(set: {}, remove: {tags: ["a"]}, atMost: 5) { affectedCount }',
    'updateAccountCollection(set: {}, append: {data: "{}"}, atMost: 5) { affectedCount }',
    'updateManyAccountCollection(updates: [{increment: {balance: 1}, filter: {id: {eq: 2}}}, {increment: {balance: 1}, filter: {id: {eq: 1}}}]) { affectedCount records { id balance } }',
    'updateManyAccountCollection(updates: [{set: {tenant: 1}, filter: {id: {eq: 2}}}, {set: {tenant: 1}, filter: {id: {eq: 3}}}]) { affectedCount records { id } }',
    'updateManyAccountCollection(updates: [{append: {data: "[]"}, filter: {id: {eq: 2}}}]) { affectedCount }',
    'updateManyAccountCollection(updates: [{remove: {tags: ["a"]}, filter: {id: {gte: 2}}, atMost: 0}]) { affectedCount }',
    'updateManyAccountCollection(updates: [{set: {balance: 5}, filter: {id: {eq: 2}}, atMost: 0}]) { affectedCount }',
  ])('a hidden row is as if it were not there: %s', async (field) => {
    const before = await victim();
    expect(await full.run('anon', `mutation { ${field} }`)).toEqual(await empty.run('anon', `mutation { ${field} }`));
    expect(await victim()).toEqual(before);
  });

  test('a hidden row cannot be moved into, nor own rows out of, what the tenant sees', async () => {
    const move = (id: number, by: number) => `{increment: {tenant: ${by}}, filter: {id: {eq: ${id}}}}`;
    const before = await rows();
    const { errors } = await full.run(
      'anon',
      `mutation { updateManyAccountCollection(updates: [${move(1, 1)}]) { affectedCount } }`,
    );
    expect(errors[0].extensions.code).toBe('PERMISSION_DENIED');
    const { data } = await full.run(
      'anon',
      `mutation { updateManyAccountCollection(updates: [${move(2, -1)}]) { affectedCount } }`,
    );
    expect(data.updateManyAccountCollection).toEqual([{ affectedCount: 0 }]);
    expect(await rows()).toEqual(before);
  });
});

describe('a column that the role may change but not read', () => {
  test.each([
    // A sum that overflows tells how large the value is; a merge and an array tell what kind it is.
    'updateAccountCollection(set: {}, increment: {secret: 2147483600}, filter: {id: {eq: 1}}) { affectedCount }',
    'updateAccountCollection(set: {}, append: {doc: "[]"}, filter: {id: {eq: 1}}) { affectedCount }',
    'updateAccountCollection(set: {}, remove: {list: ["x"]}, filter: {id: {eq: 1}}) { affectedCount }',
    'updateManyAccountCollection(updates: [{increment: {secret: 1}, filter: {id: {eq: 1}}}]) { affectedCount }',
    'updateManyAccountCollection(updates: [{set: {balance: 1}, filter: {secret: {eq: 77}}}]) { affectedCount }',
  ])('a column that the role may change but not read has no operator and no filter: %s', async (field) => {
    const before = await rows();
    const { data, errors } = await full.run('anon', `mutation { ${field} }`);
    expect(await rows()).toEqual(before);
    const [secret] = /secret|doc|list/.exec(field)!;
    // It may be set, so its name is known.
    if (/increment: {secret|append/.test(field)) {
      expect(errors.map(({ message }: { message: string }) => message)).toEqual([
        expect.stringMatching(`^"${secret}" has no ".*": the role may not read it.$`),
      ]);
      return;
    }
    expect([data, errors[0].extensions.code]).toEqual([undefined, 'GRAPHQL_VALIDATION_FAILED']);
    const unknown = await full.run('anon', `mutation { ${field.replace(secret, 'nobody')} }`);
    const messages = (all: { message: string }[]) => all.map(({ message }) => message);
    expect(messages(errors)).toEqual(messages(unknown.errors).map((text) => text.replaceAll('nobody', secret)));
  });
});

describe('errors', () => {
  test('errors hold no value of a row', async () => {
    await hidden.query(`update account set balance = 1234567, tags = '{sesame}', data = '"sesame"' where id = 1`);
    for (const field of [
      'updateAccountCollection(set: {}, increment: {balance: 2147483647}, filter: {id: {eq: 1}}) { affectedCount }',
      'updateAccountCollection(set: {}, append: {data: "{}"}, filter: {id: {eq: 1}}) { affectedCount }',
      'updateAccountCollection(set: {}, remove: {data: ["x"]}, filter: {id: {eq: 1}}) { affectedCount }',
      'updateManyAccountCollection(updates: [{increment: {balance: 2147483647}, filter: {id: {eq: 1}}}]) { affectedCount }',
      'updateManyAccountCollection(updates: [{increment: {tenant: 1}, filter: {id: {eq: 1}}}]) { affectedCount }',
    ]) {
      const { errors } = await full.run('anon', `mutation { ${field} }`);
      expect(errors).toHaveLength(1);
      expect(JSON.stringify(errors)).not.toMatch(/1234567|sesame|secret/);
    }
  });

  test('errors cannot be feigned by a value that spells a marker', async () => {
    for (const text of ['pgreflect:operand:append:balance:object', 'pgreflect:same_row:1', 'pgreflect:at_most:2']) {
      const query = `mutation ($t: [AccountUpdateEntry!]!) { updateManyAccountCollection(updates: $t) { affectedCount } }`;
      const t = [{ set: { tags: [text] }, append: { data: JSON.stringify({ text }) }, filter: { id: { eq: 1 } } }];
      expect((await full.run('anon', query, { variables: { t } })).errors).toBeUndefined();
    }
  });
});

test('names and values that look like SQL stay values', async () => {
  const odd = await createDatabase(`
    create table "o'dd ""t" ("i'd" int primary key, "n""; drop table x; --" int default 1, "ta'gs" text[] default '{}', j jsonb default '{}');
    comment on table "o'dd ""t" is '@graphql({"name": "Odd"})';
    comment on column "o'dd ""t"."i'd" is '@graphql({"name": "id"})';
    comment on column "o'dd ""t"."n""; drop table x; --" is '@graphql({"name": "n"})';
    comment on column "o'dd ""t"."ta'gs" is '@graphql({"name": "tags"})';
    insert into "o'dd ""t" values (1);
    grant all on "o'dd ""t" to anon`);
  const execution = await startExecution(odd);
  const query = `mutation ($u: [OddUpdateEntry!]!) { updateManyOddCollection(updates: $u) { records { id n tags j } } }`;
  const text = `'); drop table x; -- "\\ {,} $1 NULL`;
  const u = [
    {
      increment: { n: 1 },
      append: { tags: [text, 'NULL', null], j: JSON.stringify({ [text]: text }) },
      filter: { id: { eq: 1 } },
    },
    { set: { n: 5 }, prepend: { tags: [text] }, remove: { j: [text] }, filter: { n: { gt: 0 } } },
  ];
  const { updateManyOddCollection } = await execution.data('anon', query, { variables: { u } });
  expect(updateManyOddCollection).toEqual([
    {
      records: [
        { id: 1, n: 2, tags: [text, 'NULL', null], j: JSON.stringify({ [text]: text }).replace('":"', '": "') },
      ],
    },
    { records: [{ id: 1, n: 5, tags: [text, text, 'NULL', null], j: '{}' }] },
  ]);
});

test('operators that somebody plants are not called', async () => {
  const planted = await createDatabase(`
    create schema evil; grant usage, create on schema evil to anon;
    comment on schema evil is '@graphql({"inflect_names": true})';
    create table evil.item (id int primary key, n int default 1, tags text[] default '{a}', j jsonb default '{}', t text default 'a');
    insert into evil.item (id) values (1);
    grant all on evil.item to anon;
    create table evil.called (what text); grant all on evil.called to public;
    create function evil.plus(int, int) returns int language sql as $$ insert into evil.called values ('+'); select 666 $$;
    create function evil.cat(text, text) returns text language sql as $$ insert into evil.called values ('||'); select 'evil' $$;
    create function evil.cat(text[], text[]) returns text[] language sql as $$ insert into evil.called values ('||'); select '{evil}'::text[] $$;
    create function evil.cat(jsonb, jsonb) returns jsonb language sql as $$ insert into evil.called values ('||'); select '{"evil": 1}'::jsonb $$;
    create function evil.minus(jsonb, text[]) returns jsonb language sql as $$ insert into evil.called values ('-'); select '{"evil": 1}'::jsonb $$;
    create function evil.array_position(text[], text) returns int language sql as $$ insert into evil.called values ('array_position'); select 1 $$;
    create function evil.same(int, int) returns boolean language sql as $$ insert into evil.called values ('='); select true $$;
    create operator evil.+ (function = evil.plus, leftarg = int, rightarg = int);
    create operator evil.|| (function = evil.cat, leftarg = text, rightarg = text);
    create operator evil.|| (function = evil.cat, leftarg = text[], rightarg = text[]);
    create operator evil.|| (function = evil.cat, leftarg = jsonb, rightarg = jsonb);
    create operator evil.- (function = evil.minus, leftarg = jsonb, rightarg = text[]);
    create operator evil.= (function = evil.same, leftarg = int, rightarg = int)`);
  const execution = await startExecution(planted, { schemas: ['evil', 'pg_catalog'] });
  const own = await execution.data(
    'anon',
    `mutation { updateManyItemCollection(updates: [
    {increment: {n: 1}, append: {tags: ["b"], j: "{\\"a\\": 1}", t: "b"}, filter: {id: {eq: 1}}}
    {prepend: {tags: ["c"]}, remove: {j: ["a"]}, filter: {id: {eq: 1}}}
    {remove: {tags: ["a"]}, filter: {id: {eq: 1}}}
  ]) { records { n tags j t } } }`,
  );
  expect(own.updateManyItemCollection[2].records).toEqual([{ n: 2, tags: ['c', 'b'], j: '{}', t: 'ab' }]);
  expect(await planted.query('select * from evil.called')).toEqual([]);
});
