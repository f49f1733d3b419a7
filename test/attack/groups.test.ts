/**
 * A tenant groups rows, to tell what is hidden from what is not there, to run code of theirs as another role, or to fill the memory of the
 * database with time zones.
 */
import { describe, expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

const common = `
  comment on schema public is '@graphql({"inflect_names": true})';
  create table owner (id int primary key, name text);
  create table pet (id int primary key, owner_id int references owner, name text, weight int, born float8, at timestamptz);
  comment on table pet is '@graphql({"aggregate": {"enabled": true}})';
  insert into owner values (1, 'Ana'), (2, 'Ben');
  insert into pet values (1, 1, 'Rex', 10, 1.5, '2024-01-01'), (2, null, 'Tom', 10, 2, null);
  grant select on owner, pet to anon;
`;
const policies = `
  alter table pet enable row level security; create policy visible on pet to anon using (id < 100);
  alter table owner enable row level security; create policy visible on owner to anon using (id < 100);
`;
// Errors where they are met: a sum that is too large, a pattern that ends with a backslash.
const secrets = `
  alter table pet add pin text; revoke select on pet from anon; grant select (id, owner_id, name, weight, born, at) on pet to anon;
  grant select on owner, pet to service_role;
  insert into owner values (100, 'Zed');
  insert into pet values (101, 2, 'Tom', 2147483647, 1e308, '2025-01-01', 'x'), (102, 2, 'a', 2147483647, 1e308, '2026-01-01', 'y'),
    (103, 1, 'b', null, 'NaN', 'infinity', 'z'), (104, 100, 'Rex', 10, 1.5, '2024-01-01', null);
`;
const hidden = await createDatabase(`${common} ${secrets} ${policies}`);
const absent = await createDatabase(`${common} ${policies}`);
const [full, empty] = [await startExecution(hidden, {}), await startExecution(absent, {})];

describe('what is hidden', () => {
  test.each([
    '(distinctOn: [name]) { totalCount edges { cursor node { id } } }',
    '(distinctOn: [weight], orderBy: {at: DescNullsFirst}, last: 2) { pageInfo { hasPreviousPage } edges { node { id } } }',
    '(distinctOn: [name], filter: {name: {like: "a\\\\"}}) { totalCount }',
    '(distinctOn: [pin]) { totalCount }',
  ])('what is hidden is never the first of equal rows, and is none: %s', async (selection) => {
    const query = `{ petCollection${selection} }`;
    expect(await full.run('anon', query)).toEqual(await empty.run('anon', query));
  });

  test.each([
    'groups(by: [{column: name}]) { key { name } count }',
    'groups(by: [{column: at, truncate: YEAR}]) { key { at } count }',
    'groups(by: [{column: at, truncate: YEAR, timeZone: "No/Where"}]) { count }',
    'groups(by: [{column: weight}]) { key { weight } count sum { born } distinctCount { ownerId name } }',
    'groups(by: [{column: name}], having: {sum: {born: {gt: "2"}}}) { key { name } }',
    'groups(by: [{column: name}], having: {filter: {owner: {name: {eq: "Zed"}}}, count: {gte: 1}}) { key { name } }',
    'groups(by: [{column: name}], having: {filter: {name: {like: "a\\\\"}}, count: {gte: 0}}) { key { name } }',
    'groups(by: [{column: name}], having: {max: {name: {regex: "(a"}}}) { key { name } }',
    'groups(by: [{owner: {column: name}}]) { key { owner { name } } count }',
    'groups(by: [{owner: {column: id}}], having: {count: {gt: 0}}, orderBy: {key: {owner: {id: DescNullsFirst}}}) { count }',
    'groups(by: [{column: name}], having: {variance: {born: {gt: "0"}}}, orderBy: {stddev: {born: DescNullsFirst}}) { key { name } }',
    'groups(by: [{column: ownerId}], orderBy: {max: {at: DescNullsFirst}}) { key { ownerId } }',
    'aggregate { distinctCount { name weight } count(column: at) stddev { born } variance { weight } }',
    // What the role may not select.
    'groups(by: [{column: pin}]) { count }',
    'groups(by: [{column: name}]) { key { pin } }',
    'aggregate { count(column: pin) }',
    'groups(by: [{column: name}]) { distinctCount { pin } }',
    'groups(by: [{column: name}], having: {distinctCount: {pin: {gt: 0}}}) { count }',
    'groups(by: [{column: name}], having: {filter: {pin: {eq: "x"}}, count: {gt: 0}}) { count }',
    'groups(by: [{column: name}], orderBy: {key: {pin: AscNullsLast}}) { count }',
    'groups(by: [{column: name}], orderBy: {max: {pin: AscNullsLast}}) { count }',
  ])('what is hidden is as if it were not there: %s', async (selection) => {
    for (const query of [
      `{ petCollection { ${selection} } }`,
      `{ ownerCollection { edges { node { id petCollection { ${selection} } } } } }`,
    ]) {
      expect(await full.run('anon', query)).toEqual(await empty.run('anon', query));
    }
  });

  test('what is hidden is found by a role that may see it', async () => {
    const query = '{ petCollection { groups(by: [{column: pin}]) { key { pin } } } }';
    const found = (await full.data('service_role', query)).petCollection.groups;
    expect(found.map(({ key }: { key: { pin: string | null } }) => key.pin)).toEqual(['x', 'y', 'z', null]);
  });
});

test('functions and operators of a schema that others may create in are not called', async () => {
  const captured = await createDatabase(
    `
    ${common}
    create table stolen (role text);
    grant insert on stolen to public;
    create function steal() returns void volatile language sql as 'insert into public.stolen values (current_user)';
    create function date_trunc(text, timestamptz) returns timestamptz volatile language sql as 'select public.steal(); select $2';
    create function date_trunc(text, timestamptz, text) returns timestamptz volatile language sql as 'select public.steal(); select $2';
    create function count(int) returns bigint volatile language sql as 'select public.steal(); select 1::bigint';
    create function less(int, int) returns boolean volatile language sql as 'select public.steal(); select true';
    create function more(bigint, int) returns boolean volatile language sql as 'select public.steal(); select true';
    create operator > (leftarg = bigint, rightarg = int, function = more);
    create operator = (leftarg = int, rightarg = int, function = less);
    create operator < (leftarg = int, rightarg = int, function = less);
  `,
  );
  const on = await startExecution(captured, {});
  const query = `{ petCollection { aggregate { distinctCount { weight } } groups(
    by: [{column: at, truncate: DAY, timeZone: "UTC"}, {column: weight}, {owner: {column: id}}], having: {count: {gt: 0}, distinctCount: {weight: {gt: 0}}},
    orderBy: [{key: {weight: DescNullsLast}}, {sum: {weight: AscNullsLast}}]) { key { at weight } count distinctCount { weight } } } }`;
  expect((await on.data('anon', query)).petCollection.groups).toHaveLength(2);
  expect(await captured.query('select role from stolen')).toEqual([]);
});

test('a time zone of one’s own reaches no database: each would stay in the memory of its session', async () => {
  const query =
    'query ($zone: String) { petCollection { groups(by: {column: at, truncate: DAY, timeZone: $zone}) { count } } }';
  const posix = ['AAA1', 'AAA-1', 'AAA1BBB', 'AAA1BBB2', 'AAA1BBB,M3.2.0,M11.1.0', '<+01>-1', '+01', '-01', '1', 'Foo/Bar1', 'A_1', 'Etc/GMT+99', ':AAA1', 'UTC\n1']; // biome-ignore format: a list
  for (const zone of posix) {
    expect(await full.errors('anon', query, { variables: { zone } }), zone).toEqual([
      '"timeZone" is the name of a time zone, such as "Europe/Zurich".',
    ]);
  }
  // PostgreSQL has them all, or would make them.
  const [row] = await hidden.query(`select date_trunc('day', now(), 'AAA1BBB2') is not null as "known"`);
  expect(row).toEqual({ known: true });
  // What looks like a name is none unless PostgreSQL has a file of it.
  for (const zone of ['AAA', 'AAA-BBB', 'AAA/BBB', 'A_B-C/D']) {
    expect(await full.errors('anon', query, { variables: { zone } })).toEqual([`time zone "${zone}" not recognized`]);
  }
});
