import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { readCatalog, readFingerprint } from '../../src/graphql/catalog/read-catalog.ts';
import { buildModel } from '../../src/graphql/model/build-model.ts';
import { createDatabase, fixture } from '../support/postgres.ts';
import { systemPool } from '../support/read-model.ts';

const database = await createDatabase(
  fixture('lib.sql'),
  'create schema auth; create schema "Odd, ""one"""; create schema other',
);
const superuser = systemPool(database.url);
const login = `login_${database.name}`;
const role = `settings_${database.name}`;
beforeAll(async () => {
  await database.query(
    `create role ${login} login password 'test' noinherit; create role ${role}; grant ${role} to ${login}`,
  );
});
afterAll(async () => {
  await database.query(`drop owned by ${login}; drop role ${login}; drop owned by ${role}; drop role ${role}`);
});

const namesOf = async (schemas: readonly string[] | null, url = database.url) => {
  const pool = systemPool(url);
  const catalog = await readCatalog(pool, schemas);
  return catalog.namespaces.map((namespace) => namespace.nspname);
};

test('exposed namespaces come in the order asked for, those that exist, each once, never system ones', async () => {
  const asked = ['other', '$user', 'lib', 'missing', 'pg_catalog', 'information_schema', 'pg_toast', 'other', 'auth'];
  expect(await namesOf(asked)).toEqual(['other', 'lib', 'auth']);
});

test('without --schemas the search path of the login role decides, also when it was changed after the connection began', async () => {
  const url = database.urlAs(login, 'test');
  expect(await namesOf(null, url)).toEqual(['public']);
  const pool = systemPool(url);
  await pool.query('select 1');
  await database.query(`alter role ${login} set search_path = "$user", lib, auth, pgreflect, "Odd, ""one"""`);
  const catalog = await readCatalog(pool, null);
  expect(catalog.namespaces.map((namespace) => namespace.nspname)).toEqual(['lib', 'Odd, "one"']);
  await database.query(`alter role ${login} in database ${database.name} set search_path = other`);
  expect(await namesOf(null, url)).toEqual(['other']);
  await database.query(
    `alter role ${login} reset search_path; alter role ${login} in database ${database.name} reset search_path`,
  );
});

test('a search path that the connection asks for is split as PostgreSQL does', async () => {
  const url = new URL(database.urlAs(login, 'test'));
  url.searchParams.set('options', '-c search_path=LIB\\ ,"Odd,\\ ""one""","$user",auth,other,lib');
  expect(await namesOf(null, url.href)).toEqual(['lib', 'Odd, "one"', 'other']);
});

test("the login role's own privileges decide nothing", async () => {
  const pool = systemPool(database.urlAs(login, 'test'));
  const catalog = await readCatalog(pool, ['lib']);
  expect(['anon', login, 'no_such_role'].filter((name) => catalog.roles.has(name))).toEqual(['anon', login]);
  expect(buildModel(catalog, { role: 'anon', extensions: [] }).tables.size).toBe(3);
  expect(buildModel(catalog, { role: login, extensions: [] }).tables.size).toBe(0);
});

test('reading creates no object and changes no setting of the connection', async () => {
  const pool = systemPool(database.url);
  await readCatalog(pool, ['lib']);
  const show = `select current_setting('search_path') as path, current_setting('transaction_read_only') as ro`;
  // Without the pinned settings of a transaction.
  const [row] = await pool.transaction((connection) => connection.query(`rollback; ${show}`));
  expect(row).toEqual({ path: '"$user", public', ro: 'off' });
});

test('fingerprint and memberships are those that the check at an interval reads', async () => {
  // Roles belong to the whole server, where other tests change them at any time.
  await vi.waitFor(async () => {
    const catalog = await readCatalog(superuser, ['lib']);
    expect(catalog.fingerprint).toBe(await readFingerprint(superuser, ['lib']));
    const [row] = await database.query(
      'select (count(*) + sum(xmin::text::bigint))::text as memberships from pg_auth_members',
    );
    expect(catalog.memberships).toBe(row?.memberships);
    expect(catalog.snapshot).toMatch(/^\d+:\d+:[\d,]*$/);
  }, 10_000);
});

test("a role's settings apply, those for this database before others; unknown to users and search_path are left out", async () => {
  await database.query(`alter role ${role} set statement_timeout = '5s';
    alter role ${role} in database ${database.name} set statement_timeout = '4s';
    alter role ${role} set search_path = 'other'; alter role ${role} set work_mem = '8MB'; alter role ${role} set app.tenant = 'a=b';
    alter role ${role} set log_min_duration_statement = 5`);
  const pool = systemPool(database.urlAs(login, 'test'));
  const catalog = await readCatalog(pool, ['lib']);
  expect(Object.fromEntries(catalog.roles.get(role)!.settings)).toEqual({
    statement_timeout: '4s',
    work_mem: '8MB',
    'app.tenant': 'a=b',
  });
  expect(catalog.roles.has('no_such_role')).toBe(false);
});

test('the trigger counts as installed only while it fires and its table can be read', async () => {
  const watched = async (pool = superuser) => (await readCatalog(pool, ['lib'])).hasChangeTrigger;
  expect(await watched()).toBe(false);
  await database.query(fixture('../../sql/watch.sql'));
  expect(await watched()).toBe(true);
  expect(await watched(systemPool(database.urlAs(login, 'test')))).toBe(false);
  const before = await readFingerprint(superuser, ['lib']);
  await database.query('alter event trigger pgreflect_ddl disable');
  expect(await watched()).toBe(false);
  expect(await readFingerprint(superuser, ['lib'])).not.toBe(before);
  await database.query('alter event trigger pgreflect_ddl enable always');
});

test('grants that commit while catalogs are read never leave an old privilege with a new snapshot', async () => {
  let stop = false;
  const changer = (async () => {
    for (let n = 0; !stop; n += 1) {
      await database.query(n % 2 === 0 ? 'revoke select on lib.loan from anon' : 'grant select on lib.loan to anon');
    }
  })();
  try {
    for (let n = 0; n < 6; n += 1) {
      const catalog = await readCatalog(superuser, ['lib']);
      const sees = buildModel(catalog, { role: 'anon', extensions: [] }).tables.size === 3;
      const [row] = await database.query<{ sees: boolean | null }>(
        `select has_table_privilege('anon', 'lib.loan', 'select') as sees
         where not exists (select from pgreflect.catalog_change c where not pg_visible_in_snapshot(c.xid, $1::pg_snapshot))`,
        [catalog.snapshot],
      );
      if (row) expect(sees).toBe(row.sees);
    }
  } finally {
    stop = true;
    await changer;
  }
});

test('two readings that changes have overtaken differ, so that no model of one answers for the other', async () => {
  const pool = systemPool(database.url);
  let done = false;
  const change = async (at: number) => {
    for (let count = 0; !done; count += 1) await database.query(`comment on schema other is '${at} ${count}'`);
  };
  const changing = Promise.all([1, 2, 3].map(change));
  const prints: string[] = [];
  try {
    for (let overtaken = 0; overtaken < 3; ) {
      const { fingerprint, parts } = await readCatalog(pool, ['other']);
      prints.push(fingerprint);
      if (parts.tableHashes.size === 0 && parts.commonHash === '') overtaken += 1;
    }
  } finally {
    done = true;
    await changing;
  }
  expect(new Set(prints).size).toBe(prints.length);
});
