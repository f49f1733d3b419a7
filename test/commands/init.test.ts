import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { programs } from '../support/bundle-programs.ts';
import { findFreePort } from '../support/free-port.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { runCommand, runProcess, temporaryDirectory } from './run-command.ts';

// A busy machine takes its time for the tables of users.
vi.setConfig({ testTimeout: 240_000 });

// Roles belong to the whole server, so this file has its own.
const mark = randomBytes(4).toString('hex');
const roles = {
  anon: `anon_${mark}`,
  authenticated: `user_${mark}`,
  service: `robot ${mark}`,
  login: `login_${mark}`,
  auth: `auth_${mark}`,
};
const flags = [
  ...['--anon-role', roles.anon, '--authenticated-role', roles.authenticated],
  ...['--service-role', roles.service, '--login-role', roles.login, '--auth-role', roles.auth],
];

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase(`
    create table open_note (id int primary key);
    create table own_note (id int primary key, owner text);
    alter table own_note enable row level security;
    create view note_view as select id from own_note;
    create schema "Second Shop";
  `);
});

function init(...args: readonly string[]) {
  return runCommand(['init', '--database-url', database.url, ...flags, ...args]);
}

/** As `init` prints the connection of a login that existed. */
function connectionOf(login: string): string {
  return database.url.replace(/(?<=\/\/)[^@]*/, `${login}:PASSWORD`);
}

async function existingRoles(): Promise<readonly string[]> {
  const rows = await database.query<{ rolname: string }>(
    'select rolname from pg_roles where rolname = any ($1) order by 1',
    [Object.values(roles)],
  );
  return rows.map(({ rolname }) => rolname);
}

afterAll(async () => {
  await init('--remove');
});

describe('init', () => {
  test('--dry-run prints the SQL and changes nothing', async () => {
    const { code, out } = await init('--dry-run', '--watch');
    expect(code).toBe(0);
    expect(out).toContain(`create role ${roles.anon} nologin noinherit;`);
    expect(out).toContain(`create role "${roles.service}" nologin noinherit bypassrls;`);
    expect(out).toContain('create event trigger pgreflect_ddl');
    expect(await existingRoles()).toEqual([]);
  });

  test('--dry-run creates no random password', async () => {
    const { out } = await init('--dry-run', '--auth');
    for (const role of [roles.login, roles.auth]) {
      expect(out).toContain(`create role ${role} login noinherit;`);
      expect(out).toContain(`-- Then give it a password, in psql: \\password ${role}`);
    }
    expect(out).not.toContain('SCRAM-SHA-256');
    const given = await init('--dry-run', '--auth', '--login-password', 'one', '--auth-role-password', 'two');
    expect(given.out.match(/login noinherit password 'SCRAM-SHA-256\$/g)).toHaveLength(2);
  });

  test('--dry-run prints what a superuser can run instead', async () => {
    const own = await createDatabase();
    const { out } = await runCommand(['init', '--database-url', own.url, ...flags, '--auth', '--watch', '--dry-run']);
    await own.query(out);
    const again = await runCommand(['init', '--database-url', own.url, ...flags, '--auth', '--watch']);
    expect(again.out).not.toMatch(/^REFUSED/m);
    expect(again.out).toContain(`unchanged  "${roles.auth}" may use the tables of the auth service`);
    expect(await runCommand(['init', '--database-url', own.url, ...flags, '--remove'])).toMatchObject({ code: 0 });
    expect(await existingRoles()).toEqual([]);
  });

  test('tables in other schemas than the exposed are said, as serve does, also in the script', async () => {
    const own = await createDatabase(`create table one (id int primary key);
      create schema sales; create table sales.customer (id int primary key); create table sales.bill (id int primary key)`);
    const run = (...args: readonly string[]) => runCommand(['init', '--database-url', own.url, ...flags, ...args]);
    const lack =
      '2 tables are in schemas that the API does not expose: sales (2). ' +
      "Expose those that callers may use: --schemas 'public,sales'";
    for (const args of [[], ['--schemas', 'public']]) {
      const { out } = await run(...args, '--dry-run');
      expect(out).toContain(`\n-- ${lack}\n`);
      await own.query(out);
      expect((await run(...args)).out).toContain(`${lack}, also for \`pgreflect serve\`.`);
    }
    // Whoever chose other schemas than the usual one knows the rest.
    await own.query('create schema api; create table api.bill (id int primary key)');
    expect((await run('--schemas', 'api')).out).not.toContain('does not expose');
    await run('--remove');
  });

  test('the lines that it prints start a gateway with users, none of whose connections is a superuser’s', async () => {
    const own = await createDatabase('create table note (id int primary key)');
    const directory = temporaryDirectory();
    const prepared = ['init', '--database-url', own.url, ...flags, '--auth', '--watch', '--schemas', 'public'];
    const { out } = await runCommand(prepared);
    await own.query(`grant select on note to ${roles.anon}`);
    writeFileSync(join(directory, 'pgreflect'), `#!/bin/sh\nexec '${process.execPath}' '${programs().main}' "$@"\n`, {
      mode: 0o755,
    });
    const port = await findFreePort();
    const { HOME = '', PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
    const shell = spawn('sh', ['-euc', out.split('\nNext:\n')[1]!], {
      cwd: directory,
      env: { HOME, NODE_COMPILE_CACHE, PATH: `${directory}:${PATH}`, PGREFLECT_PORT: String(port) },
      detached: true,
      stdio: 'ignore',
    });
    const ended = once(shell, 'exit');
    onTestFinished(async () => {
      if (shell.exitCode === null) process.kill(-shell.pid!, 'SIGTERM');
      await ended;
      await runCommand(['init', '--database-url', own.url, ...flags, '--remove']);
    });
    const url = `http://localhost:${port}`;
    await expect
      .poll(() =>
        fetch(`${url}/ready`).then(
          ({ status }) => status,
          () => 0,
        ),
      )
      .toBe(200);
    const [, apikey = ''] = /ANON_KEY=(\S+)/.exec(readFileSync(join(directory, 'pgreflect.env'), 'utf8')) ?? [];
    const post = async (path: string, body: object) => {
      const headers = { apikey, 'content-type': 'application/json' };
      const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      return (await response.json()) as object;
    };
    const email = 'ana@mail.test';
    expect(await post('/auth/v1/signup', { email, password: 'a good password' })).toMatchObject({ email });
    const [user] = await own.query<{ email: string }>('select email from auth.users');
    expect(user).toEqual({ email });
    await own.query('update auth.users set email_confirmed_at = now()');
    const session = await post('/auth/v1/token?grant_type=password', { email, password: 'a good password' });
    expect(session).toMatchObject({ user: { email } });
    expect(await post('/graphql/v1', { query: '{ noteCollection { edges { node { id } } } }' })).toEqual({
      data: { noteCollection: { edges: [] } },
    });
    const logins = await own.query<{ usename: string }>(
      `select distinct usename from pg_stat_activity
       where datname = current_database() and application_name like 'pgreflect%' order by usename`,
    );
    expect(logins.map(({ usename }) => usename)).toEqual([roles.auth, roles.login]);
    const reach = `select has_table_privilege($1, 'note', 'select') as reads, has_database_privilege($1, current_database(), 'create') as makes,
      rolsuper or rolcreaterole or rolbypassrls as special from pg_roles where rolname = $1`;
    expect(await own.query(reach, [roles.auth])).toEqual([{ reads: false, makes: false, special: false }]);
    expect((await runCommand(prepared)).out).not.toMatch(/^done/m);
  });

  test('a first run makes roles, memberships, usage, and prints a connection that works', async () => {
    const { code, out } = await init('--schemas', 'public,Second Shop,nowhere');
    expect(code).toBe(0);
    expect(out).toContain(`done       role "${roles.anon}"`);
    const { auth: _, ...withoutAuth } = roles;
    expect(await existingRoles()).toEqual(Object.values(withoutAuth).sort());
    const connection = /postgresql:\/\/\S+/.exec(out)?.[0] ?? '';
    const password = new URL(connection).password;
    const [row] = await database.query<{ stored: string }>(
      'select rolpassword as stored from pg_authid where rolname = $1',
      [roles.login],
    );
    expect(row?.stored).toMatch(/^SCRAM-SHA-256\$/);
    expect(password).toHaveLength(32);
    const checked = await runCommand(['schema', '--role', roles.anon], { env: { DATABASE_URL: connection } });
    expect(checked.code).toBe(0);
  });

  test('the printed connection keeps any password, and a host that is a parameter', async () => {
    const login = `${roles.login}_2`;
    const { username, hostname, port, pathname } = new URL(database.url);
    const parameters = `host=${hostname}&port=${port}`;
    const given = ['--database-url', `postgresql://${pathname}?user=${username}&${parameters}`, '--login-role', login];
    const password = "it's 50%25 @/:?#";
    try {
      const env = { PGPASSWORD: decodeURIComponent(new URL(database.url).password) };
      // The driver reads PGPASSWORD of its process.
      const schemas = ['--schemas', 'public,nowhere'];
      // The first login may act as the API roles, too.
      const adopted = ['--adopt-role', roles.login];
      const options = [...flags.slice(0, 6), ...given, ...schemas, ...adopted, '--login-password', password];
      const { out } = await runProcess(['init', ...options], { env });
      // A schema that is not there is no next step.
      expect(out).toMatch(/^ {2}pgreflect serve --schemas 'public' /m);
      const [, connection = ''] = /export DATABASE_URL='([^']*)'/.exec(out) ?? [];
      expect(connection).toMatch(new RegExp(`^postgresql://${login}:[^@]+@${pathname}\\?${parameters}$`));
      const checked = await runCommand(['schema', '--role', roles.anon], { env: { DATABASE_URL: connection } });
      expect(checked).toMatchObject({ code: 0, err: '' });
    } finally {
      await database.query(`drop owned by ${login}; drop role ${login}`);
    }
  });

  test('a schema that does not exist is left out and said', async () => {
    const { err } = await init('--schemas', 'public,nowhere');
    expect(err).toContain('Skipped the schema "nowhere", which does not exist. To create it: create schema nowhere;');
    const typo = 'does not exist. Did you mean "public"? To create it:';
    expect((await init('--schemas', 'pubilc')).err).toContain(typo);
    expect((await init('--schemas', 'pubilc', '--dry-run')).err).toContain(typo);
  });

  test('a second run changes nothing, and prints the connections of the kept logins without passwords', async () => {
    const { code, out } = await init('--schemas', 'public,Second Shop');
    expect(code).toBe(0);
    expect(out).not.toMatch(/^done/m);
    expect(out).toContain(
      `The database is prepared. "${roles.login}" keeps its password:\n\n  ${connectionOf(roles.login)}`,
    );
  });

  test('--database-url on the command line wins over the admin connection in the environment', async () => {
    const nowhere = Object.assign(new URL(database.url), { port: '1' }).href;
    const env = { PGREFLECT_ADMIN_DATABASE_URL: nowhere, DATABASE_URL: nowhere };
    const typed = ['init', '--database-url', database.url, ...flags];
    expect(await runCommand(typed, { env })).toMatchObject({ code: 0 });
    const both = await runCommand([...typed, '--admin-database-url', nowhere]);
    expect(both.err).toContain('connection refused');
  });

  test('--grant-defaults lists a few of many tables without row security, and says how to see all', async () => {
    const own = await createDatabase(`
      select pg_catalog.set_config('search_path', 'public', false);
      do $$ begin for n in 1..25 loop execute format('create table t%s (id int primary key)', n); end loop; end $$;`);
    const { out } = await runCommand(['init', '--database-url', own.url, ...flags, '--grant-defaults']);
    expect(out.match(/row security is off/g)).toHaveLength(20);
    expect(out).toContain('  … and 5 more: `pgreflect check` lists them');
    await runCommand(['init', '--database-url', own.url, ...flags, '--remove']);
    await init();
  });

  test('--grant-defaults lists first what row security does not guard', async () => {
    const { code, out } = await init('--grant-defaults');
    expect(code).toBe(0);
    const [listed = '', ...done] = out.split('unchanged  role');
    expect(listed).toContain(
      'public.open_note (row security is off)\n    alter table public.open_note enable row level security;',
    );
    expect(listed).toContain("public.note_view (a view that runs with its owner's rights)");
    expect(listed).not.toContain('own_note');
    expect(done.join('')).toContain('done       all on tables of schema "public"');
  });

  test('--grant-defaults covers what is made later', async () => {
    await database.query('create table later_note (id int primary key)');
    const [row] = await database.query<{ may: boolean }>(
      `select has_table_privilege($1, 'later_note', 'insert') as may`,
      [roles.anon],
    );
    expect(row?.may).toBe(true);
    expect((await init('--grant-defaults')).out).not.toMatch(/^done/m);
  });

  test('--watch installs the trigger, readable for the login role', async () => {
    expect((await init('--watch')).out).toContain('done       schema-change trigger');
    expect((await init('--watch')).out).toContain('unchanged  schema-change trigger');
    const [row] = await database.query<{ may: boolean }>(
      `select has_table_privilege($1, 'pgreflect.catalog_change', 'select') as may`,
      [roles.login],
    );
    expect(row?.may).toBe(true);
  });

  test('--auth makes the tables of the auth service, and finds them there the next time', async () => {
    expect((await init('--auth', '--dry-run')).out).toContain('create table auth.users');
    const { out: first } = await init('--auth', '--schemas', 'public');
    expect(first).toContain('done       tables of the auth service');
    expect(first).toContain(`\n"${roles.login}" keeps its password: write it in place of PASSWORD.\n`);
    expect(first.split('\nNext:\n')[1]).toMatch(
      new RegExp(
        `export DATABASE_URL='\\S+//${roles.login}:PASSWORD@.*\\n.*//${roles.auth}:.*\\n  pgreflect serve --schemas 'public' `,
      ),
    );
    const { out } = await init('--auth');
    expect(out).toContain('unchanged  tables of the auth service');
    expect(out).toContain(`keep their passwords:\n\n  ${connectionOf(roles.login)}\n  ${connectionOf(roles.auth)}`);
    const [row] = await database.query<{ may: boolean }>(
      `select has_schema_privilege($1, 'auth', 'usage') and to_regclass('auth.users') is not null as may`,
      [roles.authenticated],
    );
    expect(row?.may).toBe(true);
  });

  test('--remove keeps the roles that something else needs, says what, and takes out the rest', async () => {
    const { anon, authenticated, service, login } = roles;
    const other = await createDatabase('create table elsewhere (id int primary key)');
    await other.query(`grant select on elsewhere to "${service}"`);
    await database.query(`grant create on schema public to ${authenticated};
      set role ${authenticated}; create table theirs (id int primary key); reset role;
      create policy mine on own_note for select to ${anon}; grant select on own_note to ${anon}`);
    const [{ name } = { name: '' }] = await other.query<{ name: string }>('select current_database() as name');
    const notes = [
      `The role "${anon}" stays, because it is: target of policy mine on table public.own_note. When that has changed: drop role ${anon}`,
      `The role "${authenticated}" stays, because it is: owner of table public.theirs. When that has changed: drop role ${authenticated}`,
      `The role "${service}" stays, because it is: used in database "${name}". When that has changed: drop role "${service}"`,
    ];
    const dry = await init('--remove', '--dry-run');
    for (const note of notes) expect(dry.out).toContain(`\n-- ${note}\n`);
    expect(dry.out).toContain(`drop role ${login};`);
    for (const role of [anon, authenticated, service])
      expect(dry.out).not.toMatch(new RegExp(`^drop role "?${role}`, 'm'));
    const { code, out } = await init('--remove');
    expect([code, out]).toEqual([0, expect.not.stringContaining('REFUSED')]);
    for (const note of notes) expect(out).toContain(`\n${note}`);
    expect((await existingRoles()).toSorted()).toEqual([anon, authenticated, service].toSorted());
    const [row] = await database.query<{ may: boolean }>(
      `select has_table_privilege($1, 'own_note', 'select') as may`,
      [anon],
    );
    expect(row?.may).toBe(false);
    await database.query('drop table theirs; drop policy mine on own_note');
    await other.query('drop table elsewhere');
  });

  test('--remove takes out everything, and a second time has nothing to do', async () => {
    expect((await init('--remove')).code).toBe(0);
    expect(await existingRoles()).toEqual([]);
    const again = await init('--remove');
    expect(again.code).toBe(0);
    expect(again.out).not.toMatch(/^done/m);
    const [row] = await database.query<{ left: number }>(
      `select count(*)::int as left from pg_namespace where nspname = 'pgreflect'`,
    );
    expect(row?.left).toBe(0);
    expect(await database.query('select from pg_event_trigger')).toEqual([]);
  });
});

describe('init by a role with CREATEROLE that is no superuser', () => {
  const admin = `admin_${mark}`;
  const asAdmin = (...args: readonly string[]) =>
    runCommand(['init', '--database-url', database.urlAs(admin, 'test'), ...flags, ...args]);

  beforeAll(async () => {
    await database.query(`create role ${admin} login createrole password 'test'`);
  });
  afterAll(async () => {
    await init('--remove');
    await database.query(`drop owned by ${admin}; drop role ${admin}`);
  });

  test('init by a role with CREATEROLE that is no superuser makes what it may, and says for the rest what a superuser has to run', async () => {
    const { code, out } = await asAdmin('--schemas', 'public,Second Shop', '--watch');
    expect(code).toBe(1);
    expect(out).toContain(`done       login role "${roles.login}"`);
    expect(out).toContain(`A superuser can: alter role "${roles.service}" bypassrls;`);
    expect(out).toContain('REFUSED    usage on schema "Second Shop"');
    expect(out).toContain(
      `grant usage on schema "Second Shop" to ${roles.anon}, ${roles.authenticated}, "${roles.service}";`,
    );
    expect(out).toContain('REFUSED    schema-change trigger');
  });

  test('--dry-run says beside the trigger that it needs a superuser, as the run does', async () => {
    const advice = /pgreflect init --watch .*--database-url CONNECTION_OF_A_SUPERUSER .*/;
    const [said] = advice.exec((await asAdmin('--watch')).out) ?? [];
    const { out } = await asAdmin('--watch', '--dry-run');
    expect(out).toContain(
      `\n-- "${admin}" is no superuser, which the schema-change trigger needs unless the provider allows it: ${said}\n`,
    );
    expect((await init('--watch', '--dry-run')).out).not.toMatch(advice);
  });

  test('a second run changes nothing', async () => {
    const { out } = await asAdmin();
    expect(out).not.toMatch(/^done/m);
  });

  test('init by a role with CREATEROLE that is no superuser can remove what it created', async () => {
    const { code, out } = await asAdmin('--remove');
    expect({ code, out }).toMatchObject({ code: 0 });
    expect(await existingRoles()).toEqual([]);
  });
});
