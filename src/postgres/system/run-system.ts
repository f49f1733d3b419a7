/**
 * Runs our own statements (catalog, migrations, authentication) under the login role, on a pool of their own.
 *
 * Apart from the pool of API requests, so that state which a user's function leaves on a connection is never met here, and
 * so that a burst of requests cannot keep the catalog from being read.
 */

import { DatabaseError } from '../failure.ts';
import {
  checkDirect,
  createDriverPool,
  type DriverClient,
  type DriverPoolOptions,
  takeConnection,
  takeKnown,
} from '../wire/driver.ts';
import { type PoolState, poolState } from '../wire/pool-state.ts';
import { PreparedStatements } from '../wire/prepared-statements.ts';
import { StatementNames } from '../wire/statement-names.ts';
import type { Queryable } from './queryable.ts';
import { runSystemAlone, runSystemSteps, type SystemConnection, type SystemStatement } from './system-connection.ts';
import type { Rows } from './system-rows.ts';
import { shareRoundTrips } from './system-sharing.ts';
import { runTransaction, type TransactionOptions } from './system-transaction.ts';

/** A connection per call, or one connection for a whole transaction. */
export interface SystemPool extends Queryable {
  /** Statements that may share a round trip; see system-sharing.ts for which may. */
  readonly shared: Queryable;
  /**
   * Runs `run` between `begin` and `commit`, or `rollback` when it throws. Nothing is repeated. The transaction begins with
   * the first statement, in the same round trip.
   */
  transaction<T>(run: (tx: Queryable) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Runs one statement that cannot be part of a transaction: `create database`. It must not have any name looked up. */
  outsideTransaction(text: string): Promise<void>;
  state(): PoolState;
  /** Refuses new work, waits a moment for what runs, closes the connections. */
  stop(): Promise<void>;
}

/** Size and behavior of the pool for our own statements. */
export interface SystemPoolOptions extends DriverPoolOptions {
  /** Longest wait for an answer, in milliseconds, where a transaction says nothing else; null: there is no limit. */
  readonly answerWithinMs?: number | null;
  /**
   * Statements with values are prepared once on each connection, which spares the server most of its work for the long ones.
   * Never behind a pooler, whose connections others use as well, and only where the texts are few and fixed.
   */
  readonly preparedStatements?: boolean;
  /** There is a pooler before PostgreSQL: nothing is prepared from now on. */
  readonly onPreparedOff?: () => void;
}

/** Far longer than any statement of ours takes, also where a busy server compares the catalog of very many tables. */
const usualAnswerMs = 60_000;
/** Statements prepared on one connection: a server process keeps what was ever prepared. */
const maxPrepared = 300;

/** Makes the pool; connects when first used. */
export function createSystemPool(options: SystemPoolOptions): SystemPool {
  const { answerWithinMs: usual = usualAnswerMs } = options;
  const { pool, end } = createDriverPool(options);
  const names = new StatementNames(options.preparedStatements ?? false);
  const prepared = new WeakMap<DriverClient, PreparedStatements>();

  function preparedOf(client: DriverClient): PreparedStatements {
    const known = prepared.get(client) ?? new PreparedStatements(maxPrepared);
    prepared.set(client, known);
    return known;
  }

  async function withConnection<T>(
    run: (connection: SystemConnection) => Promise<T>,
    answerWithinMs = usual,
  ): Promise<T> {
    const client = await takeKnown(
      () => takeConnection(pool, options.waitMs),
      (taken) => (names.enabled && !prepared.has(taken) ? prepareWhereDirect(taken, names, options) : null),
    );
    const connection = { client, prepared: preparedOf(client), names, answerWithinMs, ranUserCode: false };
    let lost = false;
    try {
      return await run(connection);
    } catch (problem) {
      lost = problem instanceof DatabaseError && problem.kind === 'unavailable';
      throw problem;
    } finally {
      // A transaction left open would be the next user's.
      lost ||= client.getTransactionStatus() !== 'I';
      if (connection.ranUserCode && !lost) lost = !(await resetConnection(connection));
      client.release(lost);
    }
  }

  async function run(connection: SystemConnection, text: string, values: readonly unknown[] = []): Promise<Rows> {
    const statements = [{ text, values }];
    const first = await runSystemSteps(connection, statements);
    // It has not run.
    const { results, error } = first.isPreparedLost ? await runSystemSteps(connection, statements) : first;
    if (error !== null) throw error;
    return results[0] ?? [];
  }

  const query = (text: string, values?: readonly unknown[]) =>
    withConnection((connection) => run(connection, text, values));
  const runTogether = (statements: readonly SystemStatement[]) =>
    withConnection((connection) => runSystemSteps(connection, statements));
  return {
    query,
    shared: shareRoundTrips(query, runTogether),
    transaction: (work, settings) =>
      withConnection((connection) => runTransaction(connection, work, settings), settings?.answerWithinMs),
    outsideTransaction: (text) => withConnection((connection) => runSystemAlone(connection, text)),
    state: () => poolState(pool),
    stop: end,
  };
}

/** After code of a user, which may have put statements of its own under the names of ours. False: it could not be emptied. */
async function resetConnection({ client, prepared }: SystemConnection): Promise<boolean> {
  prepared.doubtAll();
  return client.query('discard all').then(
    () => true,
    () => false,
  );
}

/** Nothing is prepared behind a pooler. */
async function prepareWhereDirect(
  client: DriverClient,
  names: StatementNames,
  { onPreparedOff }: SystemPoolOptions,
): Promise<void> {
  if ((await checkDirect(client)) || !names.enabled) return;
  names.disable();
  onPreparedOff?.();
}
