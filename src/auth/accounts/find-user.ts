/**
 * Who has an address: as the address of the user, or through an identity for which it was proved.
 */
import type { Queryable } from '../../postgres/system/queryable.ts';
import { findUserByEmail, loadUser } from '../store/users.ts';
import { nilUuid } from '../tools.ts';
import type { User } from '../user.ts';

/** The user whose address it is, else the oldest one with such an identity, or null. */
export async function findEmailOwner(tx: Queryable, email: string, audience: string): Promise<User | null> {
  const user = await findUserByEmail(tx, email, audience);
  if (user !== null) return user;
  const [row] = await tx.query(
    `select u.id from auth.identities i join auth.users u on u.id = i.user_id
    where i.email = $1 and i.identity_data -> 'email_verified' = 'true' and u.instance_id = '${nilUuid}' and u.aud = $2
      and u.is_sso_user = false
    order by u.created_at, u.id limit 1`,
    [email, audience],
  );
  return row === undefined ? null : loadUser(tx, row.id as string);
}
