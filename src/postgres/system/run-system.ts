/**
 * Runs system statements (catalog, migrations, authentication) under the login role, on a separate pool.
 *
 * Separate from API requests, so that state left by user functions never gets here, and a burst of requests cannot
 * delay reading the catalog.
 */
import { currentSpan } from '../../shared/trace/current-span.ts';
import { DatabaseError } from '../database-error.ts';
import { serverFacts } from '../server-facts.ts';
import {
  checkDirect,
  createDriverPool,
  type DriverClient,
  type DriverPoolOptions,
  takeConnection,
  takeKnown,
} from '../wire/driver.ts';
import { newWaits, type PoolState, poolState } from '../wire/pool-state.ts';
import { PreparedStatements } from '../wire/prepared-statements.ts';
import { StatementNames } from '../wire/statement-names.ts';
import type { Queryable } from './queryable.ts';
import { runSystemAlone, runSystemSteps, type SystemConnection } from './system-connection.ts';
import type { Rows } from './system-rows.ts';
import { runTransaction, type TransactionOptions } from './system-transaction.ts';

/** A connection per call, or one connection for a whole transaction. */
export interface SystemPool extends Queryable {
  /** Runs `run` in a transaction, once. `begin` travels with the first statement. */
  transaction<T>(run: (tx: Queryable) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Runs one statement that cannot be in a transaction (`create database`). It must look up no names. */
  outsideTransaction(text: string): Promise<void>;
  state(): PoolState;
  /** Refuses new work, waits briefly for running work, closes the connections. */
  stop(): Promise<void>;
}

/** Size and behavior of the pool for system statements. */
export interface SystemPoolOptions extends DriverPoolOptions {
  /** Longest wait for an answer in milliseconds, unless a transaction sets its own; null: no limit. */
  readonly answerWithinMs?: number | null;
  /**
   * Prepares statements with values once per connection, which saves the server most of the work for long ones. Never
   * behind a pooler, whose connections others use; only for few, fixed texts.
   */
  readonly preparedStatements?: boolean;
  /**
   * Fails as `unavailable` on a standby, also what only reads: a router may lead there for a moment after a failover, and
   * what is missing there may have been committed. The connection is closed, as the next one may lead elsewhere.
   */
  readonly primaryOnly?: boolean;
  /** Called when a pooler is detected: nothing is prepared from now on. */
  readonly onPreparedOff?: () => void;
}

/** Far longer than our statements take, even if a busy server compares a catalog of very many tables. */
const defaultAnswerMs = 60_000;
/** Most statements prepared per connection, because a server process keeps them all. */
const maxPrepared = 300;

/** Makes the pool; connects when first used. */
export function createSystemPool(options: SystemPoolOptions): SystemPool {
  const { answerWithinMs: usual = defaultAnswerMs, primaryOnly = false } = options;
  const { pool, end } = createDriverPool(options);
  const names = new StatementNames(options.preparedStatements ?? false);
  const prepared = new WeakMap<DriverClient, PreparedStatements>();
  const waits = newWaits();
  const server = serverFacts(options.connectionString);

  function preparedOf(client: DriverClient): PreparedStatements {
    const known = prepared.get(client) ?? new PreparedStatements(maxPrepared);
    prepared.set(client, known);
    return known;
  }

  async function withConnection<T>(
    run: (connection: SystemConnection) => Promise<T>,
    answerWithinMs = usual,
  ): Promise<T> {
    const since = performance.now();
    const client = await takeKnown(
      () => takeConnection(pool, options.waitMs),
      (taken) => (names.enabled && !prepared.has(taken) ? prepareWhereDirect(taken, names, options) : null),
    );
    waits.observe((performance.now() - since) / 1000);
    currentSpan()?.part('wait for a connection', since);
    const kept = { prepared: preparedOf(client), names, server, primaryOnly };
    const connection = { client, ...kept, answerWithinMs, ranUserCode: false };
    let lost = false;
    try {
      return await run(connection);
    } catch (problem) {
      lost = problem instanceof DatabaseError && problem.kind === 'unavailable';
      throw problem;
    } finally {
      // Close the connection if a transaction is still open, which its next user would continue.
      lost ||= client.getTransactionStatus() !== 'I';
      if (connection.ranUserCode && !lost) lost = !(await resetConnection(connection));
      client.release(lost);
    }
  }

  async function run(connection: SystemConnection, text: string, values: readonly unknown[] = []): Promise<Rows> {
    const statements = [{ text, values }];
    const first = await runSystemSteps(connection, statements);
    // It did not run.
    const { results, error } = first.isPreparedLost ? await runSystemSteps(connection, statements) : first;
    if (error !== null) throw error;
    return results[0] ?? [];
  }

  return {
    query: (text, values) => withConnection((connection) => run(connection, text, values)),
    transaction: (work, settings) =>
      withConnection((connection) => runTransaction(connection, work, settings), settings?.answerWithinMs),
    outsideTransaction: (text) => withConnection((connection) => runSystemAlone(connection, text)),
    state: () => poolState(pool, waits),
    stop: end,
  };
}

/** Resets a connection after user code, which may have prepared statements under our names. False: the reset failed. */
async function resetConnection({ client, prepared }: SystemConnection): Promise<boolean> {
  prepared.doubtAll();
  return client.query('discard all').then(
    () => true,
    () => false,
  );
}

/** Prepares nothing behind a pooler. */
async function prepareWhereDirect(
  client: DriverClient,
  names: StatementNames,
  { onPreparedOff }: SystemPoolOptions,
): Promise<void> {
  if ((await checkDirect(client)) || !names.enabled) return;
  names.disable();
  onPreparedOff?.();
}
