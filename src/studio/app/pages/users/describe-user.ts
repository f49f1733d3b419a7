/** A user's name and account state for display. */
import type { StudioUser } from '../../shared/users.ts';

/** A user's name in lists and sentences. */
export function nameOf({ email, phone, is_anonymous: isAnonymous, id }: StudioUser): string {
  return email || phone || (isAnonymous ? 'Anonymous user' : id);
}

/** The name the user entered; null for none. */
export function fullNameOf({ user_metadata: data }: StudioUser): string | null {
  const name = data.full_name ?? data.name;
  return typeof name === 'string' && name !== '' ? name : null;
}

/** A state, and whether it is the usual one. */
interface UserState {
  readonly title: string;
  readonly isUsual: boolean;
}

/** The most important state. */
export function stateOf(user: StudioUser): UserState {
  const { deleted_at: deletedAt, banned_until: bannedUntil, confirmed_at: confirmedAt } = user;
  if (deletedAt !== undefined) return { title: 'Deleted', isUsual: false };
  if (bannedUntil !== undefined && new Date(bannedUntil) > new Date()) return { title: 'Banned', isUsual: false };
  if (user.is_anonymous) return { title: 'Anonymous', isUsual: false };
  if (confirmedAt !== undefined) return { title: 'Confirmed', isUsual: true };
  return { title: isInvited(user) ? 'Invited' : 'Not confirmed', isUsual: false };
}

/** Invited, not yet accepted. */
export function isInvited({ invited_at: invitedAt, confirmed_at: confirmedAt }: StudioUser): boolean {
  return invitedAt !== undefined && confirmedAt === undefined;
}
