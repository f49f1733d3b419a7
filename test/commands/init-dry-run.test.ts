/**
 * The script of `init --dry-run`, for people who run SQL by hand: it leaves what `init` itself leaves, compared object by object, on a
 * server that has none of the roles.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { runCommand } from './run-command.ts';

const mark = randomBytes(4).toString('hex');
const roles = ['anon', 'authenticated', 'service', 'login', 'auth'].map((kind) => [
  `--${kind}-role`,
  `${kind} ${mark}`,
]);

const content = `create table note (id bigint generated always as identity primary key, body text);
  create function shout(text) returns text language sql immutable as 'select upper($1)';`;

const acl = (list: string, kind: string, owner: string) => `(
  select string_agg(format('%s=%s%s', coalesce(r.rolname, 'public'), e.privilege_type, case when e.is_grantable then '*' end), ' '
    order by r.rolname, e.privilege_type)
  from aclexplode(coalesce(${list}, acldefault('${kind}', ${owner}))) e left join pg_roles r on r.oid = e.grantee)`;

/** A line for everything in the database that a person or `init` has made, and for the roles. */
const description = `
  with own as (select n.* from pg_namespace n where n.nspname !~ '^pg_' and n.nspname <> 'information_schema')
  select format('schema %s of %s: %s', n.nspname, n.nspowner::regrole, ${acl('n.nspacl', 'n', 'n.nspowner')}) as line from own n
  union all
  select format('%s %s of %s, rows %s: %s', c.relkind, c.oid::regclass, c.relowner::regrole, c.relrowsecurity,
    ${acl('c.relacl', 'r', 'c.relowner')})
  from pg_class c join own n on n.oid = c.relnamespace where c.relkind <> 'i'
  union all
  select format('column %s.%s %s %s: %s', a.attrelid::regclass, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attacl)
  from pg_attribute a join pg_class c on c.oid = a.attrelid join own n on n.oid = c.relnamespace
  where a.attnum > 0 and not a.attisdropped
  union all
  select pg_get_indexdef(i.indexrelid) from pg_index i join pg_class c on c.oid = i.indexrelid join own n on n.oid = c.relnamespace
  union all
  select format('%s: %s', s.conrelid::regclass, pg_get_constraintdef(s.oid)) from pg_constraint s join own n on n.oid = s.connamespace
  union all
  select format('%s of %s: %s', pg_get_functiondef(p.oid), p.proowner::regrole, ${acl('p.proacl', 'f', 'p.proowner')})
  from pg_proc p join own n on n.oid = p.pronamespace
  union all
  select format('type %s: %s', t.oid::regtype, t.typacl) from pg_type t join own n on n.oid = t.typnamespace
  union all
  select pg_get_triggerdef(t.oid) from pg_trigger t where not t.tgisinternal
  union all
  select format('event trigger %s %s %s', e.evtname, e.evtenabled, e.evttags) from pg_event_trigger e
  union all
  select format('policy %s on %s to %s: %s %s', p.polname, p.polrelid::regclass, p.polroles::regrole[],
    pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid)) from pg_policy p
  union all
  select format('new %s of %s in %s: %s', d.defaclobjtype, d.defaclrole::regrole, d.defaclnamespace::regnamespace, d.defaclacl)
  from pg_default_acl d
  union all
  select format('comment %s: %s', pg_describe_object(d.classoid, d.objoid, d.objsubid), d.description)
  from pg_description d join own n on d.classoid = 'pg_class'::regclass and d.objoid in (select oid from pg_class where relnamespace = n.oid)
  union all
  select format('role %s %s', r.rolname, (to_jsonb(a) - 'oid' - 'rolname' - 'rolpassword')
    || jsonb_build_object('password', left(a.rolpassword, 14), 'of', (
      select jsonb_agg(jsonb_build_array(m.roleid::regrole, m.admin_option) order by m.roleid::regrole::text)
      from pg_auth_members m where m.member = r.oid)))
  from pg_roles r join pg_authid a on a.oid = r.oid where r.rolname ~ '${mark}'
  union all
  select format('setting of %s: %s', s.setrole, s.setconfig) from pg_db_role_setting s join pg_database d on d.oid = s.setdatabase
  where d.datname = current_database()
  order by 1`;

async function describe(database: TestDatabase): Promise<readonly string[]> {
  const rows = await database.query<{ line: string }>(description);
  const migrations = (await database.query('select to_regclass($1) as name', ['auth.pgreflect_migrations']))[0]!.name;
  const applied =
    migrations === null ? [] : await database.query('select version, title from auth.pgreflect_migrations order by 1');
  return [...rows.map(({ line }) => line), ...applied.map((row) => JSON.stringify(row))];
}

/** As a person does: with psql where the machine has it. */
async function runScript(database: TestDatabase, script: string): Promise<void> {
  const hasPsql = spawnSync('psql', ['--version']).status === 0;
  if (!hasPsql) await database.query(script);
  else execFileSync('psql', ['-X', '-q', '-o', '/dev/null', '-v', 'ON_ERROR_STOP=1', database.url], { input: script });
}

async function init(database: TestDatabase, ...args: readonly string[]): Promise<string> {
  const { code, out, err } = await runCommand(['init', '--database-url', database.url, ...roles.flat(), ...args]);
  expect([code, err]).toEqual([0, '']);
  return out;
}

test.each(['--auth', '--auth --watch --grant-defaults', '--watch'])(
  'init %s --dry-run prints what makes of an empty server exactly what init makes of it',
  async (flags) => {
    const [byInit, byHand] = [await createDatabase(content), await createDatabase(content)];
    onTestFinished(async () => void (await init(byHand, '--remove')));
    const args = [...flags.split(' '), '--login-password', 'one', '--auth-role-password', 'two'];
    await init(byInit, ...args);
    const expected = await describe(byInit);
    expect(expected.filter((line) => line.startsWith('role ')).length).toBeGreaterThan(3);
    await init(byInit, '--remove');
    await runScript(byHand, await init(byHand, ...args, '--dry-run'));
    expect(await describe(byHand)).toEqual(expected);
  },
);
