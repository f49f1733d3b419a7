/**
 * Runs SQL that an operator wrote, all or none, on a connection of its own that nobody uses afterwards: whatever it leaves in
 * the session ends with it.
 *
 * It runs within one statement of ours, so PostgreSQL refuses `commit` and `rollback` in it.
 */
import { randomBytes } from 'node:crypto';
import { toDatabaseError } from '../database-error.ts';
import { terminate } from '../wire/cancel.ts';
import { createDriverPool, type DriverClient, takeConnection } from '../wire/driver.ts';
import type { Login } from '../wire/login.ts';
import { afterUnpaused } from '../wire/unpaused-clock.ts';

/** Longest run, in milliseconds, and wait for a connection or for locks. */
const maxRunMs = 60_000;
const connectMs = 10_000;
const lockMs = 10_000;

/** Warnings that are kept. */
const maxWarnings = 100;

/**
 * Runs and commits them.
 *
 * @returns PostgreSQL's warnings: a grant by somebody who may not give it is one.
 * @throws DatabaseError
 */
export async function runStatements(login: Login, statements: string): Promise<readonly string[]> {
  const { pool, end } = createDriverPool({
    connectionString: login,
    size: 1,
    waitMs: connectMs,
    applicationName: 'pgreflect statements',
    onError: () => {},
  });
  try {
    const client = await takeConnection(pool, connectMs);
    try {
      return await runOn(client, statements);
    } finally {
      client.release(true);
    }
  } finally {
    await end();
  }
}

async function runOn(client: DriverClient, statements: string): Promise<readonly string[]> {
  const warnings: string[] = [];
  client.on('notice', ({ code, message = '' }) => {
    // The severity is in the language of the server.
    if (code?.startsWith('01') && warnings.length < maxWarnings) warnings.push(message);
  });
  let isLost = false;
  // They may lift the limit that the session begins with.
  const timer = afterUnpaused(maxRunMs + lockMs, () => {
    isLost = true;
    terminate(client, new Error('The server did not answer in time.'));
  });
  try {
    await client.query(inTransaction(statements));
    return warnings;
  } catch (problem) {
    throw toDatabaseError(problem, { step: 1, cancelled: null, mutation: true, lost: isLost });
  } finally {
    timer.clear();
  }
}

function inTransaction(statements: string): string {
  // Nobody knows the tags before.
  const [block, text] = [1, 2].map(() => `$pgreflect_${randomBytes(12).toString('hex')}$`);
  // The owner of the database can switch it off for everybody, and a backslash would end texts elsewhere.
  return `begin; set local standard_conforming_strings = on;
set local statement_timeout = ${maxRunMs}; set local lock_timeout = ${lockMs};
do ${block} begin execute ${text}${statements}${text}; end ${block}; commit`;
}
