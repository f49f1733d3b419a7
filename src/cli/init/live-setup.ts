/**
 * Installs and removes what the exact mode of live queries needs: a table of changes, and a trigger on each table that they may read
 * (sql/live.sql, sql/live-tables.sql).
 *
 * Each trigger is a step of its own: a table of somebody else keeps the others from nothing.
 */
import pluralize from 'pluralize';
import { changeFunction, hasLive, planTriggers } from '../../check/change-triggers.ts';
import { readExposedNames } from '../../graphql/catalog/read-catalog.ts';
import {
  inOwnSchemas,
  type OwnSchemas,
  ownSettings,
  printGuarded,
  refuseForeign,
} from '../../postgres/migrations/own-schemas.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import type { SystemPool } from '../../postgres/system/run-system.ts';
import { loadSqlFile } from '../../postgres/system/sql-file.ts';
import { isCurrent } from './is-current.ts';
import { type RoleSetup, runStep, type StepOutcome } from './role-setup.ts';
import { ownWatch } from './watch-setup.ts';

const topic = 'record of changed tables';
const functions = [changeFunction, 'pgreflect.prune_live_change()'];

/** Installs it, all that is missing. Idempotent. @param isWatched Whether the schema-change trigger is there. */
export async function installLive(
  pool: SystemPool,
  setup: RoleSetup,
  isWatched: boolean,
): Promise<readonly StepOutcome[]> {
  const schemas = await readExposedNames(pool, setup.schemas);
  const own = ownWatch(setup.adoptedRoles);
  const record = await runStep({ topic, statement: 'sql/live.sql', advice: await adviseOwner(pool) }, async () => {
    return inOwnSchemas(pool, own, async (tx) => {
      if (await isInstalled(tx, own, schemas, setup.login)) return false;
      for (const [name, value] of settingsOf(schemas, setup.login))
        await tx.query('select pg_catalog.set_config($1, $2, true)', [name, value]);
      await tx.query(loadSqlFile('live.sql'));
      return true;
    });
  });
  if (record.result === 'refused') return [record];
  const outcomes: StepOutcome[] = [];
  for (const step of await planTriggers(pool, schemas))
    outcomes.push(
      await runStep(step, () => pool.transaction((tx) => tx.query(step.statement!), { settings: ownSettings })),
    );
  const refused = outcomes.filter(({ result }) => result === 'refused');
  const done = outcomes.filter(({ result }) => result === 'done').length;
  const fine = outcomes.length - refused.length;
  const triggers: StepOutcome = {
    topic: `change triggers on ${pluralize('table', fine, true)}`,
    statement: null,
    advice: refused.length === 0 && isWatched ? null : adviseTables(refused.length, isWatched),
    result: done > 0 ? 'done' : 'unchanged',
    reason: null,
  };
  return [record, triggers, ...refused];
}

/** Removes it, with all triggers. */
export function removeLive(pool: SystemPool): Promise<StepOutcome> {
  return runStep({ topic, statement: 'sql/unlive.sql', advice: null }, async () => {
    if (!(await hasLive(pool))) return false;
    return pool.transaction((tx) => tx.query(loadSqlFile('unlive.sql')), { settings: ownSettings });
  });
}

/** The SQL of the installation for a person to run. */
export async function printLive(database: Queryable, setup: RoleSetup): Promise<string> {
  const schemas = await readExposedNames(database, setup.schemas);
  const lines: string[] = [];
  for (const setting of settingsOf(schemas, setup.login)) {
    const [row] = await database.query(
      `select pg_catalog.format('select pg_catalog.set_config(%L, %L, false);', $1::text, $2::text) as line`,
      setting,
    );
    lines.push(String(row?.line));
  }
  const missing = (await planTriggers(database, schemas)).flatMap(({ statement }) =>
    statement === null ? [] : [`${statement};`],
  );
  const text = [...lines, loadSqlFile('live.sql')].join('\n');
  return [await printGuarded(database, ownWatch(setup.adoptedRoles), text), ...missing].join('\n');
}

function settingsOf(schemas: readonly string[], login: string): readonly (readonly [name: string, value: string])[] {
  return [
    ['pgreflect.login_role', login],
    ['pgreflect.live_schemas', JSON.stringify(schemas)],
  ];
}

/** The tables are there, with the functions of this version and the privileges of the login. */
async function isInstalled(
  tx: Queryable,
  own: OwnSchemas,
  schemas: readonly string[],
  login: string,
): Promise<boolean> {
  if (!(await isCurrent(tx, 'live.sql', functions))) return false;
  const [found] = await tx.query(
    `select pg_catalog.num_nulls(pg_catalog.to_regclass('pgreflect.live_change'), pg_catalog.to_regclass('pgreflect.live_mark'),
        pg_catalog.to_regclass('pgreflect.live_schema')) = 0
      and pg_catalog.has_schema_privilege(r.oid, 'pgreflect', 'usage')
      and pg_catalog.has_table_privilege(r.oid, pg_catalog.to_regclass('pgreflect.live_change')::pg_catalog.oid, 'select')
      and pg_catalog.has_table_privilege(r.oid, pg_catalog.to_regclass('pgreflect.live_change')::pg_catalog.oid, 'delete')
      and pg_catalog.has_table_privilege(r.oid, pg_catalog.to_regclass('pgreflect.live_schema')::pg_catalog.oid, 'select') as may_read
    from pg_catalog.pg_roles r where r.rolname = $1`,
    [login],
  );
  if (found?.may_read !== true) return false;
  // The schema may have come after the look. From here on nothing else takes the name of what is read.
  await tx.query('lock table pgreflect.live_schema in access share mode');
  await refuseForeign(tx, own);
  const [named] = await tx.query(
    'select $1::pg_catalog.text[] <@ array(select l.name::pg_catalog.text from pgreflect.live_schema l) as all',
    [schemas],
  );
  return named?.all === true;
}

/** The gateway takes part only in what a superuser or the owner of the database has made. */
async function adviseOwner(database: Queryable): Promise<string | null> {
  const [row] = await database.query(`select r.rolsuper or d.datdba = r.oid as may
    from pg_catalog.pg_roles r join pg_catalog.pg_database d on d.datname = pg_catalog.current_database()
    where r.rolname = current_user`);
  return row?.may === true
    ? null
    : 'The gateway uses the record of changed tables only if a superuser or the owner of the database has made it.';
}

function adviseTables(refused: number, isWatched: boolean): string {
  const parts = [
    ...(refused === 0
      ? []
      : [`Live queries on ${pluralize('table', refused, true)} without a change trigger run at --live-interval-ms.`]),
    ...(isWatched
      ? []
      : [
          'Without the schema-change trigger, this also holds for materialized views, and for tables that are created later until `pgreflect init --live` has run again.',
        ]),
  ];
  return parts.join(' ');
}
