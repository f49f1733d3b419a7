/**
 * A tenant who may create schemas, or roles, takes the names of the gateway before the operator comes, or while `init` runs. `init` looks
 * at what it uses in the transaction that uses it, and trusts nothing for its name. Checked is what the tenant may do afterwards.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { inOwnSchemas } from '../../src/postgres/migrations/own-schemas.ts';
import type { Queryable } from '../../src/postgres/system/queryable.ts';
import { loadSqlFile } from '../../src/postgres/system/sql-file.ts';
import { runCommand } from '../commands/run-command.ts';
import { usePool } from '../management/management.ts';
import { testGateway } from '../support/gateway.ts';
import { anonKey } from '../support/http.ts';
import { createDatabase, fixture } from '../support/postgres.ts';

// A busy machine takes its time for the tables of users.
vi.setConfig({ testTimeout: 120_000 });

/** The fixed key of our lock, which every login may take. */
const lockKey = '34748012344437256';

/** A database with a tenant, and names of roles that no other test has. */
async function makeWorld() {
  const mark = randomBytes(4).toString('hex');
  const [tenant, anon, user, robot, login, auth, owner] = [
    'tenant',
    'anon',
    'user',
    'robot',
    'login',
    'auth',
    'owner',
  ].map((kind) => `${kind}_${mark}`) as [string, string, string, string, string, string, string];
  const database = await createDatabase(
    `create role ${tenant} login createrole password 'test'`,
    `create table diary (line text); alter table diary enable row level security; insert into diary values ('secret')`,
  );
  await database.query(`grant create on database ${database.name} to ${tenant}`);
  const roles = [anon, user, robot, login, auth, owner, tenant];
  onTestFinished(async () => {
    const existing = await database.query<{ rolname: string }>(
      'select rolname from pg_roles where rolname = any ($1)',
      [roles],
    );
    for (const { rolname } of existing) await database.query(`drop owned by ${rolname} cascade`);
    await database.query(existing.map(({ rolname }) => `drop role ${rolname};`).join(' '));
  });
  const flags = ['--anon-role', anon, '--authenticated-role', user, '--service-role', robot, '--login-role', login];
  const init = (url: string, ...args: readonly string[]) =>
    runCommand(['init', '--database-url', url, ...flags, '--auth-role', auth, ...args]);
  return {
    database,
    tenant,
    anon,
    user,
    robot,
    login,
    auth,
    owner,
    init: (...args: readonly string[]) => init(database.url, ...args),
    initAs: (role: string, ...args: readonly string[]) => init(database.urlAs(role, 'test'), ...args),
    /** A connection of a login. */
    async connect(role: string, password = 'test'): Promise<pg.Client> {
      const client = new pg.Client({ connectionString: database.urlAs(role, password) });
      await client.connect();
      onTestFinished(() => client.end());
      return client;
    },
    async isSuperuser(): Promise<boolean> {
      const [row] = await database.query<{ rolsuper: boolean }>(
        `select rolsuper from pg_roles where rolname = '${tenant}'`,
      );
      return row!.rolsuper;
    },
    /** Tables on which a role has rights. */
    async rightsOf(role: string): Promise<readonly string[]> {
      const rows = await database.query<{ name: string }>(
        `select c.relname as name from pg_class c cross join aclexplode(c.relacl) a join pg_roles r on r.oid = a.grantee
        where r.rolname = $1`,
        [role],
      );
      return rows.map(({ name }) => name);
    },
    /** Rows of a table that no policy opens, as the login reads them, directly or as a role that it may become. */
    async rowsRead(by: string, as: string): Promise<number> {
      const client = new pg.Client({ connectionString: database.urlAs(by, 'test') });
      await client.connect();
      try {
        await client.query(`grant ${as} to ${by}`).catch(() => {});
        await client.query(`set role ${as}`);
        return (await client.query('select line from public.diary')).rows.length;
      } catch {
        return 0;
      } finally {
        await client.end();
      }
    },
  };
}

/** What runs as whoever reads the bookkeeping of the migrations, and says that all are applied. */
function trap(tenant: string): string {
  return `create function auth.seize() returns boolean language plpgsql as $$ begin
      if (select rolsuper from pg_roles where rolname = current_user) then alter role ${tenant} superuser; end if;
      return true;
    end $$;
    create view auth.pgreflect_migrations as select v as version, ''::text as title from generate_series(1, 99) v where auth.seize();
    grant usage on schema auth to public; grant select on auth.pgreflect_migrations to public`;
}

/** Waits until a statement of our commands waits for a lock. */
async function untilWaiting(client: pg.Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query(`select from pg_locks where not granted and locktype = 'advisory'
      and database = (select oid from pg_database where datname = current_database())`);
    if (rows.length > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Waits until a statement of another connection waits for this one. */
async function untilBlockedBy(client: pg.Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query(
      'select from pg_locks where not granted and pg_backend_pid() = any (pg_blocking_pids(pid))',
    );
    if (rows.length > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe('a tenant does not become superuser by `init --auth`', () => {
  test('by a schema that comes while it waits for a lock which every login may take', async () => {
    const world = await makeWorld();
    const client = await world.connect(world.tenant);
    await client.query(`select pg_advisory_lock(${lockKey})`);
    const running = world.init('--auth');
    await untilWaiting(client);
    await client.query(`begin; create schema auth; ${trap(world.tenant)}; commit`);
    await client.query(`select pg_advisory_unlock(${lockKey})`);
    const { code, out } = await running;
    expect(await world.isSuperuser()).toBe(false);
    expect(code).toBe(1);
    expect(out).toContain(`belongs to the role "${world.tenant}"`);
    // Nothing goes on where the tables were refused.
    expect(await world.database.query('select from pg_roles where rolname = $1', [world.auth])).toEqual([]);
  });

  test('by a schema of a role with the name of the original service, which they made', async () => {
    const world = await makeWorld();
    const client = await world.connect(world.tenant);
    // Roles belong to the whole server, so the test has a name of its own. The look knows none.
    expect(loadSqlFile('own-schemas.sql')).not.toContain('supabase');
    await client.query(`create role ${world.owner}; grant ${world.owner} to ${world.tenant}`);
    await client.query(`create schema auth; ${trap(world.tenant)}`);
    for (const object of ['schema auth', 'view auth.pgreflect_migrations'])
      await world.database.query(`alter ${object} owner to ${world.owner}`);
    const { code, out } = await world.init('--auth');
    expect(await world.isSuperuser()).toBe(false);
    expect(code).toBe(1);
    expect(out).toContain(`belongs to the role "${world.owner}"`);
    expect(out).toContain(`--adopt-role ${world.owner},${world.tenant}`);
  });

  test('by a view in the place of a table, whoever owns it, adopted or not', async () => {
    const world = await makeWorld();
    await world.database.query(`create schema auth; ${trap(world.tenant)}`);
    for (const args of [[], ['--adopt-role', world.tenant]]) {
      const { code, out } = await world.init('--auth', ...args);
      expect(await world.isSuperuser()).toBe(false);
      expect([code, out]).toEqual([1, expect.stringContaining('auth.pgreflect_migrations is not a plain table')]);
    }
  });

  test('by a trigger or a policy on a table of ours', async () => {
    const world = await makeWorld();
    expect((await world.init('--auth')).code).toBe(0);
    const seize = `create function public.seize() returns trigger language plpgsql as $$ begin
      alter role ${world.tenant} superuser; return new; end $$`;
    await world.database.query(`grant usage on schema auth to ${world.tenant}; grant create on schema public to ${world.tenant};
      grant trigger on auth.pgreflect_migrations to ${world.tenant}`);
    const client = await world.connect(world.tenant);
    await client.query(`${seize};
      create trigger seize before insert on auth.pgreflect_migrations for each row execute function public.seize()`);
    await world.database.query('delete from auth.pgreflect_migrations where version > 3');
    const { code, out } = await world.init('--auth');
    expect(await world.isSuperuser()).toBe(false);
    expect([code, out]).toEqual([1, expect.stringContaining('auth.pgreflect_migrations is not a plain table')]);
  });

  test('by a right to create objects in the schema', async () => {
    const world = await makeWorld();
    await world.database.query(`create schema auth; grant create on schema auth to ${world.tenant}`);
    const { code, out } = await world.init('--auth');
    expect([code, out]).toEqual([1, expect.stringContaining('may create objects in the schema auth')]);
    await world.database.query(
      `revoke create on schema auth from ${world.tenant}; grant create on schema auth to public`,
    );
    expect((await world.init('--auth')).out).toContain('revoke create on schema auth from public');
  });
});

test('the schema of the original service, which has an owner with members, is adopted where the operator says so', async () => {
  const world = await makeWorld();
  await world.database.query(fixture('auth-original.sql'));
  await world.database.query(`create role ${world.owner} login; grant ${world.owner} to ${world.tenant};
    alter schema auth owner to ${world.owner}; grant create on schema auth to ${world.tenant};
    do $body$ declare thing text; begin
      for thing in select format('table %s', c.oid::regclass) from pg_class c where c.relnamespace = 'auth'::regnamespace and c.relkind = 'r'
        union all select format('routine %s', p.oid::regprocedure) from pg_proc p where p.pronamespace = 'auth'::regnamespace
        union all select format('type %s', t.oid::regtype) from pg_type t where t.typnamespace = 'auth'::regnamespace and t.typtype = 'e'
      loop execute format('alter %s owner to ${world.owner}', thing); end loop;
    end $body$`);
  const adopt = `--adopt-role ${world.owner},${world.tenant}`;
  const refused = await world.init('--auth');
  expect([refused.code, refused.out]).toEqual([1, expect.stringContaining(adopt)]);
  expect((await world.init('--auth', ...adopt.split(' '))).code).toBe(0);
  expect((await world.init('--auth', ...adopt.split(' '))).out).toContain('unchanged  tables of the auth service');

  const list = (...args: readonly string[]) =>
    runCommand(['tokens', 'list', '--database-url', world.database.url, ...args]);
  expect((await list()).err).toContain(adopt);
  expect((await list(...adopt.split(' '))).code).toBe(0);
  const signUp = async (adoptRole: readonly string[] | null) => {
    const { url } = await testGateway(world.database, { adoptRole });
    const answer = await fetch(`${url}/auth/v1/signup`, { method: 'POST', headers: { apikey: anonKey }, body: '{}' });
    return ((await answer.json()) as { readonly error_code?: string }).error_code;
  };
  expect(await signUp(null)).toBe('feature_disabled');
  expect(await signUp([world.owner, world.tenant])).not.toBe('feature_disabled');
});

describe('roles that a tenant has made before', () => {
  test('roles that a tenant has made before get nothing from `init`, which names whoever may act as them', async () => {
    const world = await makeWorld();
    const client = await world.connect(world.tenant);
    await client.query(`create role ${world.robot}; grant ${world.robot} to ${world.tenant}`);
    const { code, err } = await world.init('--grant-defaults');
    expect(await world.rowsRead(world.tenant, world.robot)).toBe(0);
    expect(code).toBe(1);
    expect(err).toContain(`The role "${world.robot}" exists, and "${world.tenant}" may act as it`);
    // Before anything is done.
    expect(await world.database.query('select from pg_roles where rolname = $1', [world.anon])).toEqual([]);
  });

  test('the login likewise, through which they would be all others, and the login of the auth service', async () => {
    const world = await makeWorld();
    const client = await world.connect(world.tenant);
    await client.query(`create role ${world.login} login password 'test'; grant ${world.login} to ${world.tenant}`);
    expect((await world.init('--grant-defaults')).code).toBe(1);
    expect(await world.rowsRead(world.login, world.robot)).toBe(0);
    await world.database.query(`drop role ${world.login}`);

    await client.query(`create role ${world.auth} login password 'test'; grant ${world.auth} to ${world.tenant}`);
    const { code, out } = await world.init('--auth');
    expect([code, out]).toEqual([1, expect.stringContaining(`"${world.tenant}" may act as it`)]);
    const [row] = await world.database.query<{ may: boolean }>(
      `select has_table_privilege($1, 'auth.users', 'select') or has_schema_privilege($1, 'auth', 'usage') as may`,
      [world.auth],
    );
    expect(row).toEqual({ may: false });
  });

  test('roles that a tenant has made before get nothing from `init` either if they come while it runs, and go by another name when it looks', async () => {
    const world = await makeWorld();
    await world.database.query(`grant create on schema public to ${world.tenant}`);
    const [maker, holder] = [await world.connect(world.tenant), await world.connect(world.tenant)];
    // The name is not there at the first look, and `init` waits for it. Then it waits for the row of a table that is the tenant's.
    await maker.query(`begin; create role ${world.robot}; grant ${world.robot} to ${world.tenant}`);
    await holder.query('create table public.bait (id int)');
    await holder.query('begin; grant select on public.bait to public');
    const running = world.init('--grant-defaults');
    await untilBlockedBy(maker);
    await maker.query('commit');
    const ended = running.then(() => 'ended');
    if ((await Promise.race([untilBlockedBy(holder), ended])) !== 'ended')
      await maker.query(`alter role ${world.robot} rename to ${world.owner}`);
    await holder.query('rollback');
    expect((await running).code).toBe(1);
    expect(await world.rowsRead(world.tenant, world.owner)).toBe(0);
    expect(await world.rightsOf(world.owner)).toEqual([]);
  });

  test('roles that a tenant has made before are adopted where the operator says so', async () => {
    const world = await makeWorld();
    const client = await world.connect(world.tenant);
    await client.query(`create role ${world.robot}; grant ${world.robot} to ${world.tenant}`);
    expect((await world.init('--adopt-role', `other,${world.robot}`)).code).toBe(0);
    // Nothing is missing, so nothing is refused.
    expect((await world.init()).code).toBe(0);
    await world.database.query('create table later (id int)');
    expect((await world.init('--grant-defaults')).code).toBe(1);
  });

  test('an operator who is no superuser runs `init` twice: whoever creates a role administers it', async () => {
    const world = await makeWorld();
    await world.database.query(
      `alter schema public owner to ${world.tenant}; alter table diary owner to ${world.tenant}`,
    );
    expect((await world.initAs(world.tenant, '--auth')).code).toBe(0);
    await world.database.query(`create table later (id int); alter table later owner to ${world.tenant}`);
    const again = await world.initAs(world.tenant, '--auth', '--grant-defaults');
    expect([again.code, again.err]).toEqual([0, '']);
  });
});

describe('what a login holds stops us for a limited time, and the error names the login', () => {
  test.each([
    ['the lock whose key is known', `select pg_advisory_lock(${lockKey})`],
    ['a name that is not committed', 'begin; create schema pgreflect'],
  ])('%s', async (_what, hold) => {
    const world = await makeWorld();
    const client = await world.connect(world.tenant);
    await client.query(hold);
    const own = { schemas: ['pgreflect'], tables: [], adoptedRoles: [] } as const;
    const make = (tx: Queryable) => tx.query('create schema pgreflect');
    await usePool(world.database, async (pool) => {
      await expect(inOwnSchemas(pool, own, make, 100)).rejects.toThrow(
        new RegExp(`another connection held a lock for 0\\.1 s\\. Held by \\d+ of "${world.tenant}"`),
      );
    });
  });
});
