/**
 * `init --supabase`: what hosted Supabase databases have and migrations name (sql/supabase). Stored, not served.
 *
 * One transaction of `inOwnSchemas`: a schema of these names that somebody untrusted made is refused, one that is there is left
 * as it is. Removal drops only what has our comment, belongs to who runs it or a superuser, and is still empty.
 */
import { inOwnSchemas, type OwnSchemas, printGuarded } from '../../postgres/migrations/own-schemas.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import type { SystemPool } from '../../postgres/system/run-system.ts';
import { loadSqlFile } from '../../postgres/system/sql-file.ts';
import { giveUnheld } from './held-roles.ts';
import { type RoleSetup, runStep, type SetupStep, type StepOutcome } from './role-setup.ts';

/** Schemas, and the extension that makes the schema itself where the server has it. */
const parts = [
  { schema: 'extensions', extension: null },
  { schema: 'storage', extension: null },
  { schema: 'realtime', extension: null },
  { schema: 'cron', extension: 'pg_cron' },
  { schema: 'net', extension: 'pg_net' },
  { schema: 'vault', extension: 'supabase_vault' },
  { schema: 'supabase_functions', extension: null },
] as const;

/** What nearly all migrations of Supabase name, and packages of PostgreSQL often leave out. */
const extensions = ['pgcrypto', 'uuid-ossp', 'pg_stat_statements'] as const;

const own = (adoptedRoles: readonly string[]): OwnSchemas => ({
  schemas: [...parts.map(({ schema }) => schema), 'auth'],
  tables: [],
  adoptedRoles,
});

/** Creates what is missing; all or nothing. @param authRole The login of the auth service, where it is made. */
export async function installSupabase(
  pool: SystemPool,
  setup: RoleSetup,
  authRole: string | null,
): Promise<StepOutcome> {
  const topic = 'surroundings of Supabase, which nothing serves';
  const step = { topic, statement: 'sql/supabase', advice: await adviseExtensions(pool, extensions) };
  return runStep(step, () =>
    inOwnSchemas(pool, own(setup.adoptedRoles), async (tx) => {
      const statements = await planSupabase(tx, setup, authRole);
      if (statements.length === 0) return false;
      const text = statements.join('\n');
      const widened = {
        roles: [setup.anon, setup.authenticated, setup.service],
        adoptedRoles: [...setup.adoptedRoles, setup.login],
      };
      return giveUnheld(tx, widened, text, () => tx.query(text));
    }),
  );
}

/** The SQL that `installSupabase` would run; empty if nothing is missing. */
export async function printSupabase(pool: SystemPool, setup: RoleSetup, authRole: string | null): Promise<string> {
  const statements = await pool.transaction((tx) => planSupabase(tx, setup, authRole));
  const advice = await adviseExtensions(pool, extensions);
  const note = advice === null ? '' : `-- ${advice}\n`;
  return statements.length === 0
    ? note
    : note + (await printGuarded(pool, own(setup.adoptedRoles), statements.join('\n')));
}

async function planSupabase(
  tx: Queryable,
  { anon, authenticated, service }: RoleSetup,
  authRole: string | null,
): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const { schema, extension } of parts) {
    const [row] = await tx.query(
      `select pg_catalog.to_regnamespace($1) is null and not exists (
        select from pg_catalog.pg_available_extensions e where e.name = $2) as missing`,
      [schema, extension],
    );
    if (row?.missing === true) missing.push(schema);
  }
  const tables = await planAuthDumps(tx);
  const rows = await tx.query(loadSqlFile('supabase/plan.sql'), [
    JSON.stringify({ apiRoles: [anon, authenticated, service], authRole }),
    missing,
  ]);
  return [
    ...missing.map((schema) => loadSqlFile(`supabase/${schema}.sql`)),
    ...tables,
    ...rows.map(({ statement }) => `${String(statement)};`),
  ];
}

/** What to do about extensions that the server has no files of; null where it has them all. */
export async function adviseExtensions(database: Queryable, names: readonly string[]): Promise<string | null> {
  const rows = await database.query(
    `select pg_catalog.format('create extension %I schema extensions', w.name) as statement, w.name
    from pg_catalog.unnest($1::pg_catalog.text[]) as w (name)
    where not exists (select from pg_catalog.pg_available_extensions e where e.name::pg_catalog.text = w.name)`,
    [names],
  );
  if (rows.length === 0) return null;
  const list = rows.map(({ name }) => String(name)).join(', ');
  const statements = rows.map(({ statement }) => `${String(statement)};`).join(' ');
  return `The server lacks the extensions ${list}, which migrations of Supabase name. Install its package of contrib modules, then: ${statements}`;
}

/** Missing tables that dumps of Supabase Auth name, if its schema is there. */
async function planAuthDumps(tx: Queryable): Promise<readonly string[]> {
  const [, ...pieces] = loadSqlFile('supabase/auth.sql').split(/^-- missing: table /m);
  const names = pieces.map((piece) => piece.slice(0, piece.indexOf('\n')));
  const rows = await tx.query(
    `select w.name from pg_catalog.unnest($1::pg_catalog.text[]) as w (name)
    where pg_catalog.to_regnamespace('auth') is not null and pg_catalog.to_regclass(w.name) is null`,
    [names],
  );
  const missing = new Set(rows.map(({ name }) => name));
  return pieces.filter((_, place) => missing.has(names[place])).map((piece) => `-- ${piece}`);
}

/** The statements of the removal. Writes nothing. */
export async function planSupabaseRemoval(database: Queryable): Promise<readonly SetupStep[]> {
  return (await database.query(loadSqlFile('supabase/plan-remove.sql'))) as unknown as readonly SetupStep[];
}
