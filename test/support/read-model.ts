/**
 * Catalogs and models of a test's database, as the gateway reads them.
 */

import { extensionNames } from '../../src/config/extensions.ts';
import type { Catalog } from '../../src/graphql/catalog/catalog.ts';
import { readCatalog } from '../../src/graphql/catalog/read-catalog.ts';
import { buildModelParts } from '../../src/graphql/model/build-model.ts';
import type { Column, Model, Routine, Table } from '../../src/graphql/model/model.ts';
import type { ModelOptions, Omission } from '../../src/graphql/model/model-context.ts';
import { createSystemPool, type SystemPool } from '../../src/postgres/system/run-system.ts';
import type { TestDatabase } from './postgres.ts';
import { atEnd } from './when-over.ts';

/** A pool of the test file; stopped at its end. */
export function systemPool(url: string, applicationName = 'test'): SystemPool {
  const options = { connectionString: url, size: 2, waitMs: 60_000, applicationName, onError: () => {} };
  const pool = createSystemPool({ ...options, preparedStatements: true });
  atEnd(() => pool.stop());
  return pool;
}

const pools = new Map<string, SystemPool>();

/** One for all of the test file that reads as the login: planning the statements that read a catalog takes longer than running them. */
export function sharedPool(url: string): SystemPool {
  const known = pools.get(url);
  if (known !== undefined) return known;
  const pool = systemPool(url, 'pgreflect test');
  pools.set(url, pool);
  atEnd(() => pools.delete(url));
  return pool;
}

/** Reads catalogs and models of one database. */
export interface ModelReader {
  catalog(schemas: readonly string[] | null): Promise<Catalog>;
  model(schemas: readonly string[] | null, role?: string): Promise<Model>;
  /** What is left out of the model. */
  omissions(schemas: readonly string[] | null, role?: string): Promise<readonly Omission[]>;
}

/** A reader as the usual login role; the role is `anon` and there are all extensions unless a test says otherwise. */
export function modelReader(
  database: TestDatabase,
  extensions = extensionNames as ModelOptions['extensions'],
): ModelReader {
  const pool = sharedPool(database.urlAs('authenticator', 'test'));
  const catalog: ModelReader['catalog'] = (schemas) => readCatalog(pool, schemas);
  const parts = async (schemas: readonly string[] | null, role = 'anon') =>
    buildModelParts(await catalog(schemas), { role, extensions });
  return {
    catalog,
    model: async (schemas, role) => (await parts(schemas, role)).model,
    omissions: async (schemas, role) => (await parts(schemas, role)).omissions,
  };
}

/** The table of this GraphQL name; fails the test where there is none. */
export function tableOf(model: Model, baseName: string): Table {
  const table = [...model.tables.values()].find((candidate) => candidate.baseName === baseName);
  if (!table) throw new Error(`no table ${baseName}; there are ${tableNames(model).join(', ')}`);
  return table;
}

/** GraphQL names of all tables, in the model's order. */
export function tableNames(model: Model): string[] {
  return [...model.tables.values()].map((table) => table.baseName);
}

/** The column with this SQL name. */
export function columnOf(table: Table, name: string): Column {
  const column = table.columns.find((candidate) => candidate.name === name);
  if (!column) throw new Error(`no column ${name} in ${table.name}`);
  return column;
}

/** `direction fieldName cardinality target`, with `!` where it is never null, of each relationship of a table. */
export function relationshipsOf(model: Model, baseName: string): string[] {
  return tableOf(model, baseName).relationships.map((relationship) => {
    const target = model.tables.get(relationship.target)?.baseName;
    const { direction, fieldName, cardinality, nullable } = relationship;
    return `${direction} ${fieldName}: ${cardinality} ${target}${nullable ? '' : '!'}`;
  });
}

/** The routine with this SQL name, undefined where it is not exposed. */
export function routineOf(model: Model, name: string): Routine | undefined {
  return [...model.routines.values()].find((routine) => routine.name === name);
}
