import { expect, test } from 'vitest';
import type { Column, ValueType } from '../../src/graphql/model/model.ts';
import { createDatabase } from '../support/postgres.ts';
import { columnOf, modelReader, tableOf } from '../support/read-model.ts';

const database = await createDatabase(`
create schema ext; create extension citext schema ext;
create schema hidden;
create schema t; grant usage on schema t, ext to anon;
create type t.mood as enum ('sad', 'ok');
create type t.locked as enum ('a'); revoke usage on type t.locked from public;
create type ext.far as enum ('x');
create type t.pair as (a int, b int);
create type hidden.secret as enum ('s');
create domain t.positive as int check (value > 0);
create domain t.ints as int[];
create domain t.mood_d as t.mood;
create domain t.pair_d as t.pair;
create domain t.with_default as text default 'dom';
create table t.other (id int primary key);
create table t.every (
  id int primary key,
  i2 smallint, i4 int, i8 bigint, f4 real, f8 double precision, num numeric, num82 numeric(8,2), num31 numeric(3,1),
  b boolean, txt text, vc varchar, vc12 varchar(12), ch "char", bp bpchar, c3 char(3), ci ext.citext, u uuid,
  d date, tm time, tm0 time(0), ts timestamp, ts3 timestamp(3), tstz timestamptz, js json, jsb jsonb,
  ttz timetz, iv interval, iv3 interval(3), ivym interval year to month, money money, by bytea, ip inet, bits bit(5), rng int4range, o oid, nm name, pt point, iv2 int2vector,
  mood t.mood, locked t.locked, far ext.far, secret hidden.secret, pos t.positive, ints_d t.ints, mood_d t.mood_d, pair_d t.pair_d, wd t.with_default,
  own_d t.with_default default 'own',
  pair t.pair, pairs t.pair[], row_of t.other, rows_of t.other[],
  i4s int[], vc12s varchar(12)[], jsbs jsonb[], moods t.mood[], lockeds t.locked[], secrets hidden.secret[], ips inet[], cis ext.citext[], poss t.positive[], tss timestamptz[]
);
grant all on all tables in schema t to anon;
`);
const reader = modelReader(database, []);
const model = await reader.model(['t']);
const every = tableOf(model, 'every');
const column = (name: string): Column => columnOf(every, name);

function brief(type: ValueType | null): string | null {
  if (type === null) return null;
  if (type.kind === 'list') return `[${brief(type.element)}]`;
  return type.kind === 'enum' ? (model.enums.get(type.enum)?.graphqlName ?? '?') : type.scalar;
}

test('each PostgreSQL type has its scalar; domains and foreign enums are opaque; composites are left out', () => {
  const types = Object.fromEntries(every.columns.map(({ name, type }) => [name, brief(type)]));
  expect(types).toEqual({
    id: 'Int', i2: 'Int', i4: 'Int', i8: 'BigInt', f4: 'Float', f8: 'Float', num: 'BigFloat', num82: 'BigFloat', num31: 'BigFloat',
    b: 'Boolean', txt: 'String', vc: 'String', vc12: 'String', ch: 'String', bp: 'String', c3: 'String', ci: 'String', u: 'UUID',
    d: 'Date', tm: 'Time', tm0: 'Time', ts: 'Datetime', ts3: 'Datetime', tstz: 'Datetime', js: 'JSON', jsb: 'JSON',
    ttz: 'Opaque', iv: 'Opaque', iv3: 'Opaque', ivym: 'Opaque', money: 'Opaque', by: 'Opaque', ip: 'Opaque', bits: 'Opaque',
    rng: 'Opaque', o: 'Opaque', nm: 'Opaque', pt: 'Opaque', iv2: 'Opaque',
    mood: 'mood', locked: 'Opaque', far: 'Opaque', secret: null, pos: 'Opaque', ints_d: null, mood_d: 'Opaque', pair_d: 'Opaque',
    wd: 'Opaque', own_d: 'Opaque', pair: null, pairs: null, row_of: null, rows_of: null,
    i4s: '[Int]', vc12s: '[String]', jsbs: '[JSON]', moods: '[mood]', lockeds: null, secrets: null, ips: '[Opaque]', cis: '[String]',
    poss: '[Opaque]', tss: '[Datetime]',
  }); // biome-ignore format: a table of types
});

test('json is not filtered or ordered, lists are not ordered, and only lists of ten scalars are filtered', () => {
  const without = (flag: 'filterable' | 'orderable') =>
    every.columns.filter((c) => c.readable && !c[flag]).map((c) => c.name);
  expect(without('filterable')).toEqual(['js', 'jsb', 'jsbs', 'moods', 'ips', 'poss']);
  expect(without('orderable')).toEqual([
    'js', 'jsb', 'i4s', 'vc12s', 'jsbs', 'moods', 'ips', 'cis', 'poss', 'tss',
  ]); // biome-ignore format: a list of names
});

test('a type that cannot be exposed is in no type of the table, and is not writable', () => {
  for (const name of ['secret', 'ints_d', 'pair', 'pairs', 'row_of', 'rows_of', 'lockeds', 'secrets']) {
    const { readable, filterable, orderable, insertable, updatable } = column(name);
    expect([readable, filterable, orderable, insertable, updatable], name).toEqual([false, false, false, false, false]);
  }
});

test('lengths are those of varchar(n) and char(n), also of their lists', () => {
  const limited = every.columns.filter((c) => c.cast.maxLength !== null).map((c) => [c.name, c.cast.maxLength]);
  expect(limited).toEqual([['vc12', 12], ['c3', 3], ['vc12s', 12]]); // biome-ignore format: pairs
  expect(column('vc12s').type).toMatchObject({ element: { cast: { name: 'varchar', modifier: '12', maxLength: 12 } } });
  expect(every.columns.filter((c) => c.cast.blankPadded).map((c) => c.name)).toEqual(['bp', 'c3']);
});

test('the printed cast is the declared type, modifier included', async () => {
  for (const { name, cast } of every.columns) {
    const modifier = cast.modifier === null ? '' : `(${cast.modifier})`;
    const [row] = await database.query<{ same: boolean }>(
      `select format_type(a.atttypid, a.atttypmod) = format_type(b.atttypid, b.atttypmod) as same
       from pg_attribute a, pg_attribute b
       where a.attrelid = 't.every'::regclass and a.attname = $1 and b.attrelid = 'probe'::regclass and b.attname = 'x'`.replace(
        "'probe'",
        `'${await probe(`"${cast.namespace}"."${cast.name}"${modifier}`)}'`,
      ),
      [name],
    );
    expect(row?.same, `${name} ${cast.name}${modifier}`).toBe(true);
  }
});

async function probe(type: string): Promise<string> {
  await database.query(
    `create schema if not exists probes; drop view if exists probes.probe; create view probes.probe as select null::${type} as x`,
  );
  return 'probes.probe';
}

test('aggregates go by the exact type', () => {
  const of = (name: string) => {
    const { sum, avg, min, max } = column(name);
    expect(min).toBe(max);
    return [sum, avg, min];
  };
  expect(of('i2')).toEqual(['BigInt', 'BigFloat', 'Int']);
  expect(of('i8')).toEqual(['BigInt', 'BigFloat', 'BigInt']);
  expect(of('f4')).toEqual(['BigFloat', 'BigFloat', 'BigFloat']);
  expect(of('money')).toEqual(['BigFloat', 'BigFloat', 'Opaque']);
  for (const name of ['txt', 'vc12', 'c3', 'ch', 'nm', 'ci']) expect(of(name), name).toEqual([null, null, 'String']);
  for (const name of ['tm', 'ttz']) expect(of(name)).toEqual([null, null, 'Time']);
  expect(of('b')).toEqual([null, null, 'Boolean']);
  for (const name of ['u', 'mood', 'i4s', 'jsb', 'pos', 'iv', 'pair'])
    expect(of(name), name).toEqual([null, null, null]);
});

test("a column without a default of its own has its domain's", () => {
  expect(column('wd').hasDefault).toBe(true);
  expect(column('own_d').hasDefault).toBe(true);
  expect(column('txt').hasDefault).toBe(false);
});

test('an enum outside the path becomes a type of its own when its namespace is exposed', async () => {
  const wider = await reader.model(['t', 'ext']);
  const far = columnOf(tableOf(wider, 'every'), 'far').type;
  expect(far?.kind).toBe('enum');
  expect([...wider.enums.values()].map((e) => e.graphqlName)).toEqual(['mood', 'far']);
});

test('an enum without USAGE on the type is absent for that role and present for another', async () => {
  const [owner] = await database.query<{ name: string }>('select current_user as name');
  const all = await reader.model(['t'], owner?.name);
  expect([...all.enums.values()].map((e) => e.graphqlName)).toEqual(['mood', 'locked']);
  expect([...model.enums.values()].map((e) => e.graphqlName)).toEqual(['mood']);
});

test('citext keys have a lookup only where the search path finds the type', async () => {
  await database.query('create table t.by_name (name ext.citext primary key); grant all on t.by_name to anon');
  expect(tableOf(await reader.model(['t']), 'by_name').byPk).toBe(false);
  expect(tableOf(await reader.model(['t', 'ext']), 'by_name').byPk).toBe(true);
});
