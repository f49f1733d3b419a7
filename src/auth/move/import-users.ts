/**
 * Imports users from lines of JSON, all or none: bad lines are collected, and then nothing is stored.
 *
 * Reads as fast as PostgreSQL inserts, so memory does not grow with the file. A user who is there already stays as it
 * is. Emails are not sent, and hooks not called; triggers on the tables run.
 */
import { DatabaseError } from '../../postgres/database-error.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import type { SystemPool } from '../../postgres/system/run-system.ts';
import { loadSqlFile } from '../../postgres/system/sql-file.ts';
import type { Rows } from '../../postgres/system/system-rows.ts';
import { type LineDefaults, LineError, readUserLine, type UserLine } from './user-line.ts';

const insertUsers = loadSqlFile('auth/import-users.sql');

/** Keys of a line (user-line.ts) that others have, by indexes that are used without statistics. */
const findKeys = {
  id: `select 'id ' || u.id as key from auth.users u where u.id = any ($1::uuid[])`,
  email: `select 'email ' || u.email as key from auth.users u where u.is_sso_user = false and u.email = any ($1::text[])`,
  phone: `select 'phone ' || u.phone as key from auth.users u where u.phone = any ($1::text[])`,
  identity: `select 'identity ' || o.provider || ' ' || o.provider_id as key from auth.identities o
    where o.provider_id = any ($1::text[])`,
} as const;

/** Addresses of rows made by hand, which no index finds in lower case. */
const findUnusual = `select 'email ' || pg_catalog.lower(u.email) as key from auth.users u
  where u.is_sso_user = false and u.email <> lower(u.email)`;

/** Limits of the lines that are inserted by one statement. */
const [maxBatch, maxBatchBytes] = [500, 4 * 1024 * 1024];

/** Bad lines after which the rest is not read. */
const maxProblems = 100;

/** A line, and what is wrong with it or why it was left out. */
export interface LineNote {
  /** From 1. */
  readonly line: number;
  readonly reason: string;
}

/** What an import did, or would have done. */
export interface Imported {
  readonly users: number;
  /** Users who were there already, with the same id. */
  readonly existing: number;
  /** Users left out for an address or identity that another user has. */
  readonly skipped: number;
  /** If there are any, nothing was imported. */
  readonly problems: readonly LineNote[];
}

interface ImportOptions extends LineDefaults {
  /** Stores nothing. */
  readonly isTrial: boolean;
  readonly onSkipped: (note: LineNote) => void;
}

interface ImportedUser extends UserLine {
  readonly line: number;
}

/** Ends the transaction without storing. */
class Undone extends Error {
  override readonly name = 'Undone';
}

/** @param lines Bytes of each line. @throws DatabaseError */
export async function importUsers(
  pool: SystemPool,
  lines: AsyncIterable<Uint8Array>,
  options: ImportOptions,
): Promise<Imported> {
  const run = new Import(options);
  try {
    await pool.transaction(async (tx) => {
      await run.begin(tx);
      for await (const batch of run.batches(lines)) await run.insert(tx, batch);
      if (options.isTrial || run.problems.length > 0) throw new Undone();
    });
  } catch (error) {
    if (!(error instanceof Undone)) throw error;
  }
  run.problems.sort((a, b) => a.line - b.line);
  return run;
}

class Import implements Imported {
  users = 0;
  existing = 0;
  skipped = 0;
  readonly problems: LineNote[] = [];
  readonly #options: ImportOptions;
  #unusual: ReadonlySet<string> = new Set();

  constructor(options: ImportOptions) {
    this.#options = options;
  }

  async begin(tx: Queryable): Promise<void> {
    this.#unusual = toKeys(await tx.query(findUnusual));
  }

  /** Readable lines. Ends early after too many bad ones. */
  async *batches(lines: AsyncIterable<Uint8Array>): AsyncGenerator<readonly ImportedUser[]> {
    let batch: ImportedUser[] = [];
    let [line, length] = [0, 0];
    try {
      for await (const bytes of lines) {
        line += 1;
        const user = this.#read(bytes, line);
        if (this.problems.length >= maxProblems) return;
        if (user === null) continue;
        batch.push({ ...user, line });
        length += user.json.length;
        if (batch.length < maxBatch && length < maxBatchBytes) continue;
        yield batch;
        [batch, length] = [[], 0];
      }
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.problems.push({ line: line + 1, reason: error.message });
    }
    if (batch.length > 0) yield batch;
  }

  /** Null for an empty or a bad line. */
  #read(bytes: Uint8Array, line: number): UserLine | null {
    if (bytes.every((byte) => byte === 32 || byte === 13)) return null;
    try {
      return readUserLine(bytes, this.#options);
    } catch (error) {
      if (!(error instanceof LineError)) throw error;
      this.problems.push({ line, reason: error.message });
      return null;
    }
  }

  /** Halves a batch that PostgreSQL refuses, until the line is found. */
  async insert(tx: Queryable, batch: readonly ImportedUser[]): Promise<void> {
    if (this.problems.length >= maxProblems) return;
    const entries = await this.#withoutTaken(tx, batch);
    const [first] = entries;
    if (first === undefined) return;
    await tx.query('savepoint pgreflect_import');
    try {
      await tx.query(insertUsers, [toArray(entries)]);
      await tx.query('release savepoint pgreflect_import');
      this.users += entries.length;
    } catch (error) {
      if (!isOfRow(error)) throw error;
      await tx.query('rollback to savepoint pgreflect_import');
      if (entries.length === 1) {
        this.problems.push({ line: first.line, reason: `was refused by PostgreSQL: ${error.primary}` });
        return;
      }
      const half = Math.ceil(entries.length / 2);
      await this.insert(tx, entries.slice(0, half));
      await this.insert(tx, entries.slice(half));
    }
  }

  /** The first of two lines with the same key stays. */
  async #withoutTaken(tx: Queryable, batch: readonly ImportedUser[]): Promise<readonly ImportedUser[]> {
    const taken = await readTaken(tx, batch);
    return batch.filter(({ line, keys }) => {
      const key = keys.find((name) => taken.has(name) || this.#unusual.has(name));
      if (key === undefined) for (const name of keys) taken.add(name);
      else if (key.startsWith('id ')) this.existing += 1;
      else {
        this.skipped += 1;
        this.#options.onSkipped({ line, reason: `another user has the same ${nameOf(key)}` });
      }
      return key === undefined;
    });
  }
}

async function readTaken(tx: Queryable, batch: readonly ImportedUser[]): Promise<Set<string>> {
  const keys = batch.flatMap((entry) => entry.keys);
  const reading = Object.entries(findKeys).map(([kind, statement]) => {
    // Behind the kind, and for an identity behind its provider.
    const values = keys
      .filter((key) => nameOf(key) === kind)
      .map((key) => /^(?:identity \S+|\w+) (.*)$/s.exec(key)?.[1]);
    return tx.query(statement, [values]);
  });
  return toKeys((await Promise.all(reading)).flat());
}

function toKeys(rows: Rows): Set<string> {
  return new Set(rows.map(({ key }) => key as string));
}

/** `id`, `email`, `phone`, `identity`. */
function nameOf(key: string): string {
  return key.slice(0, key.indexOf(' '));
}

function toArray(entries: readonly ImportedUser[]): string {
  return `[${entries.map(({ json }) => json).join(',')}]`;
}

/** Whether PostgreSQL refused the values of a row, or a trigger did. */
function isOfRow(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && /^(22|23|P0)/.test(error.sqlstate ?? '');
}
