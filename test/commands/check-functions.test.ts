/** What `pgreflect check` says of functions that are not in the API: which one, and what brings it in. */
import { expect, test } from 'vitest';
import type { Finding } from '../../src/check/finding.ts';
import { createDatabase } from '../support/postgres.ts';
import { findings } from './check-findings.ts';
import { runCommand } from './run-command.ts';

const database = await createDatabase(
  `
  create schema lib; create schema aside; create schema extensions;
  grant usage on schema lib, extensions to anon;
  create table lib.book (id int primary key, title text);
  create table lib.log (line text);
  create table aside.audit (id int primary key);
  create type lib.pair as (a int, b int);
  create type lib.closed as (a int); revoke usage on type lib.closed from public;
  create type aside.secret as (a int);
  create domain aside.code as text;
  grant select on lib.book, lib.log to anon;
`,
);

/** Those of tables are theirs. */
async function ofFunctions(): Promise<readonly Finding[]> {
  const found = await findings(database, '--only', 'left_out', '--schemas', 'lib,extensions');
  return found.filter(({ message }) => /^(?:Function|Procedure)/.test(message));
}

const again = 'Create it again with another name for the argument, or expose a function that calls it.';
const noCounterpart =
  'which has no GraphQL counterpart. Expose a function with another type, such as text, that calls it.';

/** Each with what is declared, what is said, and SQL that does what is said; null: the printed fix does. */
const cases: readonly (readonly [declared: string, said: string, done: string | null])[] = [
  ['procedure lib.p(a int, b text[])', 'Procedure lib.p(int4, text[]) is not exposed. Expose a function that calls it.',
    'drop procedure lib.p; create function lib.p(a int) returns int language sql as $$ select 1 $$'],
  ['function lib."odd name"(a int) returns int', 'Function lib."odd name"(int4) has no valid GraphQL name ("odd name").', null],
  ['function lib.unnamed(int, "char") returns int', 'Function lib.unnamed(int4, "char") has an argument without a name. Name all of them with create or replace function.',
    'create or replace function lib.unnamed(a int, b "char") returns int language sql as $$ select 1 $$'],
  ['function lib.invalid("a b" int) returns int', `Function lib.invalid(int4) has an argument without a valid GraphQL name ("a b"). ${again}`,
    'drop function lib.invalid; create function lib.invalid(a_b int) returns int language sql as $$ select 1 $$'],
  ['function lib.paged(first int) returns setof lib.book', `Function lib.paged(int4) returns rows and has an argument called "first", as every collection has. ${again}`,
    'create function lib.paged_by(number int) returns setof lib.book language sql as $$ select * from lib.paged(number) $$; alter function lib.paged set schema aside'],
  ['function lib.anything(a anyelement) returns int', `Function lib.anything(anyelement) has an argument ("a") of the type anyelement, ${noCounterpart}`,
    'alter function lib.anything set schema aside'],
  ['function lib.ranged(a int) returns cstring', `Function lib.ranged(int4) returns the type cstring, ${noCounterpart}`,
    'alter function lib.ranged set schema aside'],
  ['function lib.coded(a aside.code) returns int', 'Function lib.coded(aside.code) has an argument ("a") of the type aside.code, whose schema the role cannot use. Grant usage on schema aside to roles that call the function.',
    'grant usage on schema aside to anon'],
  ['function lib.pairs() returns lib.pair[]', 'Function lib.pairs() returns an array of the composite type lib.pair. Return rows of it: returns setof lib.pair.',
    'drop function lib.pairs; create function lib.pairs() returns setof lib.pair language sql as $$ select 1, 2 $$'],
  ['function lib.closed_pair(a lib.closed) returns int', 'Function lib.closed_pair(lib.closed) has an argument ("a") of the type lib.closed, on which the role has no USAGE. Grant usage on the type to roles that call the function.',
    'grant usage on type lib.closed to public'],
  ['function lib.of_log(lib.log) returns int', 'Function lib.of_log(lib.log) takes a row of lib.log, which is not in the API. The function comes in with that table.',
    'alter table lib.log add primary key (line)'],
  ['function extensions.tool() returns int', 'Function extensions.tool() is in a schema whose functions are not exposed. Expose one elsewhere that calls it.',
    'alter function extensions.tool set schema lib'],
]; // biome-ignore format: a table of names

/** The bodies of those that need another one than the rest. */
const bodies: readonly (readonly [part: string, body: string])[] = [
  ['cstring', "language internal as 'textout'"],
  ['setof lib.book', "language sql as 'table lib.book'"],
  ['lib.pair[]', "language sql as 'select null::lib.pair[]'"],
];

for (const [declared] of cases) {
  const [, body] = bodies.find(([part]) => declared.includes(part)) ?? [null, "language sql as 'select 1'"];
  await database.query(`create ${declared} ${body}`);
}

const before = await ofFunctions();

test.each(cases)('%s', (_declared, said, done) => {
  const found = before.filter(({ message }) => message === said);
  expect(found, before.map(({ message }) => message).join('\n')).toHaveLength(1);
  expect(found[0]!.fix === null).toBe(done !== null);
});

test('what is said, or the printed fix, brings each of them in', async () => {
  expect(before).toHaveLength(cases.length);
  for (const [, said, done] of cases)
    await database.query(done ?? before.find(({ message }) => message === said)!.fix!);
  expect(await ofFunctions()).toEqual([]);
});

test('one of several with its name comes with a name of its own', async () => {
  const other = await createDatabase(`
    create function double(a int) returns int language sql as 'select 1';
    create function double(a text) returns int language sql as 'select 1';
    create function double() returns int language sql as 'select 1';
    create function double(a int, b anyelement) returns int language sql as 'select 1';
    create function secret(a int) returns int language sql as 'select 1';
    create function secret(a text) returns int language sql as 'select 1';
    revoke execute on function secret(int), secret(text) from public;
    comment on function secret(int) is '@graphql({"name": "secret_int"})';
    comment on function secret(text) is '@graphql({"name": "secret_text"})';
  `);
  const find = (kind: string) => findings(other, '--only', kind);
  const found = await find('left_out');
  const said = (types: string) =>
    `Function public.double(${types}) shares its name with another function, and has no name of its own in its comment.`;
  expect(found.map(({ message, fix }) => [message, fix])).toEqual([
    [said('int4'), `comment on routine public.double(int4) is '@graphql({"name":"double_int4"})';`],
    [said('text'), `comment on routine public.double(text) is '@graphql({"name":"double_text"})';`],
    [said(''), `comment on routine public.double() is '@graphql({"name":"double_plain"})';`],
    [`Function public.double(int4, anyelement) has an argument ("b") of the type anyelement, ${noCounterpart}`, null],
  ]);
  for (const { fix } of found) if (fix !== null) await other.query(fix);
  expect(await find('left_out')).toEqual(found.filter(({ fix }) => fix === null));
  const grants = (await find('not_granted')).filter(({ object }) => object === 'anon');
  expect(grants.map(({ fix }) => fix)).toEqual([
    '-- Where it is meant to reach them, after policies guard the rows:\n-- grant execute on routine public.secret(int4), public.secret(text) to anon;',
  ]);
  for (const { fix } of grants) await other.query(fix!.replaceAll(/^-- (?=grant)/gm, ''));
  const { out } = await runCommand(['schema', '--role', 'anon'], {
    env: { DATABASE_URL: other.urlAs('authenticator', 'test') },
  });
  for (const field of ['double_int4', 'double_text', 'double_plain', 'secret_int', 'secret_text'])
    expect(out).toMatch(new RegExp(`  ${field}[(:]`));
});
