/**
 * Refuses to give anything to a role that others may act as, unless the operator adopts it: a tenant who may create roles
 * could have made it before, and would get what `init` gives.
 */

import { type RoleHolder, readRoleHolders } from '../../check/role-holders.ts';
import { quoteName } from '../../graphql/catalog/quote-name.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import { onOneLine, pasteable } from '../../shared/one-line.ts';
import { CommandError } from '../shared/command.ts';

/** Roles that `init` makes or finds. */
export interface WidenedRoles {
  /** Those that get something; each may be a member of the others, as the gateway's login is. */
  readonly roles: readonly string[];
  /** Those of which the operator trusts everybody who may act as them. */
  readonly adoptedRoles: readonly string[];
}

/**
 * Gives something to roles, between two looks. Whoever may rename a role may act as it, so that one which was there before and is
 * not held keeps its name. One that was not could have come for the statement alone.
 *
 * @param tx The transaction that gives it.
 * @param text What names the roles that get something.
 * @param give False: nothing was missing.
 * @throws CommandError as `refuseHeld`.
 */
export async function giveUnheld(
  tx: Queryable,
  widened: WidenedRoles,
  text: string,
  give: () => Promise<unknown>,
): Promise<boolean> {
  const rows = await tx.query('select r.rolname::text as name from pg_catalog.pg_roles r');
  const before = new Set(rows.map(({ name }) => name));
  const held = await findHeld(tx, widened);
  if ((await give()) === false) return false;
  if (held !== null) throw held;
  const isNew = /^create role /.test(text);
  const late = widened.roles.find((role) => !isNew && !before.has(role) && text.includes(role.replaceAll('"', '""')));
  if (late !== undefined)
    throw new CommandError([{ problem: `The role "${late}" did not exist before the statement.`, fix: null }]);
  await refuseHeld(tx, widened);
  return true;
}

/** @throws CommandError that lists who may act as which role. */
export async function refuseHeld(database: Queryable, widened: WidenedRoles): Promise<void> {
  const held = await findHeld(database, widened);
  if (held !== null) throw held;
}

/** Those who may act as the roles, without operators and adopted ones. */
export async function readHolders(
  database: Queryable,
  { roles, adoptedRoles }: WidenedRoles,
): Promise<readonly RoleHolder[]> {
  const [me] = await database.query('select current_user as acting, session_user as login');
  return readRoleHolders(database, {
    roles: roles.filter((role) => !adoptedRoles.includes(role)),
    known: [...roles, ...adoptedRoles],
    operators: [String(me?.acting), String(me?.login)],
  });
}

async function findHeld(database: Queryable, widened: WidenedRoles): Promise<CommandError | null> {
  const holders = await readHolders(database, widened);
  if (holders.length === 0) return null;
  const held = [...new Set(holders.flatMap((each) => each.roles))];
  return new CommandError(
    held.map((role) => {
      const names = holders.filter((each) => each.roles.includes(role)).map(({ holder }) => holder);
      const list = names.map((name) => `"${onOneLine(name)}"`).join(', ');
      const revoke =
        pasteable(`revoke ${quoteName(role)} from ${names.map(quoteName).join(', ')};`) ?? 'Take it from them.';
      return {
        problem: `The role "${role}" exists, and ${list} may act as it, and would get what init gives to it.`,
        fix: `${revoke}\nIf nobody you know has made the role: drop role ${quoteName(role)};\nTo give it to them too: --adopt-role ${adopting(held)}`,
      };
    }),
  );
}

/** The value of --adopt-role. */
export function adopting(held: readonly string[]): string {
  return `'${held.join(',')}'`;
}
