/**
 * Pools of the driver, with the settings that both of ours share, and how a connection is taken from one.
 */

import { Socket } from 'node:net';
import pg from 'pg';
import { forDriver } from '../../config/connection-url.ts';
import { beginUnpaused, endUnpaused, unpausedNow } from '../../shared/unpaused-clock.ts';
import { within } from '../../shared/within.ts';
import { DatabaseError } from '../failure.ts';
import { openDirectSocket } from './direct-socket.ts';
import type { DriverConnection } from './driver-connection.ts';
import { MessageReader } from './message-reader.ts';
import { TlsClient } from './tls-client.ts';

/** A client of the driver with the members that a flight and a cancel request need. */
export interface DriverClient {
  readonly connection: DriverConnection;
  readonly processID: number;
  readonly secretKey: number;
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: unknown;
  readonly database: string;
  readonly ssl: unknown;
  readonly sslNegotiation: string;
  /** Runs one statement or several, without values. */
  query(text: string): Promise<{ readonly rows: readonly Record<string, unknown>[] }>;
  /** Runs a query object, which is told about every message; see flight.ts. */
  query(object: { submit(connection: DriverConnection): void }): unknown;
  /** `I` outside a transaction; as of the last answer. */
  getTransactionStatus(): string | null;
  /** Back to the pool, or thrown away. */
  release(destroy: boolean): void;
}

/**
 * Waits for what follows an ErrorResponse: the server is ready for the next flight, or it closes the connection, which it
 * does where the error was fatal. The driver reports either only to listeners of the connection.
 *
 * @param settle Told whether the connection is lost.
 */
export function onceSettled(connection: DriverConnection, settle: (lost: boolean) => void): void {
  const onReady = () => {
    connection.off('end', onEnd);
    settle(false);
  };
  const onEnd = () => {
    connection.off('readyForQuery', onReady);
    settle(true);
  };
  connection.once('readyForQuery', onReady);
  connection.once('end', onEnd);
}

/** What a pool of the driver is made with. */
export interface DriverPoolOptions {
  readonly connectionString: string;
  readonly size: number;
  /** Longest wait for a connection, and for one to be made, in milliseconds. */
  readonly waitMs: number;
  readonly applicationName: string;
  /** Of one message of the server, in bytes; 256 MiB where nothing is said. */
  readonly maxMessageBytes?: number;
  /** A connection broke while idle or in use. */
  readonly onError: (problem: Error) => void;
}

interface DriverPool {
  readonly pool: pg.Pool;
  /** Refuses new work, waits for what runs, closes the connections; one whose server does not answer soon is cut. */
  end(): Promise<void>;
}

/** Longest wait for the answers of a server when connections are closed, in milliseconds. */
export const endLimitMs = 1000;

/**
 * An idle connection asks after so many milliseconds whether the server is still there; the operating system asks after hours, when
 * a router or a firewall on the way has long forgotten the connection.
 */
export const keepAliveAfterMs = 10_000;

/** Makes a pool of the driver; connects when first used. */
export function createDriverPool(options: DriverPoolOptions): DriverPool {
  const sockets = new Set<Socket>();
  const pool = new pg.Pool({
    Client: TlsClient,
    // Its type declarations leave out what it is called with.
    stream: (connection?: { readonly ssl?: unknown }) => openSocket(sockets, Boolean(connection?.ssl)),
    connectionString: forDriver(options.connectionString),
    max: options.size,
    connectionTimeoutMillis: options.waitMs,
    application_name: options.applicationName,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveAfterMs,
    idleTimeoutMillis: 5 * 60_000,
    // A server process keeps what it ever cached; a new one each hour bounds that.
    maxLifetimeSeconds: 3600,
  });
  // The pool itself listens only while a connection is idle: a server that dies under one in use would end the process.
  pool.on('connect', (client) => {
    client.on('error', options.onError);
    MessageReader.of((client as unknown as DriverClient).connection, options.maxMessageBytes);
  });
  // Repeated by the pool for idle connections; the listener above has told it already.
  pool.on('error', () => {});
  async function end(): Promise<void> {
    const isDone = await within(endLimitMs, pool.end());
    // The last word was sent, or will not be read. What the server makes of it is not waited for.
    for (const socket of sockets) isDone ? socket.unref() : socket.destroy();
  }
  return { pool, end };
}

/** What is encrypted arrives in the memory of its decryption. */
function openSocket(sockets: Set<Socket>, isEncrypted: boolean): Socket {
  const socket = isEncrypted ? new Socket() : openDirectSocket();
  sockets.add(socket);
  return socket.once('close', () => sockets.delete(socket));
}

/**
 * Takes a connection, first come first served. One that ends while it is being opened is opened once more, since nothing
 * was sent over it: an operator ends connections without asking how old they are. So is one that has taken too long only because
 * the whole process paused.
 *
 * @throws DatabaseError `overloaded` when none became free in time, `unavailable` when none could be made.
 */
export async function takeConnection(pool: pg.Pool, waitMs: number): Promise<DriverClient> {
  beginUnpaused();
  const end = unpausedNow() + waitMs * shareInTime;
  const first = await connect(pool);
  const isEarly = unpausedNow() < end;
  endUnpaused();
  const { problem } = first;
  const isRetried = problem !== null && ((timeouts.has(problem.message) && isEarly) || endedWhileOpening(problem));
  const { client, problem: last } = isRetried ? await connect(pool) : first;
  if (client !== null) return client;
  throw connectError(last, waitMs);
}

/**
 * Takes a connection and looks at it where it is new. One that ends under the look is opened once more, as in `takeConnection`.
 *
 * @param look Null where it is known. Rejects where the connection has ended.
 */
export async function takeKnown(
  take: () => Promise<DriverClient>,
  look: (client: DriverClient) => Promise<void> | null,
): Promise<DriverClient> {
  const first = await take();
  const isKnown = await (look(first) ?? Promise.resolve()).then(
    () => true,
    () => false,
  );
  if (isKnown) return first;
  const second = await take();
  await look(second);
  return second;
}

/** What the transactions of a connection begin with, as the server, the database and the login say. */
export interface TransactionDefaults {
  readonly isolation: string;
  readonly deferrable: string;
  /** Null on a standby. */
  readonly readOnly: string | null;
}

const lookAtDefaults = `select pg_catalog.pg_is_in_recovery() as standby,
  pg_catalog.max(s.reset_val) filter (where s.name operator(pg_catalog.=) 'default_transaction_isolation'::pg_catalog.text) as isolation,
  pg_catalog.max(s.reset_val) filter (where s.name operator(pg_catalog.=) 'default_transaction_deferrable'::pg_catalog.text) as deferrable,
  pg_catalog.max(s.reset_val) filter (where s.name operator(pg_catalog.=) 'default_transaction_read_only'::pg_catalog.text) as read_only
  from pg_catalog.pg_settings s`;

/** Clients whose number of the server process is the real one. */
const direct = new WeakSet<DriverClient>();

/** Whether the client is known to be connected to PostgreSQL itself: a pooler makes up the number of the server process. */
export function isDirect(client: DriverClient): boolean {
  return direct.has(client);
}

/**
 * Finds out whether a connection that has just been opened is PostgreSQL's own, and not a pooler's, which hands out server processes
 * that others use as well and makes up their numbers. Costs a round trip; the client is released where that fails.
 *
 * @throws DatabaseError `unavailable`.
 */
export async function checkDirect(client: DriverClient): Promise<boolean> {
  const { pid } = await askNew(client, 'select pg_catalog.pg_backend_pid() as pid');
  if (pid === client.processID) direct.add(client);
  return isDirect(client);
}

/** Asks a connection that has just been opened, for more work of the server than `checkDirect`. @throws as it does */
export async function readDefaults(client: DriverClient): Promise<TransactionDefaults> {
  const { standby, isolation, deferrable, read_only: readOnly } = await askNew(client, lookAtDefaults);
  return {
    isolation: String(isolation),
    deferrable: String(deferrable),
    readOnly: standby === false ? String(readOnly) : null,
  };
}

async function askNew(client: DriverClient, text: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const { rows } = await client.query(text);
    return rows[0] ?? {};
  } catch (problem) {
    client.release(true);
    throw connectError(problem, 0);
  }
}

/** Of a wait that was long enough; the rest is how exact timers are. */
const shareInTime = 0.9;

const noneFree = 'timeout exceeded when trying to connect';
/** What the driver says when something has taken too long. */
const timeouts: ReadonlySet<string> = new Set([
  noneFree,
  'timeout expired',
  'Connection terminated due to connection timeout',
]);

interface Connected {
  readonly client: DriverClient | null;
  /** Null where there is a client. */
  readonly problem: Error | null;
}

function connect(pool: pg.Pool): Promise<Connected> {
  return new Promise((resolve) => {
    try {
      pool.connect((problem, client) => {
        resolve({ client: (client as DriverClient | undefined) ?? null, problem: problem ?? null });
      });
    } catch (problem) {
      // The driver reads the connection string, and the files it names, for each connection.
      resolve({ client: null, problem: new UnusableConnectionError((problem as Error).message) });
    }
  });
}

/** The connection string asks for what cannot be done: nobody was asked for a connection. The message is the driver's. */
export class UnusableConnectionError extends Error {
  override readonly name = 'UnusableConnectionError';
}

/** The server was there: 57P01 is its word that an administrator ends this connection. */
function endedWhileOpening(problem: unknown): boolean {
  const { code, message } = problem as { readonly code?: string; readonly message?: string };
  return code === '57P01' || code === 'ECONNRESET' || message === 'Connection terminated unexpectedly';
}

function connectError(problem: unknown, waitMs: number): DatabaseError {
  if (problem instanceof Error && problem.message === noneFree) {
    return new DatabaseError({
      kind: 'overloaded',
      primary: `No database connection became free within ${waitMs} ms.`,
    });
  }
  return new DatabaseError({
    kind: 'unavailable',
    primary: 'The database cannot be reached.',
    sqlstate: problem instanceof pg.DatabaseError ? (problem.code ?? null) : null,
    cause: problem,
  });
}
