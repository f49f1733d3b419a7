/**
 * Random trees of rows in random schemas: one mutation writes the same rows as inserts one by one by the same role, or is refused where one
 * of these is, and then nothing is written.
 *
 * Keys are of one or two columns, of several types, given or made by the database; triggers change keys and suppress rows; constraints
 * are checked at once or at the commit; policies look the row above up.
 */
import pg from 'pg';
import { expect, test } from 'vitest';
import { createRandom, type Random } from '../property/random.ts';
import { startExecution } from '../support/execution.ts';
import { createDatabase } from '../support/postgres.ts';

/** A row of `alpha`, `beta`, `gamma` or `delta`; a beta belongs to an alpha and refers to a delta, a gamma belongs to a beta. */
interface Row {
  readonly table: 'alpha' | 'beta' | 'gamma' | 'delta';
  readonly label: string;
  readonly n: number;
  readonly code: string;
  readonly below: readonly Row[];
  readonly above: Row | null;
}

const keys = [
  { columns: 'id int generated always as identity', key: ['id'], types: ['int'], given: false },
  { columns: 'id bigserial', key: ['id'], types: ['bigint'], given: false },
  { columns: 'id uuid default gen_random_uuid()', key: ['id'], types: ['uuid'], given: false },
  { columns: 'code text', key: ['code'], types: ['text'], given: true },
  {
    columns: 'code text, id int generated always as identity',
    key: ['code', 'id'],
    types: ['text', 'int'],
    given: true,
  },
] as const;
type Key = (typeof keys)[number];

interface World {
  readonly keys: Readonly<Record<Row['table'], Key>>;
  readonly sql: (schema: string) => string;
}

function makeWorld(random: Random): World {
  const made: World['keys'] = {
    alpha: random.pick(keys),
    beta: random.pick(keys),
    gamma: random.pick(keys),
    delta: random.pick(keys),
  };
  const deferred = random.chance(0.3) ? 'deferrable initially deferred' : '';
  const checked = random.pick<Row['table']>(['alpha', 'beta', 'gamma', 'delta']);
  const watched = random.pick<Row['table'] | null>(['alpha', 'beta', 'gamma', 'delta', null]);
  const hasPolicies = random.chance(0.5);
  const refer = (schema: string, table: Row['table']) => {
    const { key, types } = made[table];
    const columns = key.map((name, index) => `${table}_${name} ${types[index]}`).join(', ');
    return `${columns}, foreign key (${key.map((name) => `${table}_${name}`).join(', ')}) references ${schema}.${table} ${deferred}`;
  };
  const table = (schema: string, name: Row['table'], ...references: Row['table'][]) => `
    create table ${schema}.${name} (${made[name].columns}, label text, n int ${name === checked ? 'check (n < 90)' : ''},
      primary key (${made[name].key.join(', ')})${references.map((each) => `, ${refer(schema, each)}`).join('')});`;
  const trigger = (schema: string) => `
    create function ${schema}.watch() returns trigger language plpgsql as $$ begin
      if new.label like 'skip%' then return null; end if;
      ${watched !== null && made[watched].given ? 'new.code := upper(new.code);' : ''} return new; end $$;
    create trigger watch before insert on ${schema}.${watched} for each row execute function ${schema}.watch();`;
  const policies = (schema: string) => `
    alter table ${schema}.beta enable row level security;
    create policy sees on ${schema}.beta to anon using (true) with check (n < 95 and exists (
      select from ${schema}.alpha a where ${made.alpha.key.map((name) => `a.${name} = alpha_${name}`).join(' and ')}));`;
  return {
    keys: made,
    sql: (schema) => `create schema ${schema}; comment on schema ${schema} is '@graphql({"inflect_names": true})';
      ${table(schema, 'alpha')} ${table(schema, 'delta')} ${table(schema, 'beta', 'alpha', 'delta')} ${table(schema, 'gamma', 'beta')}
      ${watched === null ? '' : trigger(schema)} ${hasPolicies ? policies(schema) : ''}
      grant usage on schema ${schema} to anon; grant select, insert on all tables in schema ${schema} to anon;
      grant usage on all sequences in schema ${schema} to anon;`,
  };
}

let labels = 0;

function makeRow(random: Random, table: Row['table']): Row {
  labels += 1;
  const label = `${random.chance(0.02) ? 'skip' : 'row'} ${labels}`;
  const list = (low: Row['table'], most: number): Row[] =>
    Array.from({ length: random.int(0, most) }, () => makeRow(random, low));
  return {
    table,
    label,
    n: random.chance(0.02) ? random.int(90, 99) : random.int(0, 89),
    code: `c${labels}`,
    below: table === 'alpha' ? list('beta', 3) : table === 'beta' ? list('gamma', 2) : [],
    above: table === 'beta' && random.chance(0.5) ? makeRow(random, 'delta') : null,
  };
}

function objectOf(world: World, row: Row): object {
  const { table, label, n, code, below, above } = row;
  const name = table === 'alpha' ? 'betaCollection' : 'gammaCollection';
  return {
    label,
    n,
    ...(world.keys[table].given && { code }),
    ...(below.length > 0 && { [name]: { insert: below.map((each) => objectOf(world, each)) } }),
    ...(above && { delta: { insert: objectOf(world, above) } }),
  };
}

/** Rows at one place of the input, which one statement writes. */
function placesOf(rows: readonly Row[]): (readonly Row[])[] {
  const deltas = rows.flatMap(({ above }) => above ?? []);
  const below = rows.flatMap((row) => row.below);
  return [...(deltas.length > 0 ? [deltas] : []), rows, ...(below.length > 0 ? placesOf(below) : [])];
}

/** Inserts one by one; false where one is refused, or a row is suppressed whose place others depend on. */
async function insertOneByOne(client: pg.Client, world: World, rows: readonly Row[]): Promise<boolean> {
  const known = new Map<Row, Record<string, unknown>>();
  const parents = new Map<Row, Row>();
  try {
    await client.query('begin');
    await client.query('set local role anon');
    for (const place of placesOf(rows)) {
      const hasDependents =
        place === rows || place[0]!.table === 'delta' || place.some(({ below }) => below.length > 0);
      for (const row of place) {
        for (const each of row.below) parents.set(each, row);
        const values: Record<string, unknown> = { label: row.label, n: row.n };
        if (world.keys[row.table].given) values.code = row.code;
        for (const other of [parents.get(row), row.above]) {
          for (const name of other ? world.keys[other.table].key : [])
            values[`${other!.table}_${name}`] = known.get(other!)![name];
        }
        const names = Object.keys(values);
        const text = `insert into s.${row.table} (${names.join(', ')}) values (${names.map((_, index) => `$${index + 1}`).join(', ')})`;
        const key = world.keys[row.table].key.join(', ');
        const found = await client.query(`${text}${hasDependents ? ` returning ${key}` : ''}`, Object.values(values));
        if (hasDependents && found.rows.length === 0) throw new Error('suppressed');
        known.set(row, found.rows[0]);
      }
    }
    await client.query('commit');
    return true;
  } catch {
    await client.query('rollback');
    return false;
  }
}

/** The rows with the labels of those that they refer to. */
function contentOf(world: World, schema: string): string {
  const on = (table: Row['table']) =>
    world.keys[table].key.map((name) => `o.${name} = t.${table}_${name}`).join(' and ');
  const label = (table: Row['table']) => `(select o.label from ${schema}.${table} o where ${on(table)})`;
  return `select 'alpha' as t, label, n, null as x, null as y from ${schema}.alpha
    union all select 'delta', label, n, null, null from ${schema}.delta
    union all select 'beta', label, n, ${label('alpha')}, ${label('delta')} from ${schema}.beta t
    union all select 'gamma', label, n, ${label('beta')}, null from ${schema}.gamma t order by 1, 2`;
}

// Random writes of all kinds (test/writes) go on at night.
test.each(Array.from({ length: 4 }, (_, seed) => seed + 1))(
  'random tables and objects, seed %d: nested inserts write what single inserts in SQL write',
  async (seed) => {
    const random = createRandom(seed);
    const world = makeWorld(random);
    const database = await createDatabase(world.sql('m'), world.sql('s'));
    const execution = await startExecution(database, { schemas: ['m'] });
    const client = new pg.Client(database.urlAs('authenticator', 'test'));
    await client.connect();
    const query =
      'mutation ($o: [AlphaInsertInput!]!) { insertIntoAlphaCollection(objects: $o) { affectedCount records { label } } }';
    let [written, refused] = [0, 0];
    for (let round = 0; round < 25; round += 1) {
      const rows = Array.from({ length: random.int(1, 3) }, () => makeRow(random, 'alpha'));
      // An insert without related rows keeps what a trigger leaves of it.
      if (rows.every(({ below }) => below.length === 0)) continue;
      const done = await insertOneByOne(client, world, rows);
      const body = await execution.run('anon', query, { variables: { o: rows.map((row) => objectOf(world, row)) } });
      expect({ seed, round, done, errors: body.errors }).toEqual({
        seed,
        round,
        done,
        errors: done ? undefined : [expect.objectContaining({ extensions: expect.any(Object) })],
      });
      if (done) {
        const labelsOf = rows.map(({ label }) => ({ label }));
        expect(body.data.insertIntoAlphaCollection).toEqual({ affectedCount: rows.length, records: labelsOf });
      }
      written += done ? 1 : 0;
      refused += done ? 0 : 1;
      expect(await database.query(contentOf(world, 'm'))).toEqual(await database.query(contentOf(world, 's')));
    }
    await client.end();
    expect(written).toBeGreaterThan(0);
    expect(written + refused).toBeGreaterThan(10);
  },
);
