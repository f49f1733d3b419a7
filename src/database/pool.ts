/**
 * The connections of API requests, each with what we know of its named statements and of its cleanliness.
 *
 * The queue does the waiting (connection-queue.ts), the driver's pool the connecting and the closing; this adds the
 * knowledge that outlives a flight. Used by run-as.ts alone.
 */
import { CommitPace } from './commit-pace.ts';
import { ConnectionQueue, type Turn } from './connection-queue.ts';
import { createDriverPool, type DriverClient, takeConnection } from './driver.ts';
import { FlightBatches } from './flight-batches.ts';
import { type FlightCounts, type PoolState, poolState } from './pool-state.ts';
import { PreparedStatements } from './prepared-statements.ts';
import { StandbyWait } from './standby-wait.ts';
import { StatementNames } from './statement-names.ts';
import { StatementPace } from './statement-pace.ts';

/** One connection, in the hands of one batch of flights. */
export interface ApiConnection {
  readonly client: DriverClient;
  readonly prepared: PreparedStatements;
  /** A user's function may have left state in the session: the next flight cleans it first. */
  dirty: boolean;
  /** A user's function has made temporary tables in the session: from now on every flight cleans it first. */
  hasTemporaryTables: boolean;
  /** A user's function has changed what transactions begin with, or whose session it is: no statement of ours cleans that up. */
  isSpoiled: boolean;
}

/** Settings of a session, reported by the server when they change, that only a new session is without. */
const spoiling: ReadonlySet<string> = new Set(['default_transaction_read_only', 'session_authorization']);

/** What runs requests; see run-as.ts. */
export interface ApiPool {
  readonly names: StatementNames;
  readonly queue: ConnectionQueue;
  readonly batches: FlightBatches;
  readonly pace: StatementPace;
  readonly counts: FlightCounts;
  state(): PoolState;
  /** Opens a connection, so that the first request has one. Where none can be had, requests will say so. */
  open(): Promise<void>;
  /** Refuses new work, waits a moment for what runs, closes the connections. */
  stop(): Promise<void>;
}

/** What the pool has to tell an operator. */
export type PoolEvent =
  /** A connection broke while idle or in use. */
  | { readonly kind: 'connection_lost'; readonly problem: Error }
  /** A pooler between us and PostgreSQL loses prepared statements; naming is off from now on. */
  | { readonly kind: 'prepared_statements_off'; readonly option: '--prepared-statements' };

/** Size and behaviour of the pool for API requests. */
export interface ApiPoolOptions {
  readonly connectionString: string;
  readonly size: number;
  /** Longest wait for a connection, in milliseconds. */
  readonly waitMs: number;
  readonly applicationName: string;
  /** As of `DriverPoolOptions`. */
  readonly maxMessageBytes?: number;
  /** False behind a pooler that cannot keep them. */
  readonly preparedStatements: boolean;
  /** Ceiling of named statements in one server process; a nested one can hold 100 KB there. */
  readonly maxStatementsPerConnection: number;
  readonly onEvent: (event: PoolEvent) => void;
}

/** Makes the pool; connects when first used. */
export function createApiPool(options: ApiPoolOptions): ApiPool {
  const { pool, end } = createDriverPool({
    ...options,
    onError: (problem) => options.onEvent({ kind: 'connection_lost', problem }),
  });
  const counts: FlightCounts = { flights: 0, batches: 0, refused: 0 };
  const queue = new ConnectionQueue(options);
  const connections = new WeakMap<DriverClient, ApiConnection>();
  const acquire = async (turn: Turn): Promise<ApiConnection> => {
    let client: DriverClient;
    try {
      client = await takeConnection(pool, options.waitMs);
    } catch (problem) {
      queue.leave(turn);
      throw problem;
    }
    counts.batches += 1;
    const known = connections.get(client);
    if (known) return known;
    queue.restart(turn);
    const prepared = new PreparedStatements(options.maxStatementsPerConnection);
    // Behind a transaction pooler the first session is not a new one.
    const state = { dirty: true, hasTemporaryTables: false, isSpoiled: false };
    const connection: ApiConnection = { client, prepared, ...state };
    client.connection.on('parameterStatus', ({ parameterName }) => {
      if (spoiling.has(parameterName)) connection.isSpoiled = true;
    });
    connections.set(client, connection);
    return connection;
  };
  // One that is broken or spoiled is thrown away.
  const release = (turn: Turn, connection: ApiConnection, broken: boolean) => {
    connection.client.release(broken || connection.isSpoiled);
    queue.leave(turn);
  };
  const pace = new StatementPace();
  return {
    names: new StatementNames(options.preparedStatements, () =>
      options.onEvent({ kind: 'prepared_statements_off', option: '--prepared-statements' }),
    ),
    queue,
    batches: new FlightBatches(
      { queue, standbys: new StandbyWait(options), commits: new CommitPace(), acquire, release },
      pace,
    ),
    pace,
    counts,
    state: () => ({ ...poolState(pool), ...counts, waiting: queue.waiting }),
    open: () =>
      takeConnection(pool, options.waitMs).then(
        (client) => client.release(false),
        () => {},
      ),
    stop: end,
  };
}
