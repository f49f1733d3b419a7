/** Checks for unintended access: row security, grants, routines with other privileges. Statements are in `sql/`. */
import { quoteName } from '../graphql/catalog/quote-name.ts';
import { findExtensionCalls } from './check-extension-calls.ts';
import { findWideGrants } from './check-grants.ts';
import { findOpenTables } from './check-open-tables.ts';
import { findOpenViews } from './check-open-views.ts';
import { findLooseRoutines } from './check-routines.ts';
import { type Check, type Checks, type Finding, firstOf, remark, statementCheck } from './finding.ts';
import { readLogin } from './gateway-login.ts';
import { readRoleHolders } from './role-holders.ts';

/** Roles that bypass row security: policies do not protect against them. */
const findPassingRoles = statementCheck('check/passing-roles.sql', ({ role, name, why }) => ({
  check: 'row_security_passed',
  severity: 'error',
  object: String(name ?? role),
  message: `Row security of ${name ?? 'all tables'} does not apply to the role "${role}", because ${why}.`,
}));

/** Logins that may act as callers or as the gateway, and so as the service role. */
const findRoleMembers: Check = async ({ tx, roles, serviceRole, loginRole }) => {
  const ofApi = [...roles, serviceRole];
  const { login, reason } = await readLogin(tx, ofApi);
  const ours = [...new Set([...ofApi, loginRole, ...(reason === null ? [login] : [])])];
  const holders = await readRoleHolders(tx, { roles: ours, known: ours, operators: [] });
  return holders.map(({ holder, roles: held, direct }): Finding => {
    const list = held.map((name) => `"${name}"`).join(', ');
    return {
      check: 'role_member',
      severity: 'warning',
      object: holder,
      message: `The login "${holder}" may act as ${list}: it is a member or an administrator, itself or through other roles.`,
      fix:
        direct.length === 0
          ? null
          : remark('Unless it is meant to:', `revoke ${direct.map(quoteName).join(', ')} from ${quoteName(holder)}`),
    };
  });
};

/** Grants to insert that are no use without another. */
const findUnusedSequences = statementCheck(
  'check/sequence-grants.sql',
  ({ name, lacked, grantees }) => ({
    check: 'grant_incomplete',
    severity: 'warning',
    object: String(name),
    message: `${grantees} may insert into ${name}, but not use ${lacked}, the sequence of a column: inserts that do not give its value fail.`,
  }),
  ({ schemas, roles, serviceRole }) => [schemas, [...roles, serviceRole]],
);

/** Default privileges to write, which every new table gets before it has policies: a project may mean that. */
const findDefaultGrants = statementCheck('check/default-grants.sql', ({ maker, schema, grantees, privileges }) => ({
  check: 'default_grant',
  severity: 'note',
  object: schema === null ? null : String(schema),
  message: `Every new table that "${maker}" creates in ${schema === null ? 'any schema' : `the schema "${schema}"`} grants ${privileges} to ${grantees}, with or without row security.`,
}));

/** Schemas in which other roles may create an operator or function that a role's request then runs. */
const findOpenSchemas = statementCheck('check/open-schemas.sql', ({ name, grantees }) => ({
  check: 'schema_open',
  severity: 'warning',
  object: String(name),
  message: `The grant of create on the schema "${name}" to ${grantees} lets them create functions and operators that requests of other roles may run.`,
}));

/** What a project stores for services of Supabase that are not here. */
const findUnserved = statementCheck(
  'check/not-served.sql',
  ({ service, things }) => ({
    check: 'not_served',
    severity: 'note',
    object: null,
    message: `pgreflect does not serve ${service}, so these are stored only: ${firstOf(things as readonly string[])}.`,
  }),
  ({ schemas }) => [schemas],
);

/** All checks of this file, the most severe first. */
export const securityChecks: Checks = [
  [findPassingRoles, 'row_security_passed'],
  [findRoleMembers, 'role_member'],
  [
    findWideGrants,
    'write_unguarded',
    'grant_beyond_rows',
    'grant_without_policy',
    'grant_to_everybody',
    'policy_missing',
  ],
  [findUnusedSequences, 'grant_incomplete'],
  [findDefaultGrants, 'default_grant'],
  [findOpenSchemas, 'schema_open'],
  [findOpenTables, 'row_security_off', 'view_runs_as_owner'],
  [findOpenViews, 'view_without_barrier'],
  [findExtensionCalls, 'extension_off_path'],
  [findUnserved, 'not_served'],
  [findLooseRoutines, 'definer_search_path', 'definer_callable'],
];
