/**
 * Users who were found without a lock, locked before something is decided by what they are.
 */
import type { Queryable } from '../../postgres/system/queryable.ts';
import { AuthError } from '../auth-error.ts';
import { lockUser } from '../store/users.ts';
import type { User } from '../user.ts';

/** The user as it is now, for this transaction alone. @throws AuthError `conflict` where it has just been deleted. */
export async function lockKnownUser(tx: Queryable, { id }: Pick<User, 'id'>): Promise<User> {
  const user = await lockUser(tx, id);
  if (user === null) throw new AuthError('conflict', 'The user has just been deleted');
  return user;
}
