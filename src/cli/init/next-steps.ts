/** The last output of `init` with a new login: its connection, shown nowhere else, and how to start the gateway. */
import { changeConnectionUrl, encodePart } from '../../config/connection-url.ts';
import { quoteForShell } from '../../shared/quote-for-shell.ts';
import type { AuthRole } from './auth-role.ts';
import type { RoleSetup } from './role-setup.ts';

/** The result of the preparation, with its new logins. */
interface Prepared {
  readonly setup: RoleSetup;
  readonly authRole: AuthRole;
  readonly made: { readonly login: boolean; readonly auth: boolean };
  /** Those named that exist. */
  readonly schemas: readonly string[] | null;
}

/** @param url The connection of `init`; the new ones differ in user and password. */
export function printNextSteps(url: string, { setup, authRole, made, schemas }: Prepared): string {
  const password = made.login ? setup.loginPassword : 'PASSWORD';
  const logins = [
    { of: 'the gateway', isMade: made.login, variable: 'DATABASE_URL', role: setup.login, password },
    ...(made.auth
      ? [{ of: 'the auth service', isMade: true, variable: 'PGREFLECT_ADMIN_DATABASE_URL', ...authRole }]
      : []),
  ].map((login) => ({ ...login, connection: connectionAs(url, login.role, login.password ?? '') }));
  const shown = logins.map(({ of, isMade, role, connection }) =>
    isMade
      ? `Connection of ${of}, shown only this once:\n\n  ${connection}`
      : `"${role}" keeps its password: write it in place of PASSWORD.`,
  );
  const exports = logins.map(({ variable, connection }) => `  export ${variable}='${connection}'`);
  const roles = printRoleFlags(setup);
  const exposed = schemas === null ? '' : ` --schemas ${quoteForShell(schemas.join(','))}`;
  return `
${shown.join('\n\n')}

Next:
  # Once: the signing secret and the two API keys.
  (umask 077; pgreflect keys${roles.keys} > pgreflect.env)
  set -a; . ./pgreflect.env; set +a
${exports.join('\n')}
  pgreflect serve${exposed}${roles.serve}`;
}

/** Connections of logins that existed before, without passwords. @param url The connection of `init`. */
export function printPrepared(url: string, roles: readonly string[]): string {
  const named = roles.map((role) => `"${role}"`).join(' and ');
  const keep = roles.length === 1 ? 'keeps its password' : 'keep their passwords';
  const connections = roles.map((role) => `  ${connectionAs(url, role, 'PASSWORD')}`);
  return `\nThe database is prepared. ${named} ${keep}:\n\n${connections.join('\n')}`;
}

function connectionAs(url: string, role: string, password: string): string | null {
  return changeConnectionUrl(url, (login) => {
    login.username = encodePart(role);
    login.password = encodePart(password);
    for (const name of ['user', 'password']) login.searchParams.delete(name);
  });
}

/** Flags for roles without the default names. */
function printRoleFlags({ anon, authenticated, service }: RoleSetup): {
  readonly keys: string;
  readonly serve: string;
} {
  const flag = (name: string, value: string, usual: string) => (value === usual ? '' : ` --${name} '${value}'`);
  const ends = [flag('anon-role', anon, 'anon'), flag('service-role', service, 'service_role')].join('');
  return { keys: ends, serve: `${flag('authenticated-role', authenticated, 'authenticated')}${ends}` };
}
