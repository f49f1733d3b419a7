/**
 * Transactions in schemas that are ours: `auth`, `pgreflect`, `pgreflect_queue`. A tenant of the database may have created
 * them, or put objects into them, at any time (sql/own-schemas.sql).
 *
 * One transaction takes the lock, looks at owners and kinds, acts, and looks again before the commit: nothing that others
 * put there meanwhile is kept. Whoever reads an object before that locks it first, then looks.
 */
import { DatabaseError } from '../database-error.ts';
import type { Queryable } from '../system/queryable.ts';
import type { SystemPool } from '../system/run-system.ts';
import { loadSqlFile } from '../system/sql-file.ts';

/** Schemas that only we, Supabase or an operator create objects in, and who may own what is in them. */
export interface OwnSchemas {
  readonly schemas: readonly string[];
  /** What must be a table if it is there, qualified. */
  readonly tables: readonly string[];
  /** Tables whose triggers would run with more rights than whoever made them has; default: none. */
  readonly writes?: readonly string[];
  /** Roles that the operator trusts as owners, beside superusers, the login and whoever may act as it. */
  readonly adoptedRoles: readonly string[];
}

/** "pgr" and "auth" in ASCII, to avoid collisions with other programs' locks. */
const lockKey = '34748012344437256';
/** Every login may take that key, or create the same names and not commit. Far longer than a migration takes. */
const lockTimeoutMs = 30_000;
/** Settings of a transaction that reads or changes what is ours. */
export const ownSettings = waitingFor(lockTimeoutMs);

/**
 * Runs `run` alone, between two looks.
 *
 * @param waitMs Longest wait for each lock.
 * @throws DatabaseError `statement`: 42501 for a foreign object, 55P03 with the holders of the lock in its message.
 */
export async function inOwnSchemas<T>(
  pool: SystemPool,
  own: OwnSchemas,
  run: (tx: Queryable) => Promise<T>,
  waitMs = lockTimeoutMs,
): Promise<T> {
  const act = async (tx: Queryable): Promise<T> => {
    await tx.query('select pg_catalog.pg_advisory_xact_lock($1)', [lockKey]);
    await refuseForeign(tx, own);
    const result = await run(tx);
    await refuseForeign(tx, own);
    return result;
  };
  try {
    return await pool.transaction(act, { settings: waitingFor(waitMs), answerWithinMs: null });
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.sqlstate !== '55P03') throw error;
    throw new DatabaseError({ ...error, primary: await describeHolders(pool, waitMs) });
  }
}

/** Refuses what an untrusted role decides about. @param tx A transaction. @throws DatabaseError `statement`, 42501 */
export async function refuseForeign(tx: Queryable, own: OwnSchemas): Promise<void> {
  const setLocally = 'select pg_catalog.set_config($1, $2, true)';
  await Promise.all(settingsOf(own).map((setting) => tx.query(setLocally, setting)));
  await tx.query(loadSqlFile('own-schemas.sql'));
}

/** The same check as SQL for a person, around the statements. */
export async function printGuarded(database: Queryable, own: OwnSchemas, text: string): Promise<string> {
  const guard = loadSqlFile('own-schemas.sql');
  const settings: string[] = [];
  for (const setting of settingsOf(own)) {
    const [row] = await database.query(
      `select pg_catalog.format('select pg_catalog.set_config(%L, %L, true);', $1::text, $2::text) as text`,
      setting,
    );
    settings.push(String(row?.text));
  }
  return ['begin;', ...settings, guard, text, guard, 'commit;'].join('\n');
}

/** The settings that sql/own-schemas.sql reads. */
function settingsOf(own: OwnSchemas): readonly (readonly [name: string, value: string])[] {
  return [
    ['pgreflect.own_schemas', own.schemas.join()],
    ['pgreflect.own_tables', own.tables.join()],
    ['pgreflect.written_tables', (own.writes ?? []).join()],
    ['pgreflect.adopted_roles', JSON.stringify(own.adoptedRoles)],
  ];
}

function waitingFor(ms: number): { readonly lock_timeout: string } {
  return { lock_timeout: `${ms}ms` };
}

/** Those that hold our lock, otherwise those that write in this database, whose names we may wait for. */
async function describeHolders(pool: SystemPool, waitMs: number): Promise<string> {
  const rows = await pool.query(
    `select distinct pg_catalog.format('%s of "%s"', l.pid, a.usename) as holder, l.locktype = 'advisory' as is_ours
    from pg_catalog.pg_locks l join pg_catalog.pg_stat_activity a on a.pid = l.pid
    where l.granted and l.pid <> pg_catalog.pg_backend_pid() and a.datname = pg_catalog.current_database()
      and (l.locktype = 'transactionid' or l.locktype = 'advisory' and l.objsubid = 1
        and (l.classid::pg_catalog.int8 << 32) | l.objid::pg_catalog.int8 = $1::pg_catalog.int8)
    order by is_ours desc, holder limit 3`,
    [lockKey],
  );
  const holders = rows.filter(({ is_ours }) => is_ours === rows[0]?.is_ours).map(({ holder }) => String(holder));
  const named = holders.length === 0 ? 'It has ended by now' : `Held by ${holders.join(', ')} (process and login)`;
  return `another connection held a lock for ${waitMs / 1000} s. ${named}. End it (select pg_terminate_backend(PROCESS)), then run this again`;
}
