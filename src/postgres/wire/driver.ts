/** Pools of the driver, with common settings, and taking connections from them. */
import { Socket } from 'node:net';
import pg from 'pg';
import { finishesWithin } from '../../shared/finishes-within.ts';
import { DatabaseError } from '../database-error.ts';
import {
  type ConnectionWatch,
  failureReason,
  isTimeout,
  noneFree,
  UnusableConnectionError,
} from './connection-failure.ts';
import { openDirectSocket } from './direct-socket.ts';
import type { DriverConnection } from './driver-connection.ts';
import { Login } from './login.ts';
import { MessageReader } from './message-reader.ts';
import { shareInTime, TlsClient, type TlsClientOptions } from './tls-client.ts';
import { beginUnpaused, endUnpaused, unpausedNow } from './unpaused-clock.ts';

/** A driver client with the members that flights and cancel requests need. */
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
  /** The connection string that it logged in with. */
  readonly loginText: string;
  /** Runs one statement or several, without values. */
  query(text: string): Promise<{ readonly rows: readonly Record<string, unknown>[] }>;
  /** Runs a query object, which receives every message; see flight.ts. */
  query(object: { submit(connection: DriverConnection): void }): unknown;
  /** `I` outside a transaction; as of the last answer. */
  getTransactionStatus(): string | null;
  /** Warnings and notices of the server. */
  on(event: 'notice', listener: (notice: { readonly code?: string; readonly message?: string }) => void): unknown;
  /** Returns it to the pool, or closes it. */
  release(destroy: boolean): void;
}

/**
 * Waits for the end of an ErrorResponse: the server is ready for the next flight, or closes the connection after a
 * fatal error. The driver reports both only to listeners of the connection.
 *
 * @param settle Called with whether the connection is lost.
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

/** Options of a driver pool. */
export interface DriverPoolOptions {
  /** A login if it may be replaced. */
  readonly connectionString: string | Login;
  readonly size: number;
  /** Longest wait for a connection, and for opening one, in milliseconds. */
  readonly waitMs: number;
  readonly applicationName: string;
  /** Limit of one server message in bytes; default 256 MiB. */
  readonly maxMessageBytes?: number;
  /** Is told of each attempt to open a connection. */
  readonly watch?: ConnectionWatch;
  /** A connection broke while idle or in use. */
  readonly onError: (problem: Error) => void;
}

interface DriverPool {
  readonly pool: pg.Pool;
  /** Refuses new work, waits for running work, closes the connections; cuts one whose server does not answer soon. */
  end(): Promise<void>;
}

/** Longest wait for servers when closing connections, in milliseconds. */
export const endLimitMs = 1000;

/** Idle time before keep-alive probes, in milliseconds. By default it is hours, and a firewall drops it before. */
export const keepAliveAfterMs = 10_000;

/** Makes a pool of the driver; connects when first used. */
export function createDriverPool(options: DriverPoolOptions): DriverPool {
  const sockets = new Set<Socket>();
  const { connectionString, watch } = options;
  const login = connectionString instanceof Login ? connectionString : new Login(connectionString);
  // The pool passes its options on to its clients.
  const ofClients: TlsClientOptions = watch === undefined ? { login } : { login, watch };
  const pool = new pg.Pool({
    ...ofClients,
    Client: TlsClient as unknown as typeof pg.Client,
    // The type declarations lack its parameter.
    stream: (connection?: { readonly ssl?: unknown }) => openSocket(sockets, Boolean(connection?.ssl)),
    max: options.size,
    connectionTimeoutMillis: options.waitMs,
    application_name: options.applicationName,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveAfterMs,
    idleTimeoutMillis: 5 * 60_000,
    // A server process never frees some caches; a new one each hour bounds them.
    maxLifetimeSeconds: 3600,
  });
  // The pool itself listens only to idle connections: without this, the failure of a used one would end the process.
  pool.on('connect', (client) => {
    client.on('error', options.onError);
    MessageReader.of((client as unknown as DriverClient).connection, options.maxMessageBytes);
  });
  // The pool repeats errors of idle connections, which the listener above has reported.
  pool.on('error', () => {});
  async function end(): Promise<void> {
    const isDone = await finishesWithin(endLimitMs, pool.end());
    // The goodbye message was sent, or will not be read. Do not wait for the server.
    for (const socket of sockets) isDone ? socket.unref() : socket.destroy();
  }
  return { pool, end };
}

/** With TLS, data arrives in the decryption's own buffers. */
function openSocket(sockets: Set<Socket>, isEncrypted: boolean): Socket {
  const socket = isEncrypted ? new Socket() : openDirectSocket();
  sockets.add(socket);
  return socket.once('close', () => sockets.delete(socket));
}

/**
 * Takes a connection, first come first served; none with a login that was replaced. Retries once if a connection ends
 * while being opened (an administrator may end connections at any time; nothing was sent yet), if opening timed out
 * only because the process was paused, or if another login may work.
 *
 * @throws DatabaseError `overloaded` if none became free in time, `unavailable` if none could be opened.
 */
export async function takeConnection(pool: pg.Pool, waitMs: number): Promise<DriverClient> {
  beginUnpaused();
  const end = unpausedNow() + waitMs * shareInTime;
  const first = await connectWithPresentLogin(pool);
  const isEarly = unpausedNow() < end;
  endUnpaused();
  const { problem } = first;
  const isRetried = problem !== null && ((isTimeout(problem) && isEarly) || endedWhileOpening(problem));
  let { client, problem: last, mayLogInOtherwise } = isRetried ? await connect(pool) : first;
  // A password may be changed between two attempts.
  for (let attempt = 2; mayLogInOtherwise && attempt <= maxLogins; attempt += 1)
    ({ client, problem: last, mayLogInOtherwise } = await connect(pool));
  if (client !== null) return client;
  throw connectError(last, waitMs);
}

/**
 * Takes a connection and inspects a new one. Retries once if it ends during that, as in `takeConnection`.
 *
 * @param look Null: no inspection needed. Rejects if the connection has ended.
 */
export async function takeKnown(
  take: () => Promise<DriverClient>,
  look: (client: DriverClient) => Promise<void> | null,
): Promise<DriverClient> {
  const first = await take();
  const looking = look(first);
  if (looking === null) return first;
  const isKnown = await looking.then(
    () => true,
    () => false,
  );
  if (isKnown) return first;
  const second = await take();
  await look(second);
  return second;
}

/** The defaults for new transactions by server, database and login. */
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

/** Clients whose server process id is real. */
const direct = new WeakSet<DriverClient>();

/** Whether the client is known to be connected directly to PostgreSQL: a pooler makes up process ids. */
export function isDirect(client: DriverClient): boolean {
  return direct.has(client);
}

/**
 * Detects a pooler on a new connection: poolers hand out shared server processes and make up their ids. Costs a round
 * trip; releases the client on failure.
 *
 * @throws DatabaseError `unavailable`.
 */
export async function checkDirect(client: DriverClient): Promise<boolean> {
  const { pid } = await askNew(client, 'select pg_catalog.pg_backend_pid() as pid');
  if (pid === client.processID) direct.add(client);
  return isDirect(client);
}

/** Reads the defaults on a new connection; costs the server more than `checkDirect`. @throws as `checkDirect` */
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

/** Attempts with the present login and the one before. */
const maxLogins = 3;

interface Connected {
  readonly client: DriverClient | null;
  /** Null if there is a client. */
  readonly problem: Error | null;
  readonly mayLogInOtherwise: boolean;
}

function clientOptions(pool: pg.Pool): TlsClientOptions {
  return pool.options as unknown as TlsClientOptions;
}

/** Closes the connections of replaced logins that it meets. */
async function connectWithPresentLogin(pool: pg.Pool): Promise<Connected> {
  const { login } = clientOptions(pool);
  for (;;) {
    const connected = await connect(pool);
    if (connected.client === null || !login.isOld(connected.client.loginText)) return connected;
    connected.client.release(true);
  }
}

function connect(pool: pg.Pool): Promise<Connected> {
  const { login, watch } = clientOptions(pool);
  return new Promise((resolve) => {
    const fail = (problem: Error, mayLogInOtherwise: boolean) => resolve({ client: null, problem, mayLogInOtherwise });
    try {
      const { text } = login;
      pool.connect((problem, client) => {
        if (problem) fail(problem, failureReason(problem) === 'login_refused' && login.refused(text));
        else resolve({ client: client as unknown as DriverClient, problem: null, mayLogInOtherwise: false });
      });
    } catch (problem) {
      // The driver reads the connection string, and the files it names, for each connection.
      const unusable = new UnusableConnectionError((problem as Error).message);
      watch?.failed(unusable);
      fail(unusable, false);
    }
  });
}

/** The server was reachable: 57P01 means that an administrator ended this connection. */
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
