/** The state of a user, as a badge. */
import type { StudioUser } from '../../shared/users.ts';
import { stateOf } from './describe-user.ts';

/** The badge. */
export function StateBadge({ user }: { readonly user: StudioUser }) {
  const { title, badge } = stateOf(user);
  return <span className={`badge ${badge}`}>{title}</span>;
}
