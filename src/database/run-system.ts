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

/** Runs statements one after the other. */
export interface SystemSession {
  /**
   * Runs one statement and returns its rows, with the driver's usual types (`int8` and `numeric` are strings, `json` is
   * parsed, timestamps are `Date`). Several statements, separated by semicolons, are possible without values; they are
   * one transaction, and the rows are the last one's.
   *
   * @throws DatabaseError `statement`, `timeout`, `unavailable` (a write may have been committed then), `overloaded`.
   */
  query(text: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
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
   * Statements with values are prepared once on each connection, which halves the server's work for the long ones. Not
   * behind a pooler that cannot keep them, and only where the texts are few and fixed.
   */
  readonly preparedStatements?: boolean;
}

/** Makes the pool; connects when first used. */
export function createSystemPool(options: SystemPoolOptions): SystemPool {
  const pool: pg.Pool = createDriverPool(options);
  const nameOf = options.preparedStatements ? createNames() : () => null;

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

  return {
    query: (text, values) => withConnection((client) => runStatement(client, nameOf, text, values)),
    transaction: (run, begin = 'begin') => withConnection((client) => runTransaction(client, nameOf, run, begin)),
    stop: () => pool.end(),
  };
}

/** The name under which a text is prepared; null: not at all. */
type NameOf = (text: string) => string | null;

/** A server process keeps what was ever prepared, so their number is bounded. */
const maxNames = 300;

function createNames(): NameOf {
  const names = new Map<string, string>();
  return (text) => {
    const known = names.get(text);
    if (known !== undefined || names.size >= maxNames) return known ?? null;
    const name = `pgreflect_system_${hash('sha256', text).slice(0, 32)}`;
    names.set(text, name);
    return name;
  };
}

async function runTransaction<T>(
  client: DriverClient,
  nameOf: NameOf,
  run: (session: SystemSession) => Promise<T>,
  begin: string,
): Promise<T> {
  await runStatement(client, nameOf, begin);
  let result: T;
  try {
    result = await run({ query: (text, values) => runStatement(client, nameOf, text, values) });
  } catch (problem) {
    // Where this fails too, the connection is thrown away, which undoes the transaction as well.
    await runStatement(client, nameOf, 'rollback').catch(() => {});
    throw problem;
  }
  await runStatement(client, nameOf, 'commit');
  return result;
}

async function runStatement(
  client: DriverClient,
  nameOf: NameOf,
  text: string,
  values?: readonly unknown[],
): Promise<readonly Record<string, unknown>[]> {
  try {
    const name = values === undefined ? null : nameOf(text);
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
