/**
 * Finds who may act as the gateway's roles, beside those that are meant to (sql/role-holders.sql): somebody may have made a
 * role of that name before the operator came.
 */
import type { Queryable } from '../postgres/system/queryable.ts';
import { loadSqlFile } from '../postgres/system/sql-file.ts';

/** A login that may act as some roles. */
export interface RoleHolder {
  readonly holder: string;
  readonly roles: readonly string[];
  /** Those that it is a member of itself, not through others. */
  readonly direct: readonly string[];
}

/**
 * Holders of these roles, no superusers.
 *
 * @param asked.known Names that are left out.
 * @param asked.operators Names that are left out with everybody who may act as them.
 */
export async function readRoleHolders(
  database: Queryable,
  asked: {
    readonly roles: readonly string[];
    readonly known: readonly string[];
    readonly operators: readonly string[];
  },
): Promise<readonly RoleHolder[]> {
  const rows = await database.query(loadSqlFile('role-holders.sql'), [JSON.stringify(asked)]);
  return rows as readonly unknown[] as readonly RoleHolder[];
}
