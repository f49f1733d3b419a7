/**
 * A primary and a streaming replica of it, both real: the embedded server twice, the second one on a copy of the data.
 */
import { chmod, chown, cp, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { type EmbeddedServer, startEmbeddedServer } from '../../src/postgres/embedded/embedded-server.ts';
import type { TestDatabase } from './postgres.ts';
import { scratch } from './scratch.ts';

/** A server under test and its database `postgres`. */
interface TestServer extends TestDatabase {
  readonly port: number;
  stop(): Promise<void>;
}

/** A primary and its replica. */
export interface ReplicatedServers {
  readonly primary: TestServer;
  readonly replica: TestServer;
  /** Starts the replica again, on the same port, after `replica.stop()`. */
  startReplica(): Promise<TestServer>;
  /** Starts the primary again as a standby that follows nobody, as one that was cut off. */
  demotePrimary(): Promise<TestServer>;
  stop(): Promise<void>;
}

const settings = { fsync: 'off', shared_buffers: '16MB', max_connections: '60' };

/** Starts both; `sql` has been run at the primary and replayed at the replica. */
export async function startReplicatedServers(sql: string): Promise<ReplicatedServers> {
  const directory = await mkdtemp(join(scratch, 'pgreflect-replica-'));
  await chmod(directory, 0o755);
  const data = join(directory, 'primary');
  const copy = join(directory, 'replica');
  const startPrimary = async () =>
    connect(await startEmbeddedServer({ dataDirectory: data, password: 'test', persistent: true, settings }));
  let primary = await startPrimary();
  await primary.query(sql);
  await copyData(primary, data, copy);
  const primaryConnection = `host=127.0.0.1 port=${primary.port} user=postgres password=test`;
  let replicaPort: number | undefined;
  async function startReplica(): Promise<TestServer> {
    const standby = { ...settings, primary_conninfo: primaryConnection, max_standby_streaming_delay: '0' };
    const given = { dataDirectory: copy, password: 'test', persistent: true, settings: standby };
    const server = await startEmbeddedServer(replicaPort === undefined ? given : { ...given, port: replicaPort });
    replicaPort = server.port;
    return connect(server);
  }
  let replica = await startReplica();
  return {
    get primary() {
      return primary;
    },
    async demotePrimary() {
      await primary.stop();
      const { uid, gid } = await stat(data);
      await writeFile(join(data, 'standby.signal'), '');
      await chown(join(data, 'standby.signal'), uid, gid);
      primary = await startPrimary();
      return primary;
    },
    get replica() {
      return replica;
    },
    async startReplica() {
      replica = await startReplica();
      return replica;
    },
    async stop() {
      await replica.stop();
      await primary.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** What `pg_basebackup` does, which does not come with the server: a copy of the files of a server that runs. */
async function copyData(primary: TestServer, data: string, copy: string): Promise<void> {
  const client = new pg.Client({ connectionString: primary.url });
  await client.connect();
  try {
    await client.query(`select pg_backup_start('test', true)`);
    const { uid, gid } = await stat(data);
    await cp(data, copy, {
      recursive: true,
      filter: (source) => !/postmaster\.(pid|opts)$/.test(source),
    });
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
    await writeFile(join(copy, 'backup_label'), rows[0]?.labelfile ?? '');
    await writeFile(join(copy, 'standby.signal'), '');
    for (const entry of ['', ...(await readdir(copy, { recursive: true }))]) await chown(join(copy, entry), uid, gid);
  } finally {
    await client.end();
  }
}

async function connect(server: EmbeddedServer): Promise<TestServer> {
  const pool = new pg.Pool({ connectionString: server.url, max: 3 });
  pool.on('error', () => {});
  return {
    url: server.url,
    name: 'postgres',
    port: server.port,
    urlAs(role, password) {
      const url = new URL(server.url);
      url.username = role;
      url.password = password;
      return url.href;
    },
    async query<T>(sql: string, values?: readonly unknown[]): Promise<T[]> {
      const result: unknown = values ? await pool.query(sql, [...values]) : await pool.query(sql);
      const last = (Array.isArray(result) ? result.at(-1) : result) as { rows: T[] };
      return last.rows;
    },
    async stop() {
      await pool.end();
      await server.stop();
    },
  };
}
