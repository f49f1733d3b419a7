/**
 * A PostgreSQL of the bench's own, with data and a login that may become anon. It does not wait for the disk unless told to: how
 * fast a disk is says nothing about the servers that are compared.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedServer } from '../../../src/postgres/embedded/embedded-server.ts';

/** Whether each commit waits for the disk. */
export type Fsync = 'on' | 'off';

/** A running server with the bench's tables. */
export interface BenchDatabase {
  /** Connection string of the login role `authenticator`. */
  readonly loginUrl: string;
  /** Connection string of the owner of everything. */
  readonly ownerUrl: string;
  /** Process id of the postmaster, whose children are the backends. */
  readonly pid: number;
  readonly version: string;
  readonly fsync: Fsync;
  /** Runs statements one after the other as the owner of the tables. */
  run(statements: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

const roles = `
  create role anon nologin;
  create role authenticated nologin;
  create role service_role nologin bypassrls;
  create role authenticator login noinherit password 'bench';
  grant anon, authenticated, service_role to authenticator;
`;

/** Starts the server and loads the data; takes some seconds. */
export async function startDatabase(fsync: Fsync): Promise<BenchDatabase> {
  const directory = mkdtempSync(join(tmpdir(), 'pgreflect-bench-'));
  // Open, because the server may run as another user of the operating system than we do.
  chmodSync(directory, 0o755);
  const dataDirectory = join(directory, 'data');
  const server = await startEmbeddedServer({
    dataDirectory,
    password: 'bench',
    persistent: false,
    settings: { shared_buffers: '256MB', jit: 'off', fsync },
  });
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query(roles);
  await client.query(
    readFileSync(join(import.meta.dirname, '../sql/schema.sql'), 'utf8').replace('vacuum analyze;', ''),
  );
  await client.query('vacuum analyze');
  const { rows } = await client.query<{ version: string }>(`select current_setting('server_version') as version`);
  const login = new URL(server.url);
  login.username = 'authenticator';
  login.password = 'bench';
  return {
    loginUrl: login.href,
    ownerUrl: server.url,
    pid: Number(readFileSync(join(dataDirectory, 'postmaster.pid'), 'utf8').split('\n')[0]),
    version: rows[0]?.version ?? '',
    fsync,
    async run(statements) {
      for (const statement of statements) await client.query(statement);
    },
    async stop() {
      await client.end();
      await server.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
