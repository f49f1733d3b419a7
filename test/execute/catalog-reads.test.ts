/**
 * What it takes to be up to date: round trips after a change, and readings of the catalog for the roles of callers.
 */
import { readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { startExecution, type TestExecution } from '../support/execution.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { startRecordingProxy } from '../support/recording-proxy.ts';
import { atEnd } from '../support/when-over.ts';

const schema = `
  create table thing (id int primary key, label text);
  insert into thing values (1, 'x');
  grant usage on schema public to anon;
  grant select on thing to anon;`;
const watch = readFileSync(new URL('../../sql/watch.sql', import.meta.url), 'utf8');
const mayWatch =
  'grant usage on schema pgreflect to authenticator; grant select on pgreflect.catalog_change to authenticator';

/** Without the trigger. */
const unwatched = await createDatabase(schema);

async function makeRoles(database: TestDatabase, count: number, kind = 'tenant'): Promise<readonly string[]> {
  const names = Array.from({ length: count }, (_, index) => `${kind}${index}_${database.name}`);
  await database.query(names.map((name) => `create role ${name}; grant ${name} to authenticator`).join(';'));
  atEnd(() => database.query(names.map((name) => `drop owned by ${name}; drop role ${name}`).join(';')).then(() => {}));
  return names;
}

const readings = ({ observations }: TestExecution) => observations.filter(({ kind }) => kind === 'reloaded').length;

test.each([
  ['the namespaces that were chosen', ['public']],
  ["the namespaces of the login's search path", null],
])('the first request after a change takes five round trips, with %s', async (_, schemas) => {
  const database = await createDatabase(schema, watch, mayWatch);
  const proxy = await startRecordingProxy(database.urlAs('authenticator', 'test'));
  atEnd(() => proxy.stop());
  const execution = await startExecution({ ...database, urlAs: () => proxy.url }, { schemas });
  const query = '{ thingCollection { edges { node { id } } } }';
  await execution.data('anon', query);

  // Roles and commits belong to the whole server, where other tests have theirs at any time: one quiet try is enough.
  await vi.waitFor(async () => {
    await database.query('alter table thing add column if not exists more text');
    proxy.reset();
    expect(await execution.data('anon', '{ thingCollection { edges { node { more } } } }')).toEqual({
      thingCollection: { edges: [{ node: { more: null } }] },
    });
    // Refused as stale, compared, the catalog, compared with what has come meanwhile, answered.
    expect(proxy.roundTrips()).toBe(5);
    await database.query('alter table thing drop column more');
    proxy.reset();
    await execution.data('anon', query);
    expect(proxy.roundTrips()).toBe(5);
  });
});

test('a hundred and fifty roles are served from one reading of the catalog', async () => {
  const roles = await makeRoles(unwatched, 150);
  await unwatched.query(`grant usage on schema public to public; grant select on thing to ${roles[7]}`);
  const execution = await startExecution(unwatched);
  for (const role of [...roles, ...roles]) {
    const body = await execution.run(role, '{ thingCollection { edges { node { id } } } }');
    expect(body.errors === undefined).toBe(role === roles[7]);
  }
  expect(readings(execution)).toBe(1);
});

test('requests with a thousand names of roles that do not exist do not read the catalog', async () => {
  const execution = await startExecution(unwatched);
  const names = Array.from({ length: 1000 }, (_, index) => `invented_${index}_${'x'.repeat(index % 80)}`);
  const bodies = await Promise.all(names.map((name) => execution.run(name, '{ __typename }')));
  expect(new Set(bodies.map((body) => body.errors[0].extensions.code))).toEqual(new Set(['ROLE_NOT_ALLOWED']));
  expect(readings(execution)).toBe(1);
});

test('a role that is made after the catalog was read is served, with one more reading', async () => {
  const execution = await startExecution(unwatched);
  const [role] = await makeRoles(unwatched, 1, 'newcomer');
  const bodies = await Promise.all([1, 2, 3].map(() => execution.run(role!, '{ __typename }')));
  expect(bodies).toEqual([1, 2, 3].map(() => ({ data: { __typename: 'Query' } })));
  expect(readings(execution)).toBe(2);
});

test('a catalog that cannot be read for a moment is said to be unavailable, and read when it can be', async () => {
  const database = await createDatabase(schema, watch, mayWatch);
  const execution = await startExecution(database);
  const query = '{ thingCollection { edges { node { id } } } }';
  const data = await execution.data('anon', query);
  await database.query('revoke select on pg_catalog.pg_enum from public');
  const body = await execution.run('anon', query);
  expect(body.errors).toEqual([
    {
      message: 'The schema could not be read from the database. Try again in a moment.',
      extensions: { code: 'UNAVAILABLE' },
    },
  ]);
  await database.query('grant select on pg_catalog.pg_enum to public');
  expect(await execution.data('anon', query)).toEqual(data);
});
