/**
 * Starts and stops the packaged PostgreSQL server, for `pgreflect start` and for the tests.
 *
 * Listens on loopback only. As root, the server runs as the operating system's user `postgres`, created if missing. The
 * server is not in our process group, so Ctrl-C reaches only us and running requests can finish. A small shell waits
 * for our end and stops the server even if we are killed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { finishesWithin } from '../../shared/finishes-within.ts';
import { findBinaries } from './embedded-binaries.ts';
import { awaitUnused, initializeData, locateData, serverEnvironment } from './embedded-data.ts';
import { EmbeddedServerError } from './embedded-server-error.ts';
import { findServerUser, type ServerUser } from './server-user.ts';

/** A running server. */
export interface EmbeddedServer {
  /** Connection string of the superuser, for the database `postgres`. */
  readonly url: string;
  readonly port: number;
  /** Ends connections and stops, within seconds; repeatable. Removes the data unless it is persistent. */
  stop(): Promise<void>;
}

interface EmbeddedServerOptions {
  /** Created if missing. */
  readonly dataDirectory: string;
  /** The superuser's; must not change while the data exists. */
  readonly password: string;
  /** Keep the data when the server stops. */
  readonly persistent: boolean;
  /** Further `-c name=value` settings. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Port; default: a free one. */
  readonly port?: number;
  /** Without `port`: use this one unless it is taken. */
  readonly preferredPort?: number;
  /** Receives the server's log, line by line. */
  readonly onLog?: (line: string) => void;
}

/** Longest recovery of the data before the start counts as failed. */
const startLimitMs = 60_000;
/** Longest stop with a checkpoint, before one without. */
const fastStopLimitMs = 10_000;
const immediateStopLimitMs = 5000;

/** Starts a server, in a new directory after 2-3 s. @throws EmbeddedServerError With a hint for the terminal. */
export async function startEmbeddedServer(options: EmbeddedServerOptions): Promise<EmbeddedServer> {
  const log = options.onLog ?? (() => {});
  const user = await findServerUser();
  const binaries = await findBinaries(user);
  const directory = await locateData(options.dataDirectory, user, log);
  await awaitUnused(directory);
  await initializeData(directory, options.password, binaries, user);

  for (let attempt = 1; ; attempt += 1) {
    const preferred = options.port ?? (attempt === 1 ? options.preferredPort : undefined);
    const port = preferred ?? (await findFreePort());
    try {
      const child = await launch({ ...options, program: binaries.postgres, directory, port, user, log });
      return {
        url: `postgresql://postgres:${encodeURIComponent(options.password)}@127.0.0.1:${port}/postgres`,
        port,
        stop: () => stop(child, options.persistent ? [] : [directory, options.dataDirectory]),
      };
    } catch (problem) {
      // Another program may have taken the port since it was free.
      const taken = problem instanceof EmbeddedServerError && problem.message.includes('could not bind');
      if (!taken || attempt === 3) throw problem;
      if (options.port !== undefined) throw portTaken(port, await findFreePort(), problem);
    }
  }
}

function portTaken(port: number, free: number, cause: EmbeddedServerError): EmbeddedServerError {
  const hint = `Choose another one for the database, for example --database-port ${free}, which is free.`;
  return new EmbeddedServerError(`Port ${port} is in use by another program.`, { hint, cause });
}

/** A TCP port on loopback that is free at the moment. */
export async function findFreePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

interface Launch {
  readonly program: string;
  readonly directory: string;
  readonly port: number;
  readonly user: ServerUser | null;
  readonly settings?: Readonly<Record<string, string>>;
  readonly log: (line: string) => void;
}

/** Runs the server program and waits until it accepts connections. */
async function launch(options: Launch): Promise<ChildProcess> {
  const settings = {
    listen_addresses: '127.0.0.1', unix_socket_directories: '', lc_messages: 'C', log_destination: 'stderr',
    logging_collector: 'off', ...options.settings,
  }; // biome-ignore format: pairs
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(options.program, ['-D', options.directory, '-p', String(options.port), ...flags], {
    ...(options.user ?? {}),
    cwd: '/',
    env: serverEnvironment(),
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const guard = child.pid === undefined ? null : spawnGuard(child.pid);
  child.once('exit', () => guard?.kill('SIGKILL'));
  await awaitReady(child, options.log);
  return child;
}

function awaitReady(child: ChildProcess, log: (line: string) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const recent: string[] = [];
    const fail = (reason: string, cause?: unknown) => {
      clearTimeout(timer);
      const said = [reason, ...recent].join('\n  ');
      const hint = 'The lines above are the log of the server; where nothing else helps, start with a new directory.';
      reject(new EmbeddedServerError(`PostgreSQL did not start: ${said}`, { hint, cause }));
    };
    const timer = setTimeout(() => {
      child.kill('SIGQUIT');
      fail(`not ready after ${startLimitMs / 1000} s`);
    }, startLimitMs);
    // Read until the server ends: a full pipe would block it.
    createInterface(child.stderr!).on('line', (line) => {
      log(line);
      if (recent.push(line) > 8) recent.shift();
      // A standby reports that its connections are read-only.
      if (!/database system is ready to accept (read-only )?connections/.test(line)) return;
      clearTimeout(timer);
      resolve();
    });
    child.once('error', (problem) => fail(problem.message, problem));
    child.once('close', (code) => fail(`it ended with code ${code}`));
  });
}

/** A shell that stops the server when we end, in whatever way. It ignores Ctrl-C and does not keep us alive. */
function spawnGuard(serverPid: number): ChildProcess | null {
  if (process.platform === 'win32') return null;
  const guard = spawn('/bin/sh', ['-c', 'trap "" INT TERM HUP; read -r line; kill -INT "$0"', String(serverPid)], {
    cwd: '/',
    detached: true,
    env: {},
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.on('error', () => {});
  guard.unref();
  (guard.stdin as unknown as { unref(): void } | null)?.unref();
  return guard;
}

/** Fast shutdown: ends connections, rolls back, writes a checkpoint. */
async function stop(child: ChildProcess, remove: readonly string[]): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await end(child);
  for (const path of remove) {
    if (lstatSync(path, { throwIfNoEntry: false })) await rm(path, { recursive: true, force: true });
  }
}

async function end(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGINT');
  if (await finishesWithin(fastStopLimitMs, ended)) return;
  // Without a checkpoint; the next start recovers from the log.
  child.kill('SIGQUIT');
  if (await finishesWithin(immediateStopLimitMs, ended)) return;
  // It hangs and reacts to no other signal.
  child.kill('SIGKILL');
  await ended;
}
