/**
 * The connections of API requests, each with its known prepared statements and its cleanliness. The queue handles
 * waiting (connection-queue.ts), the driver's pool opening and closing.
 */

import type { SpanFacts } from '../../shared/trace/span.ts';
import { serverFacts } from '../server-facts.ts';
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
import { type FlightCounts, newWaits, type PoolState, poolState } from '../wire/pool-state.ts';
import { PreparedStatements } from '../wire/prepared-statements.ts';
import { StatementNames } from '../wire/statement-names.ts';
import { ConnectionQueue, type Turn } from './connection-queue.ts';
import { FlightBatches } from './flight-batch.ts';
import type { ApiConnection } from './queued-request.ts';
import { SlowPlans } from './slow-plans.ts';

/** Settings that a reset cannot restore. PostgreSQL reports a change, and the connection is closed. */
const unresettable: ReadonlySet<string> = new Set(['default_transaction_read_only', 'session_authorization']);

/** The pool that run-as.ts uses. */
export interface ApiPool {
  readonly names: StatementNames;
  readonly queue: ConnectionQueue;
  readonly batches: FlightBatches;
  readonly slowPlans: SlowPlans;
  readonly counts: FlightCounts;
  /** Where the database is, by semantic conventions. */
  readonly server: SpanFacts;
  state(): PoolState;
  /** Opens a connection, so that the first request has one. On failure, the requests will report it. */
  open(): Promise<void>;
  /** Refuses new work, waits briefly for running work, closes the connections. */
  stop(): Promise<void>;
}

/** Events of the pool for operators. */
export type PoolEvent =
  /** A connection broke while idle or in use. */
  | { readonly kind: 'connection_lost'; readonly problem: Error }
  /** A pooler is in front of PostgreSQL: other clients use its connections, so nothing is prepared from now on. */
  | { readonly kind: 'prepared_statements_off' };

/** Size and behavior of the pool for API requests. */
export interface ApiPoolOptions extends Omit<DriverPoolOptions, 'onError'> {
  /** Prepare statements, if the connection is PostgreSQL's own. */
  readonly preparedStatements: boolean;
  /** Most named statements in one server process; a nested one can take 100 KB there. */
  readonly maxStatementsPerConnection: number;
  readonly onEvent: (event: PoolEvent) => void;
}

/** Makes the pool; connects when first used. */
export function createApiPool(options: ApiPoolOptions): ApiPool {
  const { pool, end } = createDriverPool({
    ...options,
    onError: (problem) => options.onEvent({ kind: 'connection_lost', problem }),
  });
  const counts: FlightCounts = { flights: 0, batches: 0, refused: 0, waits: newWaits() };
  const queue = new ConnectionQueue(options);
  const connections = new WeakMap<DriverClient, ApiConnection>();
  const names = new StatementNames(options.preparedStatements);
  /** The transaction defaults behind a pooler; null: no pooler. A pooler, once detected, is assumed for good. */
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
    const connection = newConnection(client, shared, options.maxStatementsPerConnection);
    connections.set(client, connection);
    return connection;
  };
  // closes a broken or unusable connection, and one whose server process keeps much. Behind a pooler that would end no server process.
  const release = (turn: Turn, connection: ApiConnection, broken: boolean) => {
    connection.client.release(broken || connection.isUnusable || (shared === null && connection.prepared.isWorn));
    queue.leave(turn);
  };
  const slowPlans = new SlowPlans();
  return {
    names,
    queue,
    batches: new FlightBatches({ queue, slowPlans, waits: counts.waits, acquire, release }),
    slowPlans,
    counts,
    server: serverFacts(options.connectionString),
    state: () => ({ ...poolState(pool, counts.waits), ...counts, waiting: queue.waiting }),
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
  // Behind a transaction pooler, even a new connection may get a used server process.
  const state = { needsFullReset: true, wrote: false, hasTemporaryTables: false, isUnusable: false };
  const connection: ApiConnection = { client, prepared, shared, ...state };
  client.connection.on('parameterStatus', ({ parameterName }) => {
    if (unresettable.has(parameterName)) connection.isUnusable = true;
  });
  return connection;
}
