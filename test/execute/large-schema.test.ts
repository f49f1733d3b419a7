/**
 * A large schema: while its catalog is read and models of it are built, others are answered.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { extensionNames } from '../../src/config/extensions.ts';
import { Reflection } from '../../src/graphql/execute/reflection.ts';
import { buildModelInSlices } from '../../src/graphql/model/build-model.ts';
import { buildIntrospectionSchema, buildSchemaInSlices } from '../../src/graphql/schema/build-schema.ts';
import { startExecution } from '../support/execution.ts';
import { Reads } from '../support/looked-at.ts';
import { manyTables } from '../support/many-tables.ts';
import { createDatabase } from '../support/postgres.ts';

const watchSql = readFileSync(new URL('../../sql/watch.sql', import.meta.url), 'utf8');

const tableCount = 300;
const database = await createDatabase(manyTables(tableCount), watchSql);
await database.query(
  'grant usage on schema pgreflect to authenticator; grant select on pgreflect.catalog_change to authenticator',
);
const execution = await startExecution(database);

const small = '{ thing1Collection { edges { node { id } } } }';

test('Nothing that is built of the schema reads much of it between two pauses', async () => {
  const { catalog, role, extensions, shared } = await execution.role('authenticated');
  const reads = new Reads();
  const watched = {
    ...catalog,
    tables: reads.watch(catalog.tables),
    foreignKeys: reads.watch(catalog.foreignKeys),
    table: (oid: string) => reads.watch(catalog.table(oid)),
  };
  const tables = shared.model.tables.entries().map(([oid, table]) => [oid, reads.watch(table)] as const);
  const model = { ...shared.model, tables: new Map(tables) };
  const most = {
    model: await reads.mostOf(buildModelInSlices(watched, { role, extensions })),
    schema: await reads.mostOf(buildSchemaInSlices(model)),
    introspection: await reads.mostOf(buildIntrospectionSchema(model, 'always')!),
  };
  // A few members of each table where they are listed or filtered, but not each column of each.
  const tooMany = Object.entries(most).filter(([, count]) => count > 8 * tableCount);
  expect(tooMany).toEqual([]);
});

test('A role whose model exists is answered while that of another is built', async () => {
  await execution.data('authenticated', small);
  await database.query(`comment on table thing_1 is '@graphql({"description": "second"})'`);
  await execution.data('authenticated', small);
  const order: string[] = [];
  const note = (name: string) => () => void order.push(name);
  await Promise.all([
    execution.data('anon', small).then(note('anon')),
    execution.data('authenticated', small).then(note('authenticated')),
  ]);
  expect(order).toEqual(['authenticated', 'anon']);
});

test('Requests with bounded freshness are answered from the model that is there while the catalog is read again', async () => {
  const bounded = await startExecution(database, { freshness: 'bounded' });
  await bounded.data('anon', small);
  await database.query(`comment on table thing_1 is '@graphql({"description": "third"})'`);
  const order: string[] = [];
  const note = (name: string) => () => void order.push(name);
  await Promise.all([bounded.compare().then(note('read')), bounded.data('anon', small).then(note('answered'))]);
  expect(order).toEqual(['answered', 'read']);
});

test('Requests that arrive while a model is built share it', async () => {
  const { catalog } = await execution.role('authenticated');
  let builds = 0;
  const counted = {
    ...catalog,
    get domains() {
      builds += 1;
      return catalog.domains;
    },
  };
  const options = { introspection: 'never', extensions: extensionNames, serviceRole: 'service_role' } as const;
  const others = { extraSearchPath: [], statementTimeoutMs: 1000, variablePositions: 'compatible' } as const;
  const reflection = new Reflection(counted, performance.now(), { ...options, ...others }, null);
  await reflection.role('authenticated');
  const buildsOfOne = builds;
  const [first, second] = await Promise.all([reflection.role('anon'), reflection.role('anon')]);
  expect(first).toBe(second);
  expect(builds).toBe(2 * buildsOfOne);
});

test('A change that is committed while an older model is built is seen by the first request after it', async () => {
  await database.query('alter table thing_1 add column before_it int');
  const older = execution.run('anon', '{ thing1Collection { edges { node { beforeIt } } } }');
  await database.query('alter table thing_1 add column after_it int');
  const newer = execution.data('anon', '{ thing1Collection { edges { node { beforeIt afterIt } } } }');
  expect(await newer).toEqual({ thing1Collection: { edges: [] } });
  expect(await older).toEqual({ data: { thing1Collection: { edges: [] } } });
});
