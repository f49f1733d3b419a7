/**
 * Checks of `pgreflect check` for unintended access: row security, grants, routines with other privileges. One check
 * per function; the statements are in `sql/`.
 */

import { findWideGrants } from './check-grants.ts';
import { findOpenTables } from './check-open-tables.ts';
import { findOpenViews } from './check-open-views.ts';
import { findLooseRoutines } from './check-routines.ts';
import { type Check, statementCheck } from './finding.ts';

/** Roles that bypass row security: policies do not protect against them. */
const findPassingRoles = statementCheck('check/passing-roles.sql', ({ role, name, why }) => ({
  check: 'row_security_passed',
  severity: 'error',
  object: String(name ?? role),
  message: `Row security of ${name ?? 'all tables'} does not apply to the role "${role}", because ${why}.`,
}));

/** Default privileges to write, which every new table gets before it has policies. */
const findDefaultGrants = statementCheck('check/default-grants.sql', ({ maker, schema, grantees, privileges }) => ({
  check: 'default_grant',
  severity: 'warning',
  object: schema === null ? null : String(schema),
  message: `Every new table that "${maker}" creates in ${schema === null ? 'any schema' : `the schema "${schema}"`} grants ${privileges} to ${grantees}, with or without row security.`,
}));

/**
 * Schemas in which other roles may create an operator or function that matches better than the intended one of another
 * role's request.
 */
const findOpenSchemas = statementCheck('check/open-schemas.sql', ({ name, grantees }) => ({
  check: 'schema_open',
  severity: 'warning',
  object: String(name),
  message: `The grant of create on the schema "${name}" to ${grantees} lets them create functions and operators that requests of other roles may run.`,
}));

/** All checks of this file, the most severe first. */
export const securityChecks: readonly Check[] = [
  findPassingRoles,
  findWideGrants,
  findDefaultGrants,
  findOpenSchemas,
  findOpenTables,
  findOpenViews,
  findLooseRoutines,
];
