/**
 * Runs our own statements (catalog, migrations, authentication) under the login role, on a pool of their own.
 *
 * Apart from the pool of API requests, so that state which a user's function leaves in a session is never met here, and
 * so that a burst of requests cannot keep the catalog from being read.
 */
import { hash } from 'node:crypto';
import type pg from 'pg';
import { createDriverPool, type DriverClient, takeConnection } from './driver.ts';
import { DatabaseError, toDatabaseError } from './failure.ts';

type Rows = readonly Record<string, unknown>[];

/** Runs statements one after the other. */
export interface SystemSession {
  /**
   * Runs one statement and returns its rows, with the driver's usual types (`int8` and `numeric` are strings, `json` is
   * parsed, timestamps are `Date`). Several statements, separated by semicolons, are possible without values; they are
   * one transaction, and the rows are the last one's.
   *
   * @throws DatabaseError `statement`, `timeout`, `unavailable` (a write may have been committed then), `overloaded`.
   */
  query(text: string, values?: readonly unknown[]): Promise<Rows>;
}

/** A connection per call, or one connection for a whole transaction. */
export interface SystemPool extends SystemSession {
  /**
   * Runs `run` between `begin` and `commit`, or `rollback` when it throws. Nothing is repeated.
   *
   * @param begin The opening statement, for example `begin isolation level repeatable read read only`.
   */
  transaction<T>(run: (session: SystemSession) => Promise<T>, begin?: string): Promise<T>;
  /** Refuses new work, waits for what runs, closes the connections. */
  stop(): Promise<void>;
}

/** Size and behaviour of the pool for our own statements. */
export interface SystemPoolOptions {
  readonly connectionString: string;
  readonly size: number;
  /** Longest wait for a connection, in milliseconds. */
  readonly waitMs: number;
  readonly applicationName: string;
  /** A connection broke; it is replaced by itself. */
  readonly onError: (problem: Error) => void;
  /**
   * Statements with values are prepared once on each connection, which spares the server most of its work for the long ones.
   * Not behind a pooler that cannot keep them, and only where the texts are few and fixed.
   */
  readonly preparedStatements?: boolean;
  /** A pooler between us and PostgreSQL loses prepared statements; nothing is prepared from now on. */
  readonly onPreparedLost?: () => void;
}

/** Makes the pool; connects when first used. */
export function createSystemPool(options: SystemPoolOptions): SystemPool {
  const pool: pg.Pool = createDriverPool(options);
  const names = new SystemNames(options.preparedStatements ?? false, options.onPreparedLost ?? (() => {}));

  async function withConnection<T>(run: (client: DriverClient) => Promise<T>): Promise<T> {
    const client = await takeConnection(pool, options.waitMs);
    let lost = false;
    try {
      return await run(client);
    } catch (problem) {
      lost = problem instanceof DatabaseError && problem.kind === 'unavailable';
      throw problem;
    } finally {
      // A transaction left open would be the next user's.
      client.release(lost || client.getTransactionStatus() !== 'I');
    }
  }

  async function query(text: string, values?: readonly unknown[]): Promise<Rows> {
    const name = names.nameOf(text, values);
    try {
      return await withConnection((client) => runStatement(client, name, text, values));
    } catch (problem) {
      // It has not run. In a transaction something else may have, so whoever wanted that is told of the failure.
      if (!names.noteLoss(problem, name)) throw problem;
      return withConnection((client) => runStatement(client, null, text, values));
    }
  }

  return {
    query,
    transaction: (run, begin = 'begin') => withConnection((client) => runTransaction(client, names, run, begin)),
    stop: () => pool.end(),
  };
}

/** A server process keeps what was ever prepared, so their number is bounded. */
const maxNames = 300;

/** The names under which texts are prepared: their hashes, so that processes which share a server mean the same. */
class SystemNames {
  #enabled: boolean;
  readonly #onLost: () => void;
  readonly #names = new Map<string, string>();

  constructor(enabled: boolean, onLost: () => void) {
    this.#enabled = enabled;
    this.#onLost = onLost;
  }

  /** Null: not prepared. */
  nameOf(text: string, values: readonly unknown[] | undefined): string | null {
    if (!this.#enabled || values === undefined) return null;
    const known = this.#names.get(text);
    if (known !== undefined || this.#names.size >= maxNames) return known ?? null;
    const name = `pgreflect_system_${hash('sha256', text).slice(0, 32)}`;
    this.#names.set(text, name);
    return name;
  }

  /**
   * Whether the server refused because it does not know a name that we believe prepared (26000), or knows one that we believe
   * new (42P05). Only a pooler that cannot keep statements does that, so naming ends for good. The message must have the
   * name: a trigger can raise these codes too, after it has done something.
   */
  noteLoss(problem: unknown, name: string | null): boolean {
    if (name === null || !(problem instanceof DatabaseError)) return false;
    const { sqlstate, primary } = problem;
    if ((sqlstate !== '26000' && sqlstate !== '42P05') || !primary.includes(name)) return false;
    if (this.#enabled) this.#onLost();
    this.#enabled = false;
    return true;
  }
}

async function runTransaction<T>(
  client: DriverClient,
  names: SystemNames,
  run: (session: SystemSession) => Promise<T>,
  begin: string,
): Promise<T> {
  await runStatement(client, null, begin);
  let result: T;
  try {
    result = await run({ query: (text, values) => runNamed(client, names, text, values) });
  } catch (problem) {
    // Where this fails too, the connection is thrown away, which undoes the transaction as well.
    await runStatement(client, null, 'rollback').catch(() => {});
    throw problem;
  }
  await runStatement(client, null, 'commit');
  return result;
}

async function runNamed(
  client: DriverClient,
  names: SystemNames,
  text: string,
  values: readonly unknown[] | undefined,
): Promise<Rows> {
  const name = names.nameOf(text, values);
  try {
    return await runStatement(client, name, text, values);
  } catch (problem) {
    names.noteLoss(problem, name);
    throw problem;
  }
}

async function runStatement(
  client: DriverClient,
  name: string | null,
  text: string,
  values?: readonly unknown[],
): Promise<Rows> {
  try {
    const result: unknown = await (name === null
      ? client.query(text, values)
      : client.query({ name, text, values: values ?? [] }));
    const last = (Array.isArray(result) ? result.at(-1) : result) as { rows: Record<string, unknown>[] };
    return last.rows;
  } catch (problem) {
    throw systemError(problem);
  }
}

function systemError(problem: unknown): DatabaseError {
  const answered = problem instanceof Error && 'severity' in problem;
  return toDatabaseError(problem, { step: 1, cancelled: null, mutation: true, lost: !answered });
}
