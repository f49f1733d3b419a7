import { expect, test } from 'vitest';
import { buildModelParts } from '../../src/graphql/model/build-model.ts';
import { createDatabase } from '../support/postgres.ts';
import { modelReader, routineOf, tableOf } from '../support/read-model.ts';

const database = await createDatabase(`
create schema hidden; create schema f; comment on schema f is '@graphql({"inflect_names": true})';
create schema auth; create schema graphql; create schema open;
grant usage on schema f, auth, graphql, open to anon;
create type f.mood as enum ('a'); create type f.pair as (a int, b int); create type hidden.secret as enum ('s');
create domain f.positive as int; create domain f.ints as int[]; create domain f.mood_d as f.mood; create domain f.pair_d as f.pair;
create table f.item (id int primary key, name text);
create table f.keyless (id int);
create table f.private (id int primary key);
create table hidden.elsewhere (id int primary key);
grant select on f.item, f.keyless to anon;
grant select (id) on f.private to anon;

create function f.get_stable(a int) returns int stable language sql as 'select 1';
create function f.get_immutable() returns text immutable language sql as 'select 1::text';
create function f.do_volatile() returns void language sql as 'select 1';
create function f.arrays(a int[], b jsonb[], c bigint[]) returns numeric[] stable language sql as 'select null::numeric[]';
create function f.domains(a f.positive, b f.pair_d, c char(3)) returns f.positive stable language sql as 'select 1';
create function f.out_one(a int, out b text) stable language sql as 'select 1::text';
create function f.in_out(a int, inout b int, out c int) stable language sql as 'select 1, 2';
create function f.row_of(node_id int) returns f.item stable language sql as 'select * from f.item limit 1';
create function f.set_of(term text) returns setof f.item stable language sql as 'select * from f.item';
create function f.set_one() returns setof f.item stable rows 1 language sql as 'select * from f.item';
create function f.scalar_one() returns setof int stable rows 1 language sql as 'select 1';
create function f.scalars() returns setof int stable language sql as 'select 1';
create function f.table_two() returns table (a int, b int) stable language sql as 'select 1, 2';
create function f.table_one() returns table (a int) stable language sql as 'select 1';
create function f.rec() returns record stable language sql as 'select 1, 2';
create function f.gives_enum() returns f.mood stable language sql as 'select null::f.mood';
create function f.gives_enums() returns f.mood[] stable language sql as 'select null::f.mood[]';
create function f.gives_pair() returns f.pair stable language sql as 'select null::f.pair';
create function f.gives_keyless() returns f.keyless stable language sql as 'select null::f.keyless';
create function f.gives_elsewhere() returns hidden.elsewhere stable language sql as 'select null::hidden.elsewhere';
create function f.takes_enum(a f.mood) returns int stable language sql as 'select 1';
create function f.takes_enums(a f.mood[]) returns int stable language sql as 'select 1';
create function f.takes_mood_d(a f.mood_d) returns int stable language sql as 'select 1';
create function f.takes_ints(a f.ints) returns int stable language sql as 'select 1';
create function f.takes_pair(a f.pair) returns int stable language sql as 'select 1';
create function f.takes_pairs(a f.pair[]) returns int stable language sql as 'select 1';
create function f.takes_secret(a hidden.secret) returns int stable language sql as 'select 1';
create function f.takes_row(a f.item, b int) returns int stable language sql as 'select 1';
create function f.unnamed(int) returns int stable language sql as 'select 1';
create function f.variadic_one(variadic a int[]) returns int stable language sql as 'select 1';
create function f.poly(a anyelement) returns anyelement stable language sql as 'select a';
create function f.twice(a int) returns int stable language sql as 'select 1';
create function f.twice(a text) returns int stable language sql as 'select 1';
create procedure f.proc() language sql as 'select 1';
create aggregate f.agg(int) (sfunc = int4pl, stype = int);
create function f.trig() returns trigger language plpgsql as 'begin return null; end';
create function f.evt() returns event_trigger language plpgsql as 'begin end';
create function f.paged(first int) returns setof f.item stable language sql as 'select * from f.item';
create function f.paged_too(order_by int) returns setof f.item stable language sql as 'select * from f.item';
create function f.first_ok(first int) returns int stable language sql as 'select 1';
create function f.bad_argument("a-b" int) returns int stable language sql as 'select 1';
create function f.same_arguments(a_b int, "aB" int) returns int stable language sql as 'select 1';
create function f."bad name"() returns int stable language sql as 'select 1';
create function f.heartbeat() returns int stable language sql as 'select 1';
create function f.no_execute() returns int stable language sql as 'select 1'; revoke execute on function f.no_execute from public;
create function auth.uid() returns uuid stable language sql as 'select null::uuid';
create function graphql.inside() returns int stable language sql as 'select 1';
create function open.inside() returns int stable language sql as 'select 1';
create function open.visible() returns int stable language sql as 'select 1';
create function auth.item_label(f.item) returns text stable language sql as 'select 1::text';

create function f.defaults(a int, b int default 7, c boolean default true, d text default 'x', e float8 default 1.50, g int default null, h int default 1 + 1, i timestamptz default now()) returns int stable language sql as 'select 1';
create function f.comma(days int default 7, note text default 'a, b') returns int stable language sql as 'select 1';
create function f.list_default(a int[] default '{1,2}') returns int stable language sql as 'select 1';

create function f._label(rec f.item) returns text stable language sql as 'select 1::text';
create function f.c_mood(f.item) returns f.mood stable language sql as 'select null::f.mood';
create function f.c_moods(f.item) returns f.mood[] stable language sql as 'select null::f.mood[]';
create function f.c_one(f.item) returns setof int stable rows 1 language sql as 'select 1';
create function f.c_many(f.item) returns setof int stable language sql as 'select 1';
create function f.c_record(f.item, out a int, out b int) stable language sql as 'select 1, 2';
create function f.c_anonymous(f.item) returns record stable language sql as 'select 1, 2';
create function f.c_row(f.item) returns f.item stable language sql as 'select null::f.item';
create function f.c_set(f.item) returns setof f.item stable language sql as 'select null::f.item';
create function f.c_table(f.item) returns table (a int, b int) stable language sql as 'select 1, 2';
create function f.c_table_one(f.item) returns table (a int) stable language sql as 'select 1';
create function f.c_pair(f.item) returns f.pair stable language sql as 'select null::f.pair';
create function f.c_keyless(f.item) returns f.keyless stable language sql as 'select null::f.keyless';
create function f.c_void(f.item) returns void stable language sql as 'select 1';
create function f.c_private(f.private) returns int stable language sql as 'select 1';
create function f.twice_computed(f.item) returns int stable language sql as 'select 1';
create function f.twice_computed(f.private) returns int stable language sql as 'select 1';
`);
const reader = modelReader(database, []);
const path = ['f', 'auth', 'graphql', 'open'];
const model = await reader.model(path);
const brief = (name: string): string | undefined => {
  const routine = routineOf(model, name);
  if (!routine) return undefined;
  const { result } = routine;
  const type =
    result.kind === 'value'
      ? result.type.kind === 'list'
        ? 'list'
        : result.type.kind === 'enum'
          ? 'enum'
          : result.type.scalar
      : result.kind;
  return `${routine.use} ${routine.fieldName} ${type}`;
};

test('volatility decides the root type', () => {
  expect(brief('get_stable')).toBe('query getStable Int');
  expect(brief('get_immutable')).toBe('query getImmutable String');
  expect(brief('do_volatile')).toBe('mutation doVolatile void');
});

test('scalars, arrays and domains over scalars or composites are arguments and results; modifiers are dropped', () => {
  expect(brief('arrays')).toBe('query arrays list');
  expect(brief('domains')).toBe('query domains Opaque');
  const types = routineOf(model, 'domains')?.arguments.map(({ type }) => [
    type.kind === 'scalar' && type.scalar,
    type.cast.modifier,
  ]);
  expect(types).toEqual([['Opaque', null], ['Opaque', null], ['String', null]]); // biome-ignore format: pairs
});

test('OUT parameters are no arguments; one of them is a scalar result, several are none', () => {
  expect(brief('out_one')).toBe('query outOne String');
  expect(routineOf(model, 'out_one')?.arguments.map(({ name }) => name)).toEqual(['a']);
  expect(brief('in_out')).toBeUndefined();
});

test('a function returns a row, a set of rows, or a set declared to have one row', () => {
  expect(brief('row_of')).toBe('query rowOf row');
  expect(routineOf(model, 'row_of')?.arguments[0]?.fieldName).toBe('nodeId');
  expect(brief('set_of')).toBe('query setOf set');
  expect(routineOf(model, 'set_one')).toMatchObject({ result: { kind: 'row' }, returnsSet: true });
  expect(routineOf(model, 'scalar_one')).toMatchObject({ result: { kind: 'value' }, returnsSet: true });
});

test('a function whose types have no counterpart in GraphQL is absent', async () => {
  const absent = [
    'scalars', 'table_two', 'table_one', 'rec', 'gives_enum', 'gives_enums', 'gives_pair', 'gives_keyless', 'gives_elsewhere',
    'takes_enum', 'takes_enums', 'takes_mood_d', 'takes_ints', 'takes_pair', 'takes_pairs', 'takes_secret', 'takes_row', 'unnamed',
    'variadic_one', 'poly', 'twice', 'proc', 'agg', 'trig', 'evt', 'paged', 'paged_too', 'bad_argument', 'same_arguments',
    'bad name', 'no_execute', 'uid', 'inside',
  ]; // biome-ignore format: a list of names
  const omissions = await reader.omissions(path);
  for (const name of absent) {
    expect(brief(name), name).toBeUndefined();
    const isNoted = omissions.some(({ object }) => object.endsWith(`.${name}`) || object.endsWith(`."${name}"`));
    // Nobody looks for functions of triggers in the API.
    expect(isNoted, name).toBe(name !== 'trig' && name !== 'evt');
  }
  expect(brief('first_ok')).toBe('query firstOk Int');
  expect(brief('heartbeat')).toBe('query heartbeat Int');
  expect(brief('visible')).toBe('query visible Int');
});

test('a function of the same name hides another in any schema of the path, and only there', async () => {
  expect(routineOf(await reader.model(['open']), 'inside')?.fieldName).toBe('inside');
});

test('arguments with a default are nullable, and plain literals are shown', () => {
  const shown = routineOf(model, 'defaults')?.arguments.map(({ fieldName, required, displayDefault }) => [
    fieldName,
    required,
    displayDefault,
  ]);
  expect(shown).toEqual([
    ['a', true, null],
    ['b', false, '7'],
    ['c', false, 'true'],
    ['d', false, '"x"'],
    ['e', false, '1.5'],
    ['g', false, null],
    ['h', false, null],
    ['i', false, null],
  ]);
});

test('a comma inside a default makes every argument required', () => {
  for (const name of ['comma', 'list_default']) {
    expect(
      routineOf(model, name)?.arguments.every(({ required, displayDefault }) => required && displayDefault === null),
    ).toBe(true);
  }
});

test('a function over one row is a computed field, also from a schema without root functions', () => {
  const computed = tableOf(model, 'Item').computedFields.map((oid) => model.routines.get(oid)?.name);
  expect(computed).toEqual([
    'item_label', '_label', 'c_mood', 'c_moods', 'c_one', 'c_record', 'c_anonymous', 'c_row', 'c_set', 'c_void', 'twice_computed',
  ]); // biome-ignore format: a list of names
  expect(brief('_label')).toBe('computed label String');
  expect(brief('c_mood')).toBe('computed cMood enum');
  expect(brief('c_moods')).toBe('computed cMoods list');
  expect(brief('c_record')).toBe('computed cRecord record');
  expect(brief('c_anonymous')).toBe('computed cAnonymous record');
  expect(brief('c_set')).toBe('computed cSet set');
  expect(routineOf(model, 'c_set')?.arguments).toEqual([]);
});

test('a computed field needs SELECT on the whole table', async () => {
  expect(tableOf(model, 'Private').computedFields).toEqual([]);
  await database.query('grant select on f.private to anon');
  const wider = await reader.model(path);
  expect(tableOf(wider, 'Private').computedFields).toHaveLength(2);
  await database.query('revoke select on f.private from anon; grant select (id) on f.private to anon');
});

test('a function whose table lost SELECT is gone', async () => {
  await database.query('revoke select on f.item from anon');
  const narrower = await reader.model(path);
  expect(routineOf(narrower, 'set_of')).toBeUndefined();
  await database.query('grant select on f.item to anon');
});

test('of twice as many functions with one name, a model reads each as often', async () => {
  /** How often the names of so many functions are read for a model. */
  const readsOf = async (schema: string, count: number) => {
    await database.query(`create schema ${schema}; grant usage on schema ${schema} to anon;
      do $$ begin for i in 1..${count} loop
        execute format('create domain ${schema}.d%1$s as int; create function ${schema}.same(a ${schema}.d%1$s) returns int stable return 1', i);
      end loop; end $$`);
    const catalog = await reader.catalog([schema]);
    expect(catalog.routines).toHaveLength(count);
    let reads = 0;
    for (const row of catalog.routines) {
      const { proname } = row;
      Object.defineProperty(row, 'proname', {
        get() {
          reads += 1;
          return proname;
        },
      });
    }
    buildModelParts(catalog, { role: 'anon', extensions: [] });
    buildModelParts(catalog, { role: 'anon', extensions: ['writes'] });
    return reads;
  };
  const reads = await readsOf('few_functions', 50);
  expect(reads).toBeGreaterThan(50);
  expect(await readsOf('many_functions', 100)).toBe(2 * reads);
});
