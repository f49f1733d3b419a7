/**
 * Random upserts do what the same inserts do one by one in SQL, by the same role on the same rows: equal records in their order, equal rows
 * at the end, and where one of them fails, nothing is written.
 */
import pg from 'pg';
import { expect, test } from 'vitest';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';
import { atEnd } from '../support/when-over.ts';
import { createRandom, type Random } from './random.ts';

const operations = Number(process.env.PROPERTY_OPERATIONS ?? 300);
const seed = Number(process.env.PROPERTY_SEED ?? (operations > 300 ? Date.now() % 1_000_000_000 : 21));
/** Each is many statements for one operation. */
const calls = Math.ceil(operations / 5);

const tables = (schema: string) => `
  create schema ${schema}; grant usage on schema ${schema} to anon;
  create table ${schema}.open (
    id int generated always as identity primary key, a int, b text not null, c int default 7, d text default 'dd', e int, owner int not null default 1,
    unique (a, b)
  );
  create unique index open_name on ${schema}.open (lower(b)) where e is null;
  create table ${schema}.own (like ${schema}.open including all);
  alter index ${schema}.own_lower_idx rename to own_name;
  alter table ${schema}.own enable row level security;
  create policy own on ${schema}.own to anon using (owner = 1);
  create table ${schema}.base (like ${schema}.open including all);
  alter index ${schema}.base_lower_idx rename to base_name;
  create view ${schema}.seen as select id, a, b, c, d, e, owner from ${schema}.base where owner = 1;
  comment on view ${schema}.seen is '@graphql({"primary_key_columns": ["id"]})';
  grant select, insert, update on ${schema}.open, ${schema}.own, ${schema}.seen to anon;`;
const database = await createDatabase(tables('ours'), tables('theirs'));
const execution = await startExecution(database, { schemas: ['ours'] });
const sql = new pg.Client({ connectionString: database.url });
await sql.connect();
atEnd(() => sql.end());

const columns = ['a', 'b', 'c', 'd', 'e', 'owner'] as const;
type Row = Partial<Record<(typeof columns)[number], number | string | null>>;

/** What one mutation asks for. */
interface Call {
  readonly table: 'open' | 'own' | 'seen';
  readonly target: 'key' | 'name';
  readonly update: readonly string[];
  readonly filter: readonly [graphql: string, sql: string] | null;
  readonly objects: readonly Row[];
}

const filters = [
  ['{c: {gt: 5}}', 't.c > 5'],
  ['{e: {is: NULL}}', 't.e is null'],
  ['{not: {d: {eq: "dd"}}}', `not t.d = 'dd'`],
  ['{or: [{a: {eq: 1}}, {owner: {eq: 2}}]}', '(t.a = 1 or t.owner = 2)'],
] as const;

const makeRow = (random: Random): Row => ({
  a: random.chance(0.1) ? null : random.int(1, 3),
  b: random.pick(['x', 'X', 'y', 'z', 'w']),
});

function makeCall(random: Random): Call {
  const update = random.some(['c', 'd', 'e', 'owner'], random.pick([0, 0.5]));
  const filter = random.chance(0.4) ? random.pick(filters) : null;
  // Where no row may stay, objects of one kind are inserted together: only their order decides about other constraints.
  const inOrder = update.length === 0 || filter !== null;
  const extra = (names: readonly string[]): Row =>
    Object.fromEntries(names.map((name) => [name, name === 'd' ? random.pick(['d1', 'dd', null]) : name === 'owner' ? (random.chance(0.9) ? 1 : 2) : random.pick([null, 1, 5, 9])])); // biome-ignore format: one row
  const same = random.some(['c', 'd', 'e', 'owner'], 0.5);
  const objects = Array.from({ length: random.int(1, 5) }, () => ({
    ...makeRow(random),
    ...extra(inOrder ? random.some(['c', 'd', 'e', 'owner'], 0.4) : same),
  }));
  return { table: random.pick(['open', 'own', 'seen']), target: random.pick(['key', 'name']), update, filter, objects };
}

const baseOf = (table: Call['table']) => (table === 'seen' ? 'base' : table);

async function fill(random: Random, table: Call['table']): Promise<void> {
  const rows = Array.from({ length: random.int(0, 6) }, () => ({ ...makeRow(random), c: random.int(1, 9), owner: random.chance(0.7) ? 1 : 2 })); // biome-ignore format: one row
  for (const schema of ['ours', 'theirs']) {
    await sql.query(`truncate ${schema}.${baseOf(table)} restart identity`);
    for (const { a, b, c, owner } of rows) {
      await sql.query(
        `insert into ${schema}.${baseOf(table)} (a, b, c, owner) values ($1, $2, $3, $4) on conflict do nothing`,
        [a, b, c, owner],
      );
    }
  }
}

async function rowsOf(schema: string, table: Call['table']): Promise<readonly Row[]> {
  const { rows } = await sql.query(`select ${columns} from ${schema}.${baseOf(table)} order by id, a, b`);
  return rows;
}

type Outcome = { readonly records: readonly Row[] } | { readonly code: string };

/** By SQL, one object after the other. */
async function writeOneByOne({ table, target, update, filter, objects }: Call): Promise<Outcome> {
  const records: Row[] = [];
  const written = new Set<number>();
  await sql.query('begin');
  try {
    for (const object of objects) {
      if (table === 'own' && object.owner === 2) return { code: 'PERMISSION_DENIED' };
      const met = await findMet(table, target, object);
      if (met !== null && update.length > 0) {
        if (written.has(met.id)) return { code: 'BAD_USER_INPUT' };
        if (met.owner === 2 && table !== 'open') return { code: table === 'own' ? 'PERMISSION_DENIED' : 'CONFLICT' };
      }
      const names = Object.keys(object);
      const set = `do update set ${update.map((name) => `${name} = excluded.${name}`)}${filter === null ? '' : ` where ${filter[1]}`}`;
      await sql.query('set local role anon');
      const { rows } = await sql.query(
        `insert into theirs.${table} as t (${names}) values (${names.map((_, index) => `$${index + 1}`)})
         on conflict ${target === 'key' ? '(a, b)' : '(lower(b)) where e is null'} ${update.length === 0 ? 'do nothing' : set} returning ${columns}`,
        Object.values(object),
      );
      await sql.query('reset role');
      if (rows.length === 0) continue;
      records.push(rows[0]);
      written.add(met?.id ?? (await newest(table)));
    }
    await sql.query('commit');
    return { records };
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    return {
      code:
        error.code === '42501' ? 'PERMISSION_DENIED' : error.code === '23505' ? 'CONSTRAINT_VIOLATION' : String(error),
    };
  } finally {
    await sql.query('rollback');
  }
}

async function findMet(
  table: Call['table'],
  target: Call['target'],
  { a, b, e }: Row,
): Promise<{ readonly id: number; readonly owner: number } | null> {
  const { rows } = await (target === 'key'
    ? sql.query(`select id, owner from theirs.${baseOf(table)} where a = $1 and b = $2`, [a, b])
    : sql.query(
        `select id, owner from theirs.${baseOf(table)} where lower(b) = lower($1) and e is null and $2::int is null`,
        [b, e],
      ));
  return rows[0] ?? null;
}

async function newest(table: Call['table']): Promise<number> {
  return (await sql.query(`select max(id) as id from theirs.${baseOf(table)}`)).rows[0].id;
}

/** By one mutation; objects in the document or in a variable. */
async function writeAtOnce({ table, target, update, filter, objects }: Call, inVariable: boolean): Promise<Outcome> {
  const constraint = `${baseOf(table)}_${target === 'key' ? 'a_b_key' : 'name'}`;
  const onConflict = `{constraint: ${constraint}, updateColumns: [${update}]${filter === null ? '' : `, filter: ${filter[0]}`}}`;
  const literal = `[${objects.map((object) => `{${Object.entries(object).map(([name, value]) => `${name}: ${JSON.stringify(value)}`)}}`)}]`;
  const query = `mutation ${inVariable ? `($o: [${table}InsertInput!]!)` : ''} {
    insertInto${table}Collection(objects: ${inVariable ? '$o' : literal}, onConflict: ${onConflict}) { affectedCount records { ${columns.join(' ')} } } }`;
  const { data, errors } = await execution.run('anon', query, inVariable ? { variables: { o: objects } } : {});
  if (errors !== undefined) return { code: errors[0].extensions.code };
  const { affectedCount, records } = data[`insertInto${table}Collection`];
  expect(affectedCount).toBe(records.length);
  return { records };
}

test(`upserts do what inserts one by one do (PROPERTY_SEED=${seed} PROPERTY_OPERATIONS=${operations})`, {
  timeout: 120_000 + calls * 400,
}, async () => {
  const random = createRandom(seed);
  const outcomes = { written: 0, kept: 0, failed: 0 };
  for (let done = 0; done < calls; done += 1) {
    const call = makeCall(random);
    await fill(random, call.table);
    const before = await rowsOf('ours', call.table);
    const expected = await writeOneByOne(call);
    const found = await writeAtOnce(call, random.chance(0.5));
    const told = JSON.stringify({ call, before }, null, 1);
    expect(found, told).toEqual(expected);
    expect(await rowsOf('ours', call.table), told).toEqual(await rowsOf('theirs', call.table));
    if ('code' in found) outcomes.failed += 1;
    else if (found.records.length < call.objects.length) outcomes.kept += 1;
    else outcomes.written += 1;
  }
  // Of one kind alone they prove little.
  if (calls >= 150)
    for (const count of Object.values(outcomes)) expect(count, JSON.stringify(outcomes)).toBeGreaterThan(calls / 20);
});
