/**
 * A transaction of system statements in few round trips: `begin` travels with the first statements, and statements
 * started together travel together.
 *
 * One round trip at a time: the next is sent after the answer to the previous one, so nothing runs outside the
 * transaction because `begin` failed.
 */
import type { Queryable } from './queryable.ts';
import {
  isInTransaction,
  runSystemSteps,
  runSystemTexts,
  type SystemConnection,
  type SystemResult,
  type SystemStatement,
} from './system-connection.ts';
import type { Rows } from './system-rows.ts';

/** Options of a transaction. */
export interface TransactionOptions {
  /** Default `begin`; for example `begin isolation level repeatable read read only`. */
  readonly begin?: string;
  /** Settings of this transaction, by their PostgreSQL names: `{ lock_timeout: '5s' }`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Longest wait for the answer to each round trip, in milliseconds; null: no limit. */
  readonly answerWithinMs?: number | null;
}

/** As `SystemPool.transaction`, on a connection of its own. */
export async function runTransaction<T>(
  connection: SystemConnection,
  run: (tx: Queryable) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  const transaction = new Transaction(connection, options);
  let result: T;
  try {
    result = await run(transaction);
  } catch (problem) {
    // If the rollback fails too, the connection is closed, which rolls back as well.
    await transaction.end('rollback').catch(() => {});
    throw problem;
  }
  await transaction.end('commit');
  return result;
}

interface Asked extends SystemStatement {
  readonly resolve: (rows: Rows) => void;
  readonly reject: (problem: unknown) => void;
}

class Transaction implements Queryable {
  readonly #connection: SystemConnection;
  readonly #begin: string;
  readonly #settings: readonly SystemStatement[];
  #waiting: Asked[] = [];
  /** Settles when everything sent is answered; never rejects. */
  #answered: Promise<void> = Promise.resolve();

  constructor(connection: SystemConnection, { begin = 'begin', settings = {} }: TransactionOptions) {
    this.#connection = connection;
    this.#begin = begin;
    this.#settings = Object.entries(settings).map((setting) => ({ text: setLocally, values: setting }));
  }

  query(text: string, values?: readonly unknown[]): Promise<Rows> {
    if (values === undefined) return this.#then(() => this.#runTexts(text));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ text, values, resolve, reject });
      // Statements requested in the same microtask turn share the round trip.
      if (this.#waiting.length === 1) queueMicrotask(() => void this.#then(() => this.#send()));
    });
  }

  noteUserCode(): void {
    this.#connection.ranUserCode = true;
  }

  /** Does nothing if no transaction was begun. */
  async end(text: 'commit' | 'rollback'): Promise<void> {
    await this.#then(async () => {
      if (!isInTransaction(this.#connection)) return;
      const { error } = await runSystemSteps(this.#connection, [{ text, values: [] }]);
      if (error !== null) throw error;
    });
  }

  #then<T>(run: () => Promise<T>): Promise<T> {
    const done = this.#answered.then(run);
    this.#answered = done.then(ignore, ignore);
    return done;
  }

  async #runTexts(text: string): Promise<Rows> {
    if (!isInTransaction(this.#connection)) {
      const { error } = await this.#open([]);
      if (error !== null) throw error;
    }
    return runSystemTexts(this.#connection, text);
  }

  async #send(): Promise<void> {
    const asked = this.#waiting;
    this.#waiting = [];
    const isOpen = isInTransaction(this.#connection);
    const { results, error } = isOpen ? await runSystemSteps(this.#connection, asked) : await this.#open(asked);
    for (const [at, { resolve, reject }] of asked.entries()) {
      const rows = results[at];
      if (rows === undefined) reject(error);
      else resolve(rows);
    }
  }

  /** Begins, and runs the first statements in the same round trip. */
  async #open(statements: readonly SystemStatement[]): Promise<SystemResult> {
    const all = [...this.#settings, ...statements];
    let result = await runSystemSteps(this.#connection, all, this.#begin);
    if (result.isPreparedLost) {
      // No result has been returned yet, so the transaction may restart.
      if (isInTransaction(this.#connection)) await runSystemTexts(this.#connection, 'rollback');
      result = await runSystemSteps(this.#connection, all, this.#begin);
    }
    return { ...result, results: result.results.slice(this.#settings.length) };
  }
}

const setLocally = 'select pg_catalog.set_config($1, $2, true)';

function ignore(): void {}
