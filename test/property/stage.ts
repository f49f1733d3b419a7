/**
 * A world in a database: created, filled, and read by every role; with the executor under test beside it.
 */
import pg from 'pg';
import { startExecution, type TestExecution } from '../support/execution.ts';
import type { TestDatabase } from '../support/postgres.ts';
import { encodeArray } from './encoded.ts';
import { type ExpectedModel, expectedModelOf, type Relationship } from './expected-model.ts';
import type { KnownCursor, Material } from './generate-values.ts';
import { generateWorld } from './generate-world.ts';
import { createOracle, type Oracle } from './oracle.ts';
import type { Random } from './random.ts';
import { becomeRole, createSnapshot, type Row, relatedAmong, type Snapshot } from './reader.ts';
import { rowStatements } from './rows.ts';
import { type Relation, type Role, roles, type World } from './world.ts';
import { finishingStatements, tableStatements } from './world-sql.ts';

/** Claims that requests carry and that policies read. */
export const claims = { sub: 'ab' };

/** What one role can be asked. */
interface Scene {
  readonly model: ExpectedModel;
  readonly snapshot: Snapshot;
  readonly material: Material;
}

/** A world that operations run against. */
export interface Stage {
  readonly world: World;
  readonly execution: TestExecution;
  readonly oracle: Oracle;
  /** Every statement that made the world, for a report. */
  readonly script: readonly string[];
  /** Cursors answered so far, by role. */
  readonly cursors: ReadonlyMap<Role, KnownCursor[]>;
  /** A superuser's connection for mutations. */
  readonly client: pg.ClientBase;
  /** Rows as they are since the last change. */
  scene(role: Role): Promise<Scene>;
  /** Forgets what was read: the rows have changed. */
  changed(): Promise<void>;
  /** Closes the connections, so that many worlds can follow each other. */
  close(): Promise<void>;
}

/** Creates a world of this prefix in the database. */
export async function createStage(database: TestDatabase, random: Random, prefix: string): Promise<Stage> {
  const client = await connect(database);
  const world = adapt(generateWorld(random, prefix), await versionOf(client));
  const asking = await connect(database);
  const script = await build(client, world, random);
  const { schemas, extensions } = world;
  const execution = await startExecution(database, {
    schemas: schemas.map(({ name }) => name),
    limits: null,
    extensions,
  });
  const readers = new Map(await Promise.all(roles.map(async (role) => [role, await connect(database)] as const)));
  const scenes = new Map<Role, Promise<Scene>>();
  const cursors = new Map(roles.map((role): [Role, KnownCursor[]] => [role, []]));
  const openScene = async (role: Role): Promise<Scene> => {
    const reader = readers.get(role) as pg.Client;
    await becomeRole(reader, role, claims);
    const model = expectedModelOf(world, role);
    const snapshot = createSnapshot(reader, model);
    return { model, snapshot, material: await gather(model, snapshot, cursors.get(role) ?? []) };
  };
  return {
    world,
    execution,
    oracle: createOracle(asking),
    script,
    cursors,
    client,
    scene(role) {
      const scene = scenes.get(role) ?? openScene(role);
      scenes.set(role, scene);
      return scene;
    },
    async changed() {
      for (const role of scenes.keys()) await readers.get(role)?.query('rollback');
      scenes.clear();
    },
    async close() {
      for (const connection of [client, asking, ...readers.values()]) await connection.end();
    },
  };
}

/** Views that read as their caller exist from PostgreSQL 15 on. */
function adapt(world: World, version: number): World {
  if (version >= 15) return world;
  for (const relation of world.relations) Object.assign(relation, { invoker: false });
  return world;
}

async function versionOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ version: number }>(
    `select current_setting('server_version_num')::int / 10000 as version`,
  );
  return rows[0]?.version ?? 0;
}

async function connect(database: TestDatabase): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.url });
  client.on('error', () => {});
  await client.connect();
  return client;
}

async function build(client: pg.Client, world: World, random: Random): Promise<string[]> {
  const script = [...tableStatements(world, random), ...finishingStatements(world)];
  for (const statement of script) await run(client, statement);
  for (const statement of rowStatements(world, random)) {
    // Two texts may be one value after rounding: such a row is left out.
    const isStored = await client.query(statement).then(
      () => true,
      () => false,
    );
    if (isStored) script.push(statement);
  }
  for (const { kind, schema, name } of world.relations) {
    if (kind !== 'materialized view') continue;
    const refresh = `refresh materialized view "${schema.name}"."${name}"`;
    await run(client, refresh);
    script.push(refresh);
  }
  await client.query('analyze');
  return script;
}

async function run(client: pg.Client, statement: string): Promise<void> {
  try {
    await client.query(statement);
  } catch (error) {
    throw new Error(`${statement}\n${String(error)}`, { cause: error });
  }
}

async function gather(model: ExpectedModel, snapshot: Snapshot, cursors: readonly KnownCursor[]): Promise<Material> {
  const rows = new Map<Relation, readonly Row[]>();
  const sizes = new Map<Relationship, readonly number[]>();
  for (const relation of model.entities.keys()) rows.set(relation, await snapshot.rows(relation));
  return {
    model,
    texts: (relation, column) => (rows.get(relation) ?? []).map((row) => row.cells.get(column)?.text ?? null),
    nodeIds: (relation) =>
      (rows.get(relation) ?? []).map(({ cells }) => {
        const names = [relation.schema.name, relation.name].map((name) => JSON.stringify(name));
        return encodeArray([...names, ...relation.key.map((name) => cells.get(name)?.jsonb ?? 'null')]);
      }),
    sizes(from, relationship) {
      const all = { rows: rows.get(relationship.target) ?? [], links: rows.get(relationship.key.from) ?? [] };
      const count = () => (rows.get(from) ?? []).map((row) => relatedAmong(relationship, row, all).length);
      const known = sizes.get(relationship) ?? count();
      sizes.set(relationship, known);
      return known;
    },
    cursors,
  };
}
