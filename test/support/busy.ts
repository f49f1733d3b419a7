/**
 * Statements that take as long as a test wants: they wait for a lock that the test has.
 */
import pg from 'pg';
import { expect, onTestFinished, vi } from 'vitest';
import type { TestDatabase } from './postgres.ts';

/** SQL of a function that returns when nobody has the lock. */
export const holdFunction = `create function hold(lock int) returns text stable language sql
  as $$ select 'held' from (select pg_catalog.pg_advisory_xact_lock_shared(lock)) waited $$`;

/** Takes a lock; the returned function gives it back, as the end of the test does. */
export async function takeLock(database: TestDatabase, lock: number): Promise<() => Promise<void>> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query('select pg_catalog.pg_advisory_lock($1)', [lock]);
  let ended: Promise<void> | null = null;
  const release = () => {
    ended ??= client.end();
    return ended;
  };
  onTestFinished(release);
  return release;
}

/** Waits until so many statements wait for locks. */
export async function untilHeld(database: TestDatabase, count: number): Promise<void> {
  const waiting = `select pg_catalog.count(*)::int as count from pg_catalog.pg_stat_activity
    where datname = $1 and wait_event_type = 'Lock'`;
  await vi.waitFor(async () => expect(await database.query(waiting, [database.name])).toEqual([{ count }]), {
    timeout: 20_000,
  });
}
