/**
 * Checks of `pgreflect check` for unintended access: row security, grants, routines with other privileges. One check
 * per function; the statements are in `sql/`.
 */

import { findOpenTables } from './check-open-tables.ts';
import { findLooseRoutines } from './check-routines.ts';
import { type Check, type FindingKind, statementCheck } from './finding.ts';

/** Roles that bypass row security: policies do not protect against them. */
const findPassingRoles = statementCheck('check-passing-roles.sql', ({ role, name, why }) => ({
  check: 'row_security_passed',
  severity: 'error',
  object: String(name ?? role),
  message: `Row security of ${name ?? 'all tables'} does not apply to the role "${role}", because ${why}.`,
}));

/** What is wrong with a grant, after its words; by kind of sql/check-grants.sql. */
const grantKinds: Readonly<Record<string, { readonly check: FindingKind; readonly why: string }>> = {
  unguarded: { check: 'write_unguarded', why: 'it has no row security, so any row can be written' },
  beyond_rows: {
    check: 'grant_beyond_rows',
    why: 'row security does not cover these privileges, and the API does not use them',
  },
  without_policy: { check: 'grant_without_policy', why: 'no policy allows access to any row' },
  everybody: { check: 'grant_to_everybody', why: 'public includes every login of this server, not only the API' },
};

/** Grants that exceed what the API or its policies use. */
const findWideGrants = statementCheck('check-grants.sql', ({ name, kind, grantees, privileges, visitors }) => {
  const object = String(name);
  // Row security was enabled, but which rows to allow is for the owner to decide.
  if (kind === 'no_policy') {
    const message = `${object} has no policy, so the grant of ${privileges} to ${grantees} reaches no row. Create a policy for each role that may see rows.`;
    return { check: 'policy_missing', severity: 'note', object, message };
  }
  const { check, why } = grantKinds[String(kind)]!;
  return {
    check,
    severity: kind === 'unguarded' && visitors === true ? 'error' : 'warning',
    object,
    message: `The grant of ${privileges} on ${object} to ${grantees} is too wide: ${why}.`,
  };
});

/** Default privileges to write, which every new table gets before it has policies. */
const findDefaultGrants = statementCheck('check-default-grants.sql', ({ maker, schema, grantees, privileges }) => ({
  check: 'default_grant',
  severity: 'warning',
  object: schema === null ? null : String(schema),
  message: `Every new table that "${maker}" creates in ${schema === null ? 'any schema' : `the schema "${schema}"`} grants ${privileges} to ${grantees}, with or without row security.`,
}));

/**
 * Schemas in which other roles may create an operator or function that matches better than the intended one of another
 * role's request.
 */
const findOpenSchemas = statementCheck('check-open-schemas.sql', ({ name, grantees }) => ({
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
  findLooseRoutines,
];
