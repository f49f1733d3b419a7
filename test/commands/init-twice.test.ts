/**
 * Two people prepare a database with the same command: its owner, who has CREATEROLE, and a superuser for what the owner is refused.
 * Neither runs code of the other.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createDatabase } from '../support/postgres.ts';
import { runCommand } from './run-command.ts';

// A busy machine takes its time for the tables of users.
vi.setConfig({ testTimeout: 120_000 });

/** A database with a schema `shop` of its owner, who may create schemas and roles. */
async function makeWorld() {
  // Roles belong to the whole server, so each test has its own.
  const mark = randomBytes(4).toString('hex');
  const kinds = ['anon', 'authenticated', 'service', 'login', 'auth'] as const;
  const owner = `owner_${mark}`;
  const names = [owner, ...kinds.map((kind) => `${kind}_${mark}`)];
  const database = await createDatabase(`create role ${owner} login createrole password 'test'; create schema shop
    authorization ${owner}; set role ${owner}; create table shop.item (id int primary key); reset role`);
  await database.query(`grant create on database ${database.name} to ${owner}`);
  onTestFinished(async () => {
    const existing = await database.query<{ name: string }>(
      'select rolname as name from pg_roles where rolname = any ($1)',
      [names],
    );
    for (const { name } of existing) await database.query(`drop owned by ${name} cascade`);
    await database.query(existing.map(({ name }) => `drop role ${name};`).join(' '));
  });
  const command = ['init', '--auth', '--watch', '--schemas', 'shop', ...kinds.flatMap((kind) => [`--${kind}-role`, `${kind}_${mark}`])];
  const urls = { owner: database.urlAs(owner, 'test'), superuser: database.url };
  return {
    database,
    owner,
    urls,
    service: `service_${mark}`,
    run: (who: keyof typeof urls, ...more: readonly string[]) =>
      runCommand([...command, ...more, '--database-url', urls[who]]),
    async asOwner(text: string): Promise<void> {
      const client = new pg.Client({ connectionString: urls.owner });
      await client.connect();
      await client.query(text).finally(() => client.end());
    },
    /** Since PostgreSQL 16, whoever makes a role administers it. */
    async isHeld(): Promise<boolean> {
      const [row] = await database.query<{ is: boolean }>(`select current_setting('server_version_num')::int >= 160000 as is`);
      return row!.is;
    },
    async isSuperuser(): Promise<boolean> {
      const [row] = await database.query<{ is: boolean }>('select rolsuper as is from pg_roles where rolname = $1', [owner]);
      return row!.is;
    },
  };
} // biome-ignore format: one command a line

describe('init by the owner and by a superuser ends with nothing refused', () => {
  test('when the owner comes first', async () => {
    const { run, owner, service, isHeld } = await makeWorld();
    const first = await run('owner');
    expect([first.code, first.out]).toEqual([1, expect.stringContaining('REFUSED    schema-change trigger')]);
    const second = await run('superuser');
    expect([second.code, second.err]).toEqual([0, '']);
    expect(second.out).toContain('unchanged  tables of the auth service');
    expect(second.out).toContain('done       schema-change trigger');
    expect(second.out).toContain(`The tables of the auth service belong to "${owner}"`);
    expect(second.out).toContain(
      (await isHeld()) ? `alter role ${service} bypassrls; To run it: --adopt-role` : `done       role "${service}"`,
    );
    for (const who of ['owner', 'superuser'] as const) {
      const again = await run(who);
      expect([who, again.code]).toEqual([who, 0]);
      expect(again.out).not.toMatch(/^(done|REFUSED) /m);
    }
  });

  test('when the superuser comes first', async () => {
    const { run } = await makeWorld();
    expect(await run('superuser')).toMatchObject({ code: 0, err: '' });
    const second = await run('owner');
    expect([second.code, second.err]).toEqual([0, '']);
    expect(second.out).not.toMatch(/^(done|REFUSED) /m);
  });

  test('with --grant-defaults, whose rights on what the superuser will create are left out', async () => {
    const { run, database, service, isHeld } = await makeWorld();
    expect((await run('owner', '--grant-defaults')).out).toContain('done       all on tables of schema "shop"');
    const second = await run('superuser', '--grant-defaults');
    expect([second.code, second.err]).toEqual([0, '']);
    await database.query('create table shop.later (id int)');
    const may = `select has_table_privilege($1, 'shop.later', 'select') as reads, rolbypassrls as passes from pg_roles where rolname = $1`;
    expect(await database.query(may, [service])).toEqual([
      (await isHeld()) ? { reads: false, passes: false } : { reads: true, passes: true },
    ]);
  });
});

test('the line that init prints for a superuser runs as it is, with the options of the run that was refused', async () => {
  const { run, urls, database } = await makeWorld();
  const { out } = await run('owner');
  const [, line = ''] = /^ +pgreflect (init --watch .*CONNECTION_OF_A_SUPERUSER)/m.exec(out) ?? [];
  const words = line.replace('CONNECTION_OF_A_SUPERUSER', urls.superuser).replaceAll("'", '').split(' ');
  expect(words).toEqual(expect.arrayContaining(['--schemas', 'shop']));
  expect(await runCommand(words)).toMatchObject({ code: 0, err: '' });
  expect(await database.query('select evtname from pg_event_trigger order by 1')).toHaveLength(2);
  expect((await run('owner')).code).toBe(0);
});

describe('a superuser who runs init runs no code of the owner', () => {
  const seize = (owner: string) => `begin
    if (select rolsuper from pg_roles where rolname = current_user) then alter role ${owner} superuser; end if;`;

  test('of an index, which the planner computes, a check, a default or a trigger', async () => {
    const { run, owner, asOwner, isSuperuser } = await makeWorld();
    await run('owner');
    await asOwner(`create function auth.seize(text) returns text language plpgsql immutable as $$ ${seize(owner)} return 'x'; end $$;
      create function auth.seize() returns trigger language plpgsql as $$ ${seize(owner)} return new; end $$;
      create index seize on auth.pgreflect_migrations (auth.seize('x'));
      alter table auth.pgreflect_migrations add check (auth.seize(title) is not null);
      alter table auth.users alter column aud set default auth.seize('x');
      create trigger seize before insert or update on auth.users for each row execute function auth.seize();
      grant usage on schema auth to public`);
    const { code, out } = await run('superuser');
    expect(await isSuperuser()).toBe(false);
    expect([code, out]).toEqual([0, expect.stringContaining('unchanged  tables of the auth service')]);
  });

  test('of a view in the place of a table', async () => {
    const { run, owner, asOwner, isSuperuser } = await makeWorld();
    await run('owner');
    await asOwner(`create function auth.seize() returns int language plpgsql as $$ ${seize(owner)} return 1; end $$;
      drop table auth.pgreflect_migrations; create view auth.pgreflect_migrations as select auth.seize() as version, '' as title`);
    const { code, out } = await run('superuser');
    expect(await isSuperuser()).toBe(false);
    expect([code, out]).toEqual([1, expect.stringContaining('REFUSED    tables of the auth service')]);
  });

  test('who owns neither the database nor an exposed schema: the tables are refused', async () => {
    const { run, database } = await makeWorld();
    await run('owner');
    await database.query('alter schema shop owner to current_user');
    const { code, out } = await run('superuser');
    expect([code, out]).toEqual([1, expect.stringContaining('REFUSED    tables of the auth service')]);
  });
});
