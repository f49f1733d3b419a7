/**
 * Which `security definer` functions without a search path `pgreflect check` warns of: those that a caller makes run. Each
 * case really makes its function run, which takes a number of a sequence.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import type { Finding } from '../../src/check/finding.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { findings } from './check-findings.ts';

const looseFindings = (database: TestDatabase, ...args: readonly string[]) =>
  findings(database, '--only', 'definer_search_path', ...args);

/** A function that callers cannot name: its schema is closed to them. */
function hidden(signature: string, returns = 'boolean', value = 'true', more = ''): string {
  return `create function ${signature} returns ${returns} language plpgsql security definer ${more} as $f$ begin
    perform pg_catalog.nextval('hidden.runs'); return ${value}; end $f$;`;
}

function trigger(name: string, table: string, more = 'before insert'): string {
  return `${hidden(`${name}()`, 'trigger', 'new')} create trigger t ${more} on ${table} for each row execute function ${name}();`;
}

const setup = `create schema hidden; create schema closed; create sequence hidden.runs;
  create table closed.users (id int primary key);`;

async function runsOf(database: TestDatabase, schema = 'hidden'): Promise<number> {
  const [row] = await database.query<{ runs: number }>(
    `select (case when is_called then last_value else 0 end)::int as runs from ${schema}.runs`,
  );
  return row!.runs;
}

/** The function that runs, what brings it there, and what a caller does. */
const ways: readonly (readonly [what: string, name: string, made: string, done: string])[] = [
  ['call', 'public.direct()', hidden('public.direct()'), 'select direct()'],
  ['policy', 'hidden.f()', `${hidden('hidden.f()')} create table ward (id int); alter table ward enable row level security;
    create policy p on ward using (hidden.f()); insert into ward values (1); grant select on ward to anon`, 'table ward'],
  ['view', 'hidden.f()', `${hidden('hidden.f()')} create view ward as select hidden.f() as found; grant select on ward to anon`, 'table ward'],
  ['view of a view of a schema that callers cannot use', 'hidden.f()', `${hidden('hidden.f()')} create view hidden.inner_ward as select hidden.f() as found;
    create view ward as table hidden.inner_ward; grant select on ward to anon`, 'table ward'],
  ['default', 'hidden.f()', `${hidden('hidden.f()')} create table ward (id int, found boolean default hidden.f()); grant insert (id) on ward to anon`, 'insert into ward values (1)'],
  ['generated column', 'hidden.f(integer)', `${hidden('hidden.f(id int)', 'int', '1', 'immutable')}
    create table ward (id int, found int generated always as (hidden.f(id)) stored); grant insert on ward to anon`, 'insert into ward values (1)'],
  ['constraint', 'hidden.f()', `${hidden('hidden.f()')} create table ward (id int check (hidden.f())); grant insert on ward to anon`, 'insert into ward values (1)'],
  ['index', 'hidden.f(integer)', `${hidden('hidden.f(id int)', 'int', '1', 'immutable')}
    create table ward (id int); create index on ward (hidden.f(id)); grant insert on ward to anon`, 'insert into ward values (1)'],
  ['rule', 'hidden.f()', `${hidden('hidden.f()')} create table ward (id int); create rule r as on insert to ward do also select hidden.f(); grant insert on ward to anon`,
    'insert into ward values (1)'],
  ['domain', 'hidden.f()', `${hidden('hidden.f()')} create domain code as int check (hidden.f())`, 'select 1::code'],
  ['operator', 'hidden.f(integer,integer)', `${hidden('hidden.f(a int, b int)')} create operator public.=== (function = hidden.f, leftarg = int, rightarg = int)`, 'select 1 === 2'],
  ['aggregate', 'hidden.f(boolean,integer)', `${hidden('hidden.f(a boolean, b int)')} create aggregate public.every_f(int) (sfunc = hidden.f, stype = boolean)`,
    'select every_f(1)'],
  ['trigger', 'hidden.f()', `create table ward (id int); grant insert on ward to anon; ${trigger('hidden.f', 'ward')}`, 'insert into ward values (1)'],
  ['trigger on the table of a view', 'hidden.f()', `create table closed.ward (id int); create view ward as table closed.ward; grant insert on ward to anon; ${trigger('hidden.f', 'closed.ward')}`,
    'insert into ward values (1)'],
  ['condition of a trigger', 'hidden.f()', `${hidden('hidden.f()')} create table ward (id int); grant insert on ward to anon;
    create function nothing() returns trigger language plpgsql as 'begin return new; end'; create trigger t before insert on ward for each row when (hidden.f()) execute function nothing()`,
    'insert into ward values (1)'],
  ['trigger on a partition', 'hidden.f()', `create table ward (id int) partition by range (id); create table closed.ward_1 partition of ward for values from (0) to (9);
    grant insert on ward to anon; ${trigger('hidden.f', 'closed.ward_1')}`, 'insert into ward values (1)'],
  ['trigger on rows that a foreign key deletes', 'hidden.f()', `create table ward (id int primary key); create table closed.bed (ward int references ward on delete cascade);
    grant select, delete on ward to anon; insert into ward values (1); insert into closed.bed values (1); ${trigger('hidden.f', 'closed.bed', 'after delete')}`, 'delete from ward'],
  ['text of a function of the caller', 'hidden.f()', `${hidden('hidden.f()')} grant usage on schema hidden to service_role;
    create function calls() returns boolean language sql security definer set search_path = '' as 'select hidden.f()'`, 'select calls()'],
  ['text with another spelling', 'hidden."Odd name"()', `${hidden('hidden."Odd name"()')}
    create function calls() returns boolean language sql security definer set search_path = '' as 'select HIDDEN/**/. "Odd name"()'`, 'select calls()'],
  ['text that cuts a long name', `hidden.${'f'.repeat(63)}()`, `${hidden(`hidden.${'f'.repeat(63)}()`)}
    create function calls() returns boolean language sql security definer set search_path = '' as 'select hidden.${'f'.repeat(70)}()'`, 'select calls()'],
  ['text of a text', 'hidden.f()', `${hidden('hidden.f()')} create function hidden.g() returns boolean language sql as 'select hidden.f()';
    create function calls() returns boolean language sql security definer set search_path = '' as 'select hidden.g()'`, 'select calls()'],
  ['body that is parsed', 'hidden.f()', `${hidden('hidden.f()')}
    create function calls() returns boolean language sql security definer set search_path = '' begin atomic select hidden.f(); end`, 'select calls()'],
  ['default of an argument', 'hidden.f()', `${hidden('hidden.f()')} create function calls(a boolean default hidden.f()) returns boolean language sql as 'select a'`, 'select calls()'],
  ['trigger of what a text writes', 'hidden.f()', `create table closed.ward (id int); ${trigger('hidden.f', 'closed.ward')}
    create function calls() returns void language sql security definer set search_path = '' as 'insert into closed.ward values (1)'`, 'select calls()'],
  ['event trigger', 'hidden.f()', `create function hidden.f() returns event_trigger language plpgsql security definer as $$ begin perform pg_catalog.nextval('hidden.runs'); end $$;
    create event trigger t on ddl_command_end execute function hidden.f()`, 'create temporary table t (id int)'],
  ['role that a caller may become', 'hidden.f()', `${hidden('hidden.f()')} create role becomes_it; grant usage on schema hidden to becomes_it;
    revoke execute on function hidden.f() from public; grant execute on function hidden.f() to becomes_it; grant becomes_it to anon`, 'set local role becomes_it; select hidden.f()'],
]; // biome-ignore format: a table of statements

/** A text about schemas of its own: all ways are in one database. */
const apart = (text: string, number: number) =>
  text.replaceAll(/\b(?:hidden|closed)\b|\bpublic(?=\.)/gi, `$&_${number}`);

describe('a warning for each that a caller makes run by', () => {
  const schemas = ways.map((_, number) => `public_${number}`).join(',');
  let database: TestDatabase;
  let found: readonly Finding[];

  beforeAll(async () => {
    database = await createDatabase(
      `${setup} create schema auth; create table auth.users (id int primary key); ${trigger('hidden.f', 'auth.users', 'after insert')}`,
    );
    for (const [number, [, , made]] of ways.entries()) {
      const open = `create schema public_${number}; grant usage on schema public_${number} to anon, authenticated, service_role`;
      await database.query(
        `begin; ${open}; set local search_path = public_${number}; ${apart(`${setup} ${made}`, number)}; commit`,
      );
    }
    found = await looseFindings(database, '--schemas', schemas);
  });

  test.each(ways.map((way, number) => [way[0], number, way] as const))(
    'a %s',
    async (_what, number, [, name, , done]) => {
      const before = await runsOf(database, `hidden_${number}`);
      await database.query(
        `begin; set local role anon; set local search_path = public_${number}; ${apart(done, number)}`,
      );
      await database.query('rollback');
      expect(await runsOf(database, `hidden_${number}`), 'it runs').toBeGreaterThan(before);
      const own = found.filter(({ object }) => new RegExp(`^(?:hidden|public)_${number}\\.`).test(object!));
      expect(own.map(({ object, severity }) => [object, severity])).toEqual([[apart(name, number), 'warning']]);
    },
  );

  test('a sign-up', () => {
    expect(found.map(({ object, severity }) => [object, severity])).toContainEqual(['hidden.f()', 'warning']);
  });

  test('whatever it is, its fix ends it', async () => {
    expect(found).toHaveLength(ways.length + 1);
    for (const { fix } of found) await database.query(fix!);
    expect(await looseFindings(database, '--schemas', schemas)).toEqual([]);
    await database.query('drop owned by becomes_it; drop role becomes_it');
  });
});

test('what the roles of the API will reach once they are made is a warning before', async () => {
  const database = await createDatabase(`${setup} create schema later; ${hidden('later.f()')} ${hidden('hidden.g()')}
    create table ward (id int); grant insert on ward to public; ${trigger('hidden.f', 'ward')}`);
  const roles = ['anon', 'authenticated', 'service'].flatMap((role) => [`--${role}-role`, `no_such_${role}`]);
  const found = await looseFindings(database, ...roles, '--schemas', 'public,later');
  expect(found.map(({ object, severity }) => [object, severity])).toEqual([
    ['hidden.f()', 'warning'],
    ['later.f()', 'warning'],
    [null, 'note'],
  ]);
});

describe('one note for all that no caller is seen to reach', async () => {
  const database = await createDatabase(`${setup}
    ${hidden('hidden.alone()')} ${hidden('hidden.shared(int)')}
    create function hidden.by_alone() returns boolean language sql as 'select hidden.shared(1)';
    create table closed.ward (id int); ${trigger('hidden.on_write', 'closed.ward')}
    create table ward (id int); grant select on ward to anon;
    ${hidden('closed.in_view()')} create view closed.wards as select closed.in_view() as found;
    create function calls() returns int language sql as 'select 1';
  `);
  const note = (count: number, names: string) => ({
    severity: 'note',
    object: null,
    message: `${count} routines run with the rights of the owner and without a fixed search path. Nothing that API roles may use is seen to call them. These are ${names}.`,
  });

  test('with all statements', async () => {
    const found = await looseFindings(database);
    expect(found).toMatchObject([note(4, 'closed.in_view(), hidden.alone(), hidden.on_write() and 1 more')]);
    expect(found[0]!.fix!.split('\n')).toEqual([
      ...['closed.in_view()', 'hidden.alone()', 'hidden.on_write()', 'hidden.shared(integer)'].map(
        (name) => `alter routine ${name} set search_path = ${name.split('.')[0]}, pg_temp;`,
      ),
      expect.stringMatching(/^-- Its text must name/),
    ]);
    await database.query(`begin; ${found[0]!.fix}`);
    await database.query('rollback');
  });

  test('a grant turns the note into a warning', async () => {
    await database.query('grant insert on closed.ward to anon');
    expect(await looseFindings(database)).toMatchObject([
      { severity: 'warning', object: 'hidden.on_write()' },
      note(3, 'closed.in_view(), hidden.alone(), hidden.shared(integer)'),
    ]);
    await database.query(`create or replace function calls() returns int language sql as 'select 1 -- by_alone'`);
    expect(await looseFindings(database)).toMatchObject([
      { severity: 'warning', object: 'hidden.on_write()' },
      { severity: 'warning', object: 'hidden.shared(integer)' },
      note(2, 'closed.in_view(), hidden.alone()'),
    ]);
  });

  test('dynamic SQL that could call any of them is a warning', async () => {
    await database.query(
      `create function puts(a text) returns void language plpgsql as $$ begin execute 'select hid' || a; end $$`,
    );
    // With the rights of its caller it calls what callers may call.
    expect((await looseFindings(database)).at(-1)).toMatchObject({ severity: 'note', object: null });
    await database.query('alter function puts security definer set search_path = pg_catalog, pg_temp');
    const before = await runsOf(database);
    await database.query(`begin; set local role anon; select puts('den.alone()')`);
    await database.query('rollback');
    expect(await runsOf(database)).toBeGreaterThan(before);
    expect((await looseFindings(database)).at(-1)).toMatchObject({
      severity: 'warning',
      object: null,
      message: expect.stringContaining('But public.puts(text) puts statements together, and may call any routine.'),
    });
    await database.query(
      'alter function puts security invoker; create trigger t before insert on ward for each row execute function hidden.on_write()',
    );
  });

  test('no finding for functions whose comment allows it', async () => {
    await database.query('revoke execute on all functions in schema hidden, closed from public');
    for (const name of ['in_view', 'alone']) {
      await database.query(
        `comment on function ${name === 'alone' ? 'hidden' : 'closed'}.${name} is '@graphql({"ignore": ["definer_search_path"]})'`,
      );
    }
    const found = await looseFindings(database, '--schemas', 'public,hidden,closed');
    expect(found.map(({ object }) => object)).toEqual(['hidden.on_write()', 'hidden.shared(integer)']);
  });
});
