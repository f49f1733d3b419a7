/**
 * Refuses to give anything to a role that others may act as, unless the operator adopts it: a tenant who may create roles
 * could have made it before, and would get what `init` gives.
 */
import { quoteName } from '../../catalog/quote-name.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import { CommandError } from '../shared/command.ts';
import { readRoleHolders } from '../shared/role-holders.ts';

/** Roles that `init` makes or finds. */
export interface WidenedRoles {
  /** Those that get something; each may be a member of the others, as the gateway's login is. */
  readonly roles: readonly string[];
  /** Those of which the operator trusts everybody who may act as them. */
  readonly adoptedRoles: readonly string[];
}

/**
 * Within the transaction that gives something, it is called last: whoever makes such a role after that is not its owner.
 *
 * @throws CommandError that lists who may act as which role.
 */
export async function refuseHeld(database: Queryable, { roles, adoptedRoles }: WidenedRoles): Promise<void> {
  const [me] = await database.query('select current_user as acting, session_user as login');
  const holders = await readRoleHolders(database, {
    roles: roles.filter((role) => !adoptedRoles.includes(role)),
    known: [...roles, ...adoptedRoles],
    operators: [String(me?.acting), String(me?.login)],
  });
  if (holders.length === 0) return;
  const held = [...new Set(holders.flatMap((each) => each.roles))];
  throw new CommandError(
    held.map((role) => {
      const names = holders.filter((each) => each.roles.includes(role)).map(({ holder }) => holder);
      const list = names.map((name) => `"${name}"`).join(', ');
      const revoke = `revoke ${quoteName(role)} from ${names.map(quoteName).join(', ')};`;
      return {
        problem: `The role "${role}" exists, and ${list} may act as it, and would get what init gives to it.`,
        fix: `${revoke}\nIf nobody you know has made the role: drop role ${quoteName(role)};\nTo give it to them too: --adopt-role ${adopting(held)}`,
      };
    }),
  );
}

function adopting(held: readonly string[]): string {
  return `'${held.join(',')}'`;
}
