/**
 * Random changes of a database: after each of them, a catalog that reads again what has changed equals one that reads everything.
 *
 * `CATALOG_SEED` repeats a run, `CATALOG_CHANGES` makes it longer, as `npm run test:nightly` does.
 */
import { expect, test } from 'vitest';
import type { Catalog, RoleAccess } from '../../src/graphql/catalog/catalog.ts';
import { readCatalog } from '../../src/graphql/catalog/read-catalog.ts';
import { buildModel, buildModelInSlices } from '../../src/graphql/model/build-model.ts';
import { ModelMemory } from '../../src/graphql/model/model-memory.ts';
import { printRoleSchema } from '../../src/graphql/schema/build-schema.ts';
import { withoutPauses } from '../../src/shared/slices.ts';
import { createRandom, type Random } from '../property/random.ts';
import { createDatabase, fixture } from '../support/postgres.ts';
import { systemPool } from '../support/read-model.ts';

const steps = Number(process.env.CATALOG_CHANGES ?? 12);
// Short runs are the same each time, as those of the property test.
const seed = Number(process.env.CATALOG_SEED ?? (steps > 12 ? Date.now() % 1_000_000_000 : 3));
const schemas = ['lib', 'more'];
const roles = ['anon', 'authenticated', 'service_role'];
const extensions = ['reads', 'writes'] as const;

const database = await createDatabase(
  fixture('lib.sql'),
  `create schema more; create schema away; grant usage on schema more to anon, authenticated;
   create table away.base (id int primary key, title text, at date);
   create view lib.shown as select id, title from away.base; create view more.outer_one as select id from lib.shown;
   create table lib.days (id int, day int, primary key (id, day)) partition by range (day);
   create table lib.days_1 partition of lib.days for values from (0) to (10);
   create table more.heir () inherits (lib.patron);
   create domain away.money as numeric; create type more.mood as enum ('good');
   create function away.sees(int) returns boolean stable language sql as 'select true';
   create function lib.shout(lib.patron) returns text stable language sql as 'select $1.full_name';
   create function lib.noted() returns trigger language plpgsql as 'begin return null; end';
   create table more.extra (id int primary key, loan_seq int, patron_id bigint references lib.patron (id));
   grant all on all tables in schema lib, more to anon, authenticated, service_role`,
);
const pool = systemPool(database.url);

test(`a catalog of changed tables equals one of all (CATALOG_SEED=${seed} CATALOG_CHANGES=${steps})`, {
  timeout: 60_000 + steps * 2000,
}, async () => {
  const random = createRandom(seed);
  let before = await readCatalog(pool, schemas);
  const memories = new Map<string, ModelMemory>();
  let [partly, continued] = [0, 0];
  const done: string[] = [];
  for (let step = 0; step < steps; step += 1) {
    done.push(...(await change(random, step)));
    const after = await readCatalog(pool, schemas, before);
    const whole = await readCatalog(pool, schemas);
    const history = `CATALOG_SEED=${seed}, step ${step}:\n${done.slice(-12).join('\n')}`;
    expect(contentOf(after), history).toEqual(contentOf(whole));
    for (const role of steps > 12 ? roles : [random.pick(roles)]) {
      const memory = new ModelMemory(memories.get(role) ?? null);
      memories.set(role, memory);
      const model = withoutPauses(buildModelInSlices(after, { role, extensions }, memory));
      const fresh = buildModel(whole, { role, extensions });
      expect(model, history).toEqual(fresh);
      expect(printRoleSchema(model), history).toBe(printRoleSchema(fresh));
      if (memory.continues) continued += 1;
    }
    if (after.common === before.common) partly += 1;
    before = after;
  }
  // Otherwise the run has compared equal readings.
  expect(partly).toBeGreaterThan(steps / 4);
  expect(continued).toBeGreaterThan(steps / 8);
});

/** Runs up to three statements in one transaction; returns those that were not refused. */
async function change(random: Random, step: number): Promise<readonly string[]> {
  const tables = await database.query(
    `select pg_catalog.format('%I.%I', n.nspname, c.relname) as path, c.relkind as kind from pg_class c
     join pg_namespace n on n.oid = c.relnamespace and n.nspname in ('lib', 'more', 'away')
     where c.relkind in ('r', 'p', 'v', 'm') order by 1`,
  );
  const done: string[] = [];
  const count = random.int(1, 3);
  for (let index = 0; index < count; index += 1) {
    const statement = statementOf(random, tables as unknown as readonly Relation[], `${step}_${index}`);
    const isDone = await database.query(statement).then(
      () => true,
      () => false,
    );
    if (isDone) done.push(`${statement};`);
  }
  return done;
}

interface Relation {
  readonly path: string;
  readonly kind: string;
}

const directives = [
  '@graphql({"totalCount": {"enabled": true}})',
  '@graphql({"aggregate": {"enabled": true}})',
  '@graphql({"name": "Renamed"})',
  '@graphql({"primary_key_columns": ["id"]})',
  '@graphql({"partitions": "hidden"})',
  'a plain text',
];

/** A statement on one of the tables; many are refused. */
function statementOf(random: Random, tables: readonly Relation[], name: string): string {
  const pick = (...kinds: readonly string[]) => random.pick(tables.filter(({ kind }) => kinds.includes(kind))).path;
  const [table, other] = [pick('r', 'p'), pick('r', 'p')];
  const any = pick('r', 'p', 'v', 'm');
  const column = random.pick(['id', 'title', 'at', 'seq', 'full_name', 'fee', 'state', 'shelf_mark', 'sponsor_id']);
  const schema = random.pick(['lib', 'more', 'away']);
  const role = random.pick(roles);
  const type = random.pick([
    'text',
    'int',
    'jsonb',
    'varchar(7)',
    'away.money',
    'more.mood',
    'lib.loan_state',
    'text[]',
    'timestamptz',
    'lib.patron',
    'lib.volume[]',
  ]);
  const privileges = random.pick([
    'select',
    'insert',
    'update',
    'delete',
    'all',
    `select (${column})`,
    `update (${column})`,
  ]);
  const often = [
    `create table ${schema}.t${name} (id int primary key, title ${type}, seq int)`,
    `create table ${schema}.t${name} (id int primary key, ref ${random.pick(['int', 'bigint', 'text'])} references ${other})`,
    `alter table ${table} add column c${name} ${type}`,
    `alter table ${table} add column d${name} int default ${random.pick(['1', 'null', 'random()::int'])}`,
    `alter table ${table} drop column ${column}`,
    `alter table ${table} rename column ${column} to ${random.pick(['title', 'subject', 'at'])}`,
    `alter table ${table} alter column ${column} ${random.pick(['set not null', 'drop not null', 'drop default', "set default null"])}`,
    `alter table ${table} add constraint k${name} foreign key (${random.pick(['patron_id', 'seq', 'id', 'loan_seq'])}) references ${other} (id)`,
    `alter table ${table} add constraint u${name} unique (${column})`,
    `alter table ${table} add constraint x${name} check (${column} is not null)`,
    `create ${random.pick(['', 'unique'])} index on ${table} (${random.pick([column, `lower(${column})`, `${column} desc nulls last`])})`,
    `grant ${privileges} on ${any} to ${role}`,
    `revoke ${privileges} on ${any} from ${role}`,
    `comment on table ${table} is ${random.pick([...directives.map((text) => `'${text}'`), 'null'])}`,
    `comment on column ${any}.${column} is ${random.pick([`'@graphql({"name": "other"})'`, "'text'", 'null'])}`,
    `comment on view ${any} is '${random.pick(directives)}'`,
    `alter table ${table} ${random.pick(['enable', 'disable'])} row level security`,
    `create policy p${name} on ${table} for ${random.pick(['select', 'all', 'insert'])} using (${random.pick(['true', 'away.sees(1)', `exists (select from ${other})`])})`,
    `alter table ${table} rename to r${name}`,
    `alter table ${any} set schema ${schema}`,
    `drop table ${table} ${random.pick(['', 'cascade'])}`,
    `create view ${schema}.v${name} as select ${random.pick(['*', 'id', 'id, title'])} from ${any}`,
    `create or replace view lib.shown as select id, title${random.pick(['', ', at'])} from away.base${random.pick(['', ' where id > 0'])}`,
    `create trigger g${name} after insert on ${table} for each row execute function lib.noted()`,
    `create rule l${name} as on update to ${any} do also nothing`,
    `create table ${schema}.h${name} () inherits (${table})`,
    `alter table lib.days ${random.pick(['detach partition lib.days_1', 'attach partition lib.days_1 for values from (0) to (10)'])}`,
    `comment on constraint loan_patron_id_fkey on lib.loan is '@graphql({"local_name": "borrowed", "foreign_name": "by"})'`,
    `create statistics on ${column}, id from ${table}`,
    `alter table ${table} owner to ${random.pick(['current_user', role])}`,
    `create materialized view ${schema}.m${name} as select 1 as id`,
  ]; // biome-ignore format: a list of statements
  const rarely = [
    `create function lib.f${name}(a int) returns ${random.pick(['int', `setof ${any}`])} stable language sql as 'select null::${any}'`,
    `create or replace function away.sees(int) returns boolean stable language sql as 'select ${random.pick(['true', 'false'])}'`,
    `comment on schema lib is '@graphql({"inflect_names": ${random.chance(0.5)}, "introspection": true})'`,
    `alter type more.mood add value if not exists 'm${name}'`,
    `create type more.e${name} as enum ('a')`,
    `alter role ${role} in database ${database.name} set statement_timeout = '${random.int(1, 9)}s'`,
    `revoke usage on schema more from ${role}`,
    `grant usage on schema more to ${role}`,
    `comment on function lib.shout is '${random.pick(directives)}'`,
    `alter domain away.money set default 1`,
  ]; // biome-ignore format: a list of statements
  return random.pick(random.chance(0.9) ? often : rarely);
}

/** Everything that a model can ask of a catalog. */
function contentOf(catalog: Catalog) {
  const { tables, foreignKeys, routines, enums, domains, composites, namespaces, preRequest, trustsExtensions } =
    catalog;
  const said = (...address: Parameters<Catalog['comment']>) => [
    catalog.comment(...address),
    catalog.directive(...address),
  ];
  return {
    foreignKeys,
    preRequest,
    trustsExtensions,
    namespaces: namespaces.map(plain),
    routines: routines.map(plain),
    types: [...enums, ...domains, ...composites].map((type) => [
      type.typname,
      type.getEnumValues(),
      type.getAttributes(),
      said('type', type._id),
    ]),
    comments: [
      ...namespaces.map(({ _id }) => said('namespace', _id)),
      ...foreignKeys.map(({ _id }) => said('constraint', _id)),
      ...routines.map(({ _id }) => said('routine', _id)),
    ],
    tables: tables.map((table) => {
      return {
        ...plain(table),
        getAttributes: table
          .getAttributes()
          .map((column) => [column, catalog.type(column.atttypid)?.typname, said('column', table._id, column.attnum)]),
        getConstraints: table.getConstraints(),
        getIndexes: table.getIndexes(),
        getBase: table.getBase(),
        said: said('table', table._id),
        isFound: catalog.table(table._id) === table,
      };
    }),
    access: roles.map((role) => accessOf(catalog, catalog.roles.get(role)!)),
  };
}

/** Without the number of its access list, which is of one reading. */
function plain(row: object): object {
  const { list, ...rest } = { list: 0, ...row };
  return rest;
}

function accessOf({ tables, routines, namespaces }: Catalog, access: RoleAccess) {
  return {
    settings: [...access.settings],
    namespaces: namespaces.map(({ _id }) => access.usesNamespace(_id)),
    routines: routines.map(({ _id }) => access.executes(_id)),
    tables: tables.map(({ _id, getAttributes }) => [
      (['select', 'insert', 'update', 'delete'] as const).map((privilege) => access.hasTable(_id, privilege)),
      getAttributes().map(({ attnum, atttypid }) => [
        ...(['select', 'insert', 'update'] as const).map((privilege) => access.hasColumn(_id, attnum, privilege)),
        access.usesType(atttypid),
      ]),
    ]),
  };
} // biome-ignore format: lines of lists
