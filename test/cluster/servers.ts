/**
 * A cluster of real servers, each on a machine of its own: three of etcd, three of PostgreSQL under Patroni, two gateways with their
 * HAProxy and PgBouncer, and HAProxy in front. All run with the files of examples/deploy/cluster, in which only addresses, folders and
 * passwords are filled in, and that PostgreSQL remembers when it has committed what.
 */
import type { ChildProcess } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import pg from 'pg';
import { authSettings, createMailServers, type MailServers } from '../storm/world.ts';
import { secret } from '../support/http.ts';
import type { WhenOver } from '../support/when-over.ts';
import { createMachines, ended, hostAddress, type Machine } from './machines.ts';

const examples = new URL('../../examples/deploy/cluster/', import.meta.url);
const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const password = 'test';
const postgres = { user: 'postgres' } as const;

const numbers = {
  etcd1: 11,
  etcd2: 12,
  etcd3: 13,
  db1: 21,
  db2: 22,
  db3: 23,
  gateway1: 41,
  gateway2: 42,
  edge: 51,
} as const;
const databaseNames = ['db1', 'db2', 'db3'] as const;
/** Machines with a gateway. */
export const gatewayNames = ['gateway1', 'gateway2'] as const;
export type GatewayName = (typeof gatewayNames)[number];

type Machines = Readonly<Record<keyof typeof numbers, Machine>>;

/** What Patroni says of a database machine; null: nothing. */
type DatabaseRole = 'primary' | 'replica' | null;

/** The servers of a cluster. */
export interface Servers {
  readonly machines: Machines;
  readonly databases: readonly Machine[];
  readonly mail: MailServers;
  /** Where clients go. */
  readonly url: string;
  startDatabase(machine: Machine): void;
  /** Kills only the gateway's own process. */
  killGateway(name: GatewayName): Promise<void>;
  startGateway(name: GatewayName): void;
  /** Reloads all of HAProxy. */
  reloadProxies(): void;
  roleOf(machine: Machine): Promise<DatabaseRole>;
  /** The machine whose PostgreSQL is the primary; null: none, or nobody knows. */
  primary(): Promise<Machine | null>;
  /** Runs SQL as superuser on a machine. */
  query<T>(machine: Machine, sql: string, values?: readonly unknown[]): Promise<readonly T[]>;
  /** Lines that the gateways logged: warnings and worse. */
  logged(): readonly string[];
  /** Waits until everything is as it should be. */
  untilWell(): Promise<void>;
}

/** Starts them all. @param more In the environment of a gateway. */
export async function startServers(
  whenOver: WhenOver,
  more: (name: GatewayName) => Readonly<Record<string, string>> = () => ({}),
): Promise<Servers> {
  const directory = mkdtempSync(join(tmpdir(), 'pgreflect-cluster-'));
  chmodSync(directory, 0o755);
  whenOver(async () => rmSync(directory, { recursive: true, force: true }));
  const machines = await createMachines(numbers, directory, whenOver);
  const mail = await createMailServers(whenOver, hostAddress);
  const fill = filler(machines, directory);

  for (const name of ['etcd1', 'etcd2', 'etcd3'] as const) {
    const file = fill(name, 'etcd.yml', (text) =>
      text.replaceAll(/^(?:name|initial-advertise|advertise).*$/gm, (line) => line.replace('etcd1', name)),
    );
    machines[name].start('/usr/bin/etcd', ['--config-file', file]);
  }
  const startDatabase = ({ name }: Machine) => {
    const file = fill(name, 'patroni.yml', (text) =>
      text.replace(/^( *)max_connections: .*$/m, '$&\n$1track_commit_timestamp: "on"'),
    );
    const environment = fill(name, 'patroni.env', (text) => text.replaceAll('db1', name));
    const env = parseEnv(readFileSync(environment, 'utf8')) as Readonly<Record<string, string>>;
    machines[name as keyof Machines].start('/usr/bin/patroni', [file], { ...postgres, env });
  };
  const databases = databaseNames.map((name) => machines[name]);
  for (const machine of databases) startDatabase(machine);

  const proxies: ChildProcess[] = [];
  const startProxy = (name: keyof Machines, file: string) => {
    proxies.push(machines[name].start('/usr/sbin/haproxy', ['-W', '-f', fill(name, file)]));
  };
  for (const name of gatewayNames) {
    startProxy(name, 'haproxy-database.cfg');
    fill(name, 'userlist.txt');
    machines[name].start('/usr/sbin/pgbouncer', [fill(name, 'pgbouncer.ini')], postgres);
  }
  startProxy('edge', 'haproxy-gateways.cfg');

  const environments = gatewayNames.map((name) => {
    const given = parseEnv(readFileSync(fill(name, 'gateway.env'), 'utf8')) as Readonly<Record<string, string>>;
    return {
      ...given,
      ...authSettings,
      ...more(name),
      PGREFLECT_JWT_SECRET: secret,
      PGREFLECT_SMTP_HOST: hostAddress,
      PGREFLECT_SMTP_PORT: String(mail.port),
      PGREFLECT_ALLOW_UNENCRYPTED_MAIL: 'true',
      PGREFLECT_LOG_LEVEL: 'warn',
    } as Readonly<Record<string, string>>;
  });
  const gateways = new Map<string, ChildProcess>();
  const startGateway = (name: GatewayName) => {
    const env = environments[gatewayNames.indexOf(name)]!;
    gateways.set(name, machines[name].start(process.execPath, [main, 'serve'], { env }));
  };

  const roleOf = async ({ address }: Machine): Promise<DatabaseRole> => {
    const [primary, replica] = await Promise.all([
      answers(`http://${address}:8008/primary`),
      answers(`http://${address}:8008/replica`),
    ]);
    if (primary) return 'primary';
    return replica ? 'replica' : null;
  };
  const servers: Servers = {
    machines,
    databases,
    mail,
    url: `http://${machines.edge.address}`,
    startDatabase,
    startGateway,
    async killGateway(name) {
      const running = gateways.get(name)!;
      running.kill('SIGKILL');
      await ended(running);
    },
    reloadProxies() {
      for (const proxy of proxies) proxy.kill('SIGUSR2');
    },
    roleOf,
    async primary() {
      const roles = await Promise.all(databases.map(roleOf));
      const at = roles.indexOf('primary');
      return roles.lastIndexOf('primary') === at ? (databases[at] ?? null) : null;
    },
    query: (machine, sql, values) => query(machine, 'shop', sql, values),
    logged: () =>
      gatewayNames.flatMap((name) =>
        readFileSync(join(directory, `${name}-node.log`), 'utf8')
          .trimEnd()
          .split('\n'),
      ),
    untilWell: () => until('everything is well', () => isWell(servers)),
  };

  await until('PostgreSQL has a primary with two replicas', () => isReplicated(servers, 'postgres'));
  await query((await servers.primary())!, 'postgres', 'create database shop');
  const login = { PGREFLECT_LOGIN_PASSWORD: password, PGREFLECT_AUTH_ROLE_PASSWORD: password };
  const admin = { PGREFLECT_DATABASE_URL: `postgresql://postgres:${password}@127.0.0.1:5000/shop` };
  const env = { ...environments[0], ...login, ...admin, PGREFLECT_ADMIN_DATABASE_URL: '' };
  machines.gateway1.run(process.execPath, [main, 'init', '--auth', '--watch'], { env });
  const schema = readFileSync(new URL('cluster.sql', import.meta.url), 'utf8');
  await query((await servers.primary())!, 'shop', schema);
  for (const name of gatewayNames) startGateway(name);
  await servers.untilWell();
  return servers;
}

/** Puts a file of the examples into the folder of a machine, and returns its place. */
function filler(machines: Machines, directory: string) {
  const user = statSync('/var/lib/postgresql');
  return (name: string, file: string, change = (text: string) => text): string => {
    const folder = join(directory, name);
    mkdirSync(join(folder, 'socket'), { recursive: true });
    chownSync(folder, user.uid, user.gid);
    chownSync(join(folder, 'socket'), user.uid, user.gid);
    const text = change(readFileSync(new URL(file, examples), 'utf8'))
      .replaceAll(/\b(\w+)\.internal\b/g, (whole, machine: string) =>
        machine in machines ? machines[machine as keyof Machines].address : whole,
      )
      .replaceAll('CHANGE_ME', password)
      .replaceAll(/\/var\/lib\/(?:postgresql\/15|etcd)\/shop|\/etc\/pgbouncer/g, (path) =>
        path.startsWith('/etc') ? folder : join(folder, 'data'),
      )
      .replaceAll('/var/run/postgresql', join(folder, 'socket'));
    const path = join(folder, file);
    writeFileSync(path, text);
    return path;
  };
}

async function query<T>(
  { address }: Machine,
  database: string,
  sql: string,
  values: readonly unknown[] = [],
): Promise<readonly T[]> {
  const client = new pg.Client({
    connectionString: `postgresql://postgres:${password}@${address}:5432/${database}`,
    connectionTimeoutMillis: 3000,
    query_timeout: 10_000,
  });
  client.on('error', () => {});
  await client.connect();
  try {
    return (values.length > 0 ? await client.query(sql, [...values]) : await client.query(sql)).rows as T[];
  } finally {
    client.end().catch(() => {});
  }
}

/** Whether a URL answers 200. */
async function answers(url: string): Promise<boolean> {
  const response = await fetch(url, { signal: AbortSignal.timeout(1000) }).catch(() => null);
  await response?.arrayBuffer().catch(() => {});
  return response?.status === 200;
}

/** Whether there is one primary, which two others follow, one of them before each answer. */
async function isReplicated(servers: Servers, database: string): Promise<boolean> {
  const roles = await Promise.all(servers.databases.map(servers.roleOf));
  if (roles.filter((role) => role === 'replica').length !== 2) return false;
  const primary = servers.databases[roles.indexOf('primary')];
  if (primary === undefined) return false;
  const sql = `select sync_state from pg_stat_replication where state = 'streaming' order by 1`;
  const rows = await query<{ readonly sync_state: string }>(primary, database, sql).catch(() => []);
  return rows.map((row) => row.sync_state).join() === 'async,sync';
}

async function isWell(servers: Servers): Promise<boolean> {
  if (!(await isReplicated(servers, 'shop'))) return false;
  const urls = gatewayNames.map((name) => `http://${servers.machines[name].address}:54321/ready`);
  const ready = await Promise.all([...urls, `${servers.url}/ready`].map(answers));
  return ready.every(Boolean);
}

/** Waits for it, for three minutes at most. */
export async function until(what: string, holds: () => Promise<boolean>, pauseMs = 500): Promise<void> {
  const end = performance.now() + 180_000;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`Not within three minutes: ${what}`);
    await sleep(pauseMs);
  }
}
