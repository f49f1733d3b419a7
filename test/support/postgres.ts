/**
 * Databases for tests: each test file creates its own on the run's server (global-setup.ts) and drops it at the end. One with the
 * tables of the auth service is a copy of the template that global-setup.ts has migrated.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { inject } from 'vitest';
import { atEnd, type WhenOver } from './when-over.ts';

/** A database of one test file, reached as superuser. */
export interface TestDatabase {
  /** Superuser's connection string. */
  readonly url: string;
  readonly name: string;
  /** The same database as another login. */
  urlAs(role: string, password: string): string;
  /** Runs SQL as superuser; several statements when there are no values. Returns the rows of the (last) statement. */
  query<T = Record<string, unknown>>(sql: string, values?: readonly unknown[]): Promise<T[]>;
}

/** The text of a file of `test/fixtures`. */
export function fixture(name: string): string {
  return readFileSync(fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url)), 'utf8');
}

/** A pooler in front of a database, for one login. */
interface Pooler {
  readonly url: string;
  stop(): Promise<void>;
}

/** The login that goes through it. */
const pooledLogin = 'authenticator';
let startPooler: ((url: string) => Promise<Pooler>) | null = null;

/** From now on, databases of this file are reached through such a pooler by the gateway's login, and directly by others. */
export function connectThrough(start: (url: string) => Promise<Pooler>): void {
  startPooler = start;
  atEnd(() => {
    startPooler = null;
  });
}

/**
 * Creates an empty database, runs the given SQL in it and drops it after the test file.
 *
 * Roles belong to the whole server: create them with a name of the file's own or guard with `if not exists`; the usual
 * ones (`anon`, `authenticated`, `service_role`, login `authenticator` with password `test`) exist already.
 */
export function createDatabase(...sql: readonly string[]): Promise<TestDatabase> {
  return copyDatabase(inject('emptyTemplate'), sql);
}

/** As `createDatabase`, with the tables of the auth service; the SQL runs after they are made. */
export function createAuthDatabase(...sql: readonly string[]): Promise<TestDatabase> {
  return copyDatabase(inject('authTemplate'), sql);
}

/**
 * Makes a schema that every role may use, and runs the SQL with it as search path: other names and rows in a database that is there
 * already, whose connections a database of their own would need anew.
 */
export async function createSchema(database: TestDatabase, name: string, sql: string): Promise<void> {
  await database.query(`create schema ${name}; grant usage on schema ${name} to public; set search_path = ${name}; ${sql};
    reset search_path`);
}

/** A connection that makes and drops databases. */
interface Maker {
  readonly client: pg.Client;
  /** How a database is copied. */
  readonly strategy: string;
}

/** One for all files of the process, with which it ends. */
let maker: Promise<Maker> | null = null;

async function connectMaker(): Promise<Maker> {
  const client = new pg.Client({ connectionString: inject('serverUrl') });
  await client.connect();
  const { rows } = await client.query<{ version: number }>(
    `select current_setting('server_version_num')::int as version`,
  );
  // Copied as files, which takes a third of the time of writing it as WAL; PostgreSQL 14 knows no other way.
  return { client, strategy: rows[0]!.version >= 150_000 ? 'strategy file_copy' : '' };
}

/** Runs a statement beside the databases, as superuser. */
export async function runOnServer(statement: string): Promise<void> {
  maker ??= connectMaker();
  await (await maker).client.query(statement);
}

/** Creates a copy of a database that nobody is connected to, runs the SQL in it and drops it after the test file, unless told otherwise. */
export async function copyDatabase(
  template: string,
  sql: readonly string[] = [],
  whenOver: WhenOver = atEnd,
): Promise<TestDatabase> {
  const name = `t_${randomBytes(6).toString('hex')}`;
  maker ??= connectMaker();
  const { client, strategy } = await maker;
  await client.query(`create database ${name} template ${template} encoding 'UTF8' locale 'C' ${strategy}`);
  // Text order, money and times look the same on every server and machine.
  await client.query(`alter database ${name} set timezone = 'UTC'; alter database ${name} set lc_monetary = 'C'`);
  const url = new URL(inject('serverUrl'));
  url.pathname = `/${name}`;
  const pool = new pg.Pool({ connectionString: url.href, max: 4 });
  pool.on('error', () => {});
  whenOver(async () => {
    await pool.end();
    await client.query(`drop database if exists ${name} with (force)`);
  });
  const directly = (role: string, password: string) => {
    const other = new URL(url.href);
    other.username = role;
    other.password = password;
    return other.href;
  };
  const pooler = startPooler === null ? null : await startPooler(directly(pooledLogin, 'test'));
  if (pooler !== null) atEnd(() => pooler.stop());
  const database: TestDatabase = {
    url: url.href,
    name,
    urlAs: (role, password) => (role === pooledLogin && pooler !== null ? pooler.url : directly(role, password)),
    async query<T>(text: string, values?: readonly unknown[]): Promise<T[]> {
      const result: unknown = values ? await pool.query(text, [...values]) : await pool.query(text);
      const last = (Array.isArray(result) ? result.at(-1) : result) as { rows: T[] };
      return last.rows;
    },
  };
  for (const text of sql) await database.query(text);
  return database;
}
