/**
 * Reads what roles may do with the objects of a catalog, by PostgreSQL's own inquiry functions.
 */
import type { SystemSession } from '../database/run-system.ts';
import type { Privilege, RoleAccess } from './catalog.ts';
import { roleAccessStatement } from './statements.ts';

/** Oids of the objects whose privileges are asked. */
export interface AccessObjects {
  readonly namespaces: readonly string[];
  readonly tables: readonly string[];
  readonly routines: readonly string[];
  readonly types: readonly string[];
}

/** One row's JSON, see sql/role-access.sql. */
interface AccessRow {
  readonly oid: string;
  readonly superuser: boolean;
  readonly bypassesRowSecurity: boolean;
  readonly namespaces: readonly string[];
  readonly tables: readonly (readonly [string, number])[];
  readonly columns: readonly (readonly [string, number, number])[];
  readonly routines: readonly string[];
  readonly types: readonly string[];
  readonly settings: Readonly<Record<string, string>>;
}

const bits = { select: 1, insert: 2, update: 4, delete: 8 } as const satisfies Record<Privilege, number>;

/** Access of each role that exists, by name. */
export async function readRoleAccess(
  session: SystemSession,
  roles: readonly string[],
  objects: AccessObjects,
): Promise<ReadonlyMap<string, RoleAccess>> {
  const { namespaces, tables, routines, types } = objects;
  const rows = await session.query(roleAccessStatement, [roles, namespaces, tables, routines, types]);
  return new Map(rows.map((row) => [String(row.role), toRoleAccess(JSON.parse(String(row.access)) as AccessRow)]));
}

function toRoleAccess(row: AccessRow): RoleAccess {
  const namespaces = new Set(row.namespaces);
  const tables = new Map(row.tables);
  const columns = new Map<string, Map<number, number>>();
  for (const [table, number, granted] of row.columns) {
    const ofTable = columns.get(table) ?? new Map<number, number>();
    columns.set(table, ofTable.set(number, granted));
  }
  const routines = new Set(row.routines);
  const types = new Set(row.types);
  const hasTable = (table: string, privilege: Privilege): boolean => ((tables.get(table) ?? 0) & bits[privilege]) !== 0;
  return {
    oid: row.oid,
    superuser: row.superuser,
    bypassesRowSecurity: row.bypassesRowSecurity,
    settings: new Map(Object.entries(row.settings)),
    usesNamespace: (namespace) => namespaces.has(namespace),
    hasTable,
    hasColumn: (table, column, privilege) =>
      hasTable(table, privilege) || ((columns.get(table)?.get(column) ?? 0) & bits[privilege]) !== 0,
    executes: (routine) => routines.has(routine),
    usesType: (type) => types.has(type),
  };
}
