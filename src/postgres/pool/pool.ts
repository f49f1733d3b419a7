/**
 * The connections of API requests, each with what we know of its named statements and of its cleanliness.
 * The queue does the waiting (connection-queue.ts), the driver's pool the connecting and the closing.
 */

import {
  checkDirect,
  createDriverPool,
  type DriverClient,
  type DriverPoolOptions,
  readDefaults,
  type TransactionDefaults,
  takeConnection,
  takeKnown,
} from '../wire/driver.ts';
import { type FlightCounts, type PoolState, poolState } from '../wire/pool-state.ts';
import { PreparedStatements } from '../wire/prepared-statements.ts';
import { StatementNames } from '../wire/statement-names.ts';
import { ConnectionQueue, type Turn } from './connection-queue.ts';
import { FlightBatches } from './flight-batch.ts';
import type { ApiConnection } from './queued-request.ts';
import { StatementDurations } from './statement-durations.ts';

/** Settings whose change the server reports, and that only a new connection is without. */
const spoiling: ReadonlySet<string> = new Set(['default_transaction_read_only', 'session_authorization']);

/** What runs requests; see run-as.ts. */
export interface ApiPool {
  readonly names: StatementNames;
  readonly queue: ConnectionQueue;
  readonly batches: FlightBatches;
  readonly durations: StatementDurations;
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
  /** A pooler sits between us and PostgreSQL: other clients use its connections as well, so nothing is prepared from now on. */
  | { readonly kind: 'prepared_statements_off' };

/** Size and behavior of the pool for API requests. */
export interface ApiPoolOptions extends Omit<DriverPoolOptions, 'onError'> {
  /** Where the connection is PostgreSQL's own. */
  readonly preparedStatements: boolean;
  /** Most named statements in one server process; a nested one can hold 100 KB there. */
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
  const names = new StatementNames(options.preparedStatements);
  /** What transactions of a pooler's connections begin with; null: there is none. Once there is one, there is one. */
  let shared: TransactionDefaults | null = null;
  const lookAt = async (client: DriverClient) => {
    if (shared !== null || ((await checkDirect(client)) && names.enabled)) return;
    shared = await readDefaults(client);
    if (!names.enabled) return;
    names.disable();
    options.onEvent({ kind: 'prepared_statements_off' });
  };
  const acquire = async (turn: Turn): Promise<ApiConnection> => {
    let client: DriverClient;
    try {
      client = await takeKnown(
        () => takeConnection(pool, options.waitMs),
        (taken) => (connections.has(taken) ? null : lookAt(taken)),
      );
    } catch (problem) {
      queue.leave(turn);
      throw problem;
    }
    counts.batches += 1;
    const known = connections.get(client);
    if (known) return known;
    queue.restart(turn);
    const connection = newConnection(client, shared, options.maxStatementsPerConnection);
    connections.set(client, connection);
    return connection;
  };
  // One that is broken or spoiled is thrown away.
  const release = (turn: Turn, connection: ApiConnection, broken: boolean) => {
    connection.client.release(broken || connection.isSpoiled);
    queue.leave(turn);
  };
  const durations = new StatementDurations();
  return {
    names,
    queue,
    batches: new FlightBatches({ queue, durations, acquire, release }),
    durations,
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

function newConnection(client: DriverClient, shared: TransactionDefaults | null, maxStatements: number): ApiConnection {
  const prepared = new PreparedStatements(maxStatements);
  // Behind a transaction pooler a new connection may get a server process that others have used.
  const state = { dirty: true, hasTemporaryTables: false, isSpoiled: false };
  const connection: ApiConnection = { client, prepared, shared, ...state };
  client.connection.on('parameterStatus', ({ parameterName }) => {
    if (spoiling.has(parameterName)) connection.isSpoiled = true;
  });
  return connection;
}
