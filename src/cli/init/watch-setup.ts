/** Installs and removes the schema-change trigger, which needs a superuser or a provider's equivalent. */
import { inOwnSchemas, type OwnSchemas, printGuarded } from '../../postgres/migrations/own-schemas.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import type { SystemPool } from '../../postgres/system/run-system.ts';
import { loadSqlFile } from '../../postgres/system/sql-file.ts';
import { onOneLine } from '../../shared/one-line.ts';
import { isCurrent } from './is-current.ts';
import { runStep, type StepOutcome } from './role-setup.ts';

/** Where it lives. */
export const ownWatch = (adoptedRoles: readonly string[]): OwnSchemas => ({
  schemas: ['pgreflect'],
  tables: [],
  adoptedRoles,
});

/** Whether both event triggers exist and are enabled. */
export async function isWatched(database: Queryable): Promise<boolean> {
  const [row] = await database.query(`select count(*)::pg_catalog.int4 as number
    from pg_catalog.pg_event_trigger t
    where t.evtname in ('pgreflect_ddl', 'pgreflect_drop') and t.evtenabled <> 'D'`);
  return row?.number === 2;
}

/** Installs the trigger, readable for the login role. Idempotent. */
export function installWatch(
  pool: SystemPool,
  loginRole: string,
  adoptedRoles: readonly string[] = [],
): Promise<StepOutcome> {
  return runFile('watch.sql', async () => {
    if ((await isWatched(pool)) && (await isCurrent(pool, 'watch.sql', ['pgreflect.note_catalog_change()'])))
      return false;
    return inOwnSchemas(pool, ownWatch(adoptedRoles), async (tx) => {
      await tx.query(`select pg_catalog.set_config('pgreflect.login_role', $1, true)`, [loginRole]);
      await tx.query(loadSqlFile('watch.sql'));
    });
  });
}

/** Removes the trigger and its table. */
export function removeWatch(pool: SystemPool): Promise<StepOutcome> {
  return runFile('unwatch.sql', async () => {
    const [row] = await pool.query(`select pg_catalog.to_regclass('pgreflect.catalog_change') is null as missing`);
    if (row?.missing === true && !(await isWatched(pool))) return false;
    return pool.transaction((tx) => tx.query(loadSqlFile('unwatch.sql')));
  });
}

function runFile(file: 'watch.sql' | 'unwatch.sql', run: () => Promise<unknown>): Promise<StepOutcome> {
  return runStep({ topic: 'schema-change trigger', statement: `sql/${file}`, advice: null }, run);
}

/**
 * The SQL of the installation for a person to run; says if the login may not.
 *
 * @param otherwise A line for somebody who may.
 */
export async function printWatch(
  database: Queryable,
  loginRole: string,
  adoptedRoles: readonly string[],
  otherwise: string,
): Promise<string> {
  const [row] = await database.query(
    `select pg_catalog.format('select pg_catalog.set_config(%L, %L, false);', 'pgreflect.login_role', $1::text) as line,
      current_user as login, pg_catalog.current_setting('is_superuser')::bool as may`,
    [loginRole],
  );
  const advice = `-- "${onOneLine(String(row?.login))}" is no superuser, which the schema-change trigger needs unless the provider allows it: ${onOneLine(otherwise)}\n`;
  const script = await printGuarded(
    database,
    ownWatch(adoptedRoles),
    `${String(row?.line)}\n${loadSqlFile('watch.sql')}`,
  );
  return row?.may === true ? script : `${advice}${script}`;
}
