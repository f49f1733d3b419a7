/**
 * Privileges are computed from access lists and memberships. They are what PostgreSQL's own inquiry functions say, for roles, grants
 * and memberships made at random.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { readCatalog } from '../../src/graphql/catalog/read-catalog.ts';
import { createDatabase } from '../support/postgres.ts';
import { systemPool } from '../support/read-model.ts';

const database = await createDatabase();
const pool = systemPool(database.url);
const [server] = await database.query<{ version: number }>(
  "select current_setting('server_version_num')::int as version",
);
const roles = Array.from({ length: 8 }, (_, index) => `priv${index}_${database.name}`);

afterAll(async () => {
  await database.query(`alter database ${database.name} owner to current_user`);
  for (const role of roles) await database.query(`drop owned by ${role} cascade; drop role ${role}`);
});

/** Numbers that look random and are the same for the same seed. */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const schema = (schema: string) => `
  create schema ${schema};
  create type ${schema}.mood as enum ('calm', 'wild');
  create domain ${schema}.code as text;
  create type ${schema}.span as range (subtype = int4${server!.version >= 140_000 ? `, multirange_type_name = ${schema}.spans` : ''});
  revoke usage on type ${schema}.span from public;
  create table ${schema}.t0 (id int primary key, mood ${schema}.mood, moods ${schema}.mood[], code ${schema}.code);
  create table ${schema}.t1 (id int primary key, span ${schema}.span, spans ${schema}.spans, many ${schema}.spans[]);
  create view ${schema}.t2 as select id, mood from ${schema}.t0;
  create function ${schema}.f0(a int) returns int stable language sql as 'select a';
  create function ${schema}.f1(a ${schema}.code[]) returns setof ${schema}.t0 stable language sql as 'select * from ${schema}.t0';
  create procedure ${schema}.f2() language sql as 'select 1';`;
const columns = {
  t0: ['id', 'mood', 'moods', 'code'],
  t1: ['id', 'span', 'spans', 'many'],
  t2: ['id', 'mood'],
} as const;
const functions = ['function SCHEMA.f0(int)', 'function SCHEMA.f1', 'procedure SCHEMA.f2()'] as const;
const predefined = ['pg_read_all_data', 'pg_write_all_data', 'pg_database_owner', 'pg_monitor'] as const;

/** Statements that change who may do what; some are refused (circles of roles, the last privileges of an owner), which changes nothing. */
function changes(random: (below: number) => number, namespace: string): readonly string[] {
  const pick = <T>(from: readonly T[]): T => from[random(from.length)]!;
  const role = () => pick(roles);
  const grantee = () => (random(5) === 0 ? pick(['public', 'pg_database_owner']) : role());
  const given = (what: string, of: string) => {
    const to = grantee();
    const option = to !== 'public' && random(4) === 0 ? ' with grant option' : '';
    return random(3) === 0 ? `revoke ${what} on ${of} from ${to} cascade` : `grant ${what} on ${of} to ${to}${option}`;
  };
  const makers = [
    () => given(pick(['usage', 'create', 'all']), `schema ${namespace}`),
    () => given(pick(['select', 'insert', 'update', 'delete', 'truncate', 'all']), `table ${namespace}.${pick(Object.keys(columns))}`),
    () => {
      const table = pick(Object.keys(columns) as (keyof typeof columns)[]);
      return given(`${pick(['select', 'insert', 'update', 'references', 'all'])} (${pick<string>(columns[table])})`, `table ${namespace}.${table}`);
    },
    () => given('execute', pick(functions).replaceAll('SCHEMA', namespace)),
    () => given('usage', `${pick([`type ${namespace}.mood`, `domain ${namespace}.code`, `type ${namespace}.span`])}`),
    () => given('usage', `type ${namespace}.spans`),
    () => `alter table ${namespace}.${pick(['t0', 't1'])} owner to ${role()}`,
    () => `alter view ${namespace}.t2 owner to ${role()}`,
    () => `alter schema ${namespace} owner to ${role()}`,
    () => `alter type ${namespace}.mood owner to ${role()}`,
    () => `alter ${pick(functions).replaceAll('SCHEMA', namespace)} owner to ${role()}`,
    () => `alter role ${role()} ${pick(['inherit', 'noinherit'])}`,
    () => `alter role ${role()} ${pick(['superuser', 'nosuperuser', 'nosuperuser', 'nosuperuser'])}`,
    () => `${random(3) === 0 ? `revoke ROLE from` : `grant ROLE to`} ${role()}`.replace('ROLE', random(6) === 0 ? pick(predefined) : role()),
    () => {
      const option = pick(['inherit true', 'inherit false', 'set false', 'admin true']);
      return server!.version >= 160_000 ? `grant ${role()} to ${role()} with ${option}` : `grant ${role()} to ${role()} with admin option`;
    },
    () => `alter database ${database.name} owner to ${role()}`,
    () => `alter default privileges in schema ${namespace} grant select on tables to ${role()}`,
    () => `revoke all on ${pick([`table ${namespace}.t0`, `schema ${namespace}`])} from ${role()}`,
  ];
  return Array.from({ length: 90 }, () => pick(makers)());
} // biome-ignore format: a list of statements

/** Few of them, or everybody would be allowed everything through somebody. */
const noMemberships = `do $$
  declare held record;
  begin
    for held in select m.roleid::regrole as role, m.member::regrole as member from pg_auth_members m
      where m.member::regrole::text like '%${database.name}'
    loop
      execute format('revoke %s from %s cascade', held.role, held.member);
    end loop;
  end $$`;

interface Said {
  readonly role: string;
  readonly kind: string;
  readonly oid: string;
  readonly number: number;
  readonly privilege: string;
  readonly granted: boolean;
}

/** What PostgreSQL says of every role, object and privilege. */
const inquiry = `
  select r.rolname as role, q.kind, q.oid::text, q.number, q.privilege, q.granted
  from pg_roles r cross join lateral (
    select 'namespace', n.oid, 0, 'usage', has_schema_privilege(r.oid, n.oid, 'usage') from pg_namespace n where n.nspname = $2
    union all
    select 'table', c.oid, 0, p.name, has_table_privilege(r.oid, c.oid, p.name)
    from pg_class c, unnest('{select,insert,update,delete}'::text[]) p (name)
    where c.relnamespace = $2::regnamespace and c.relkind in ('r', 'v')
    union all
    select 'column', a.attrelid, a.attnum, p.name, has_column_privilege(r.oid, a.attrelid, a.attnum, p.name)
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0, unnest('{select,insert,update}'::text[]) p (name)
    where c.relnamespace = $2::regnamespace and c.relkind in ('r', 'v')
    union all
    select 'routine', f.oid, 0, 'execute', has_function_privilege(r.oid, f.oid, 'execute') from pg_proc f
    where f.pronamespace = $2::regnamespace and f.prosrc <> ''
    union all
    select 'type', t.oid, 0, 'usage', has_type_privilege(r.oid, t.oid, 'usage') from pg_type t where t.oid::text = any ($3)
  ) q (kind, oid, number, privilege, granted)
  where r.rolname = any ($1)`;

describe.each([1, 2, 3, 4, 5, 6, 7, 8])('grants and memberships of seed %i', (seed) => {
  test('privileges are computed as PostgreSQL does', async () => {
    const random = generator(seed * 7919);
    const namespace = `s${seed}`;
    await database.query(
      roles
        .map(
          (role) => `do $$ begin create role ${role}; exception when duplicate_object then end $$;
          alter role ${role} nosuperuser inherit;`,
        )
        .join(''),
    );
    await database.query(noMemberships);
    await database.query(schema(namespace));
    const made = changes(random, namespace);
    const owner = `alter database ${database.name} owner to ${roles[seed % roles.length]}`;
    for (const change of [...made, owner, `grant insert on ${namespace}.t1 to pg_database_owner`]) {
      await database.query(change).catch(() => {});
    }

    const catalog = await readCatalog(pool, [namespace]);
    const used = [...new Set(catalog.tables.flatMap((table) => table.getAttributes().map(({ atttypid }) => atttypid)))];
    const asked = ['anon', 'service_role', ...roles];
    const said = await database.query<Said>(inquiry, [asked, namespace, used]);
    const computed = ({ role, kind, oid, number, privilege }: Said): boolean => {
      const access = catalog.roles.get(role)!;
      if (kind === 'namespace') return access.usesNamespace(oid);
      if (kind === 'table') return access.hasTable(oid, privilege as 'select');
      if (kind === 'column') return access.hasColumn(oid, number, privilege as 'select');
      return kind === 'routine' ? access.executes(oid) : access.usesType(oid);
    };
    expect(said.filter((each) => computed(each) !== each.granted)).toEqual([]);
    // The test would be worth nothing where everybody may do everything, or nothing.
    for (const kind of ['table', 'column', 'routine', 'type']) {
      const answers = said.filter((each) => each.kind === kind).map(({ granted }) => granted);
      expect([kind, answers.includes(true)]).toEqual([kind, true]);
    }
    expect(said.some(({ granted }) => !granted)).toBe(true);
  });
});
