/** Creates the auth service's login, so that no gateway needs that of the tables' owner or of a superuser. */
import { authSchemas } from '../../postgres/migrations/migrate.ts';
import { inOwnSchemas, printGuarded } from '../../postgres/migrations/own-schemas.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import type { SystemPool } from '../../postgres/system/run-system.ts';
import { loadSqlFile } from '../../postgres/system/sql-file.ts';
import { isRefusal } from './auth-setup.ts';
import { giveUnheld, type WidenedRoles } from './held-roles.ts';
import { readSteps, runStep, type SetupStep, type StepOutcome } from './role-setup.ts';
import { makeScramVerifier } from './scram-verifier.ts';

/** The role of the auth service. */
export interface AuthRole {
  readonly role: string;
  /** For a role to be created; null: without a password. */
  readonly password: string | null;
}

/** The statements that the role itself still needs. */
export function planAuthRole(database: Queryable, { role, password }: AuthRole): Promise<readonly SetupStep[]> {
  const verifier = password === null ? null : makeScramVerifier(password);
  return readSteps(database, 'auth-role-login.sql', { role, verifier });
}

/** Grants the role access to the existing tables, if nobody else may act as it. */
export function openAuthTables(
  pool: SystemPool,
  { role }: AuthRole,
  adoptedRoles: readonly string[],
): Promise<StepOutcome> {
  const step = { topic: `"${role}" may use the tables of the auth service`, statement: 'sql/auth', advice: null };
  return runStep(step, async () => {
    try {
      return await inOwnSchemas(pool, authSchemas(adoptedRoles), (tx) =>
        giveUnheld(tx, ofAuthRole(role, adoptedRoles), role, () => grantRows(tx, role, false)),
      );
    } catch (error) {
      // Another operator of the database has done it.
      if (!isRefusal(error) || (await pool.transaction((tx) => grantRows(tx, role, true)))) throw error;
      return false;
    }
  });
}

/** Whether anything was missing. @param isLook Nothing is granted then, and only the catalog read. */
async function grantRows(tx: Queryable, role: string, isLook: boolean): Promise<boolean> {
  const setLocally = 'select pg_catalog.set_config($1, $2, true)';
  await tx.query(setLocally, ['pgreflect.auth_role', role]);
  await tx.query(setLocally, ['pgreflect.auth_role_look', String(isLook)]);
  await tx.query(loadSqlFile('auth-role.sql'));
  const [row] = await tx.query(`select pg_catalog.current_setting('pgreflect.auth_role_changed') as changed`);
  return row?.changed === 'true';
}

/** Members of the role: the operator alone, who makes functions for hooks. */
export function ofAuthRole(role: string, adoptedRoles: readonly string[]): WidenedRoles {
  return { roles: [role], adoptedRoles };
}

/** The SQL of `openAuthTables` for a person to run. */
export async function printAuthTables(
  database: Queryable,
  { role }: AuthRole,
  adoptedRoles: readonly string[],
): Promise<string> {
  const [row] = await database.query(
    `select pg_catalog.format('select pg_catalog.set_config(%L, %L, true);', 'pgreflect.auth_role', $1::text) as line`,
    [role],
  );
  const text = [String(row?.line), loadSqlFile('auth-role.sql')].join('\n');
  return printGuarded(database, authSchemas(adoptedRoles), text);
}
