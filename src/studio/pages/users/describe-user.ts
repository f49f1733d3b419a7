/**
 * What people call a user, and what state the account is in.
 */
import type { StudioUser } from '../../shared/users.ts';

/** How a user is named in lists and sentences. */
export function nameOf({ email, phone, is_anonymous: isAnonymous, id }: StudioUser): string {
  return email || phone || (isAnonymous ? 'Anonymous user' : id);
}

/** The name that the user gave; null for none. */
export function fullNameOf({ user_metadata: data }: StudioUser): string | null {
  const name = data.full_name ?? data.name;
  return typeof name === 'string' && name !== '' ? name : null;
}

/** A state, and whether it is the one of most users. */
export interface UserState {
  readonly title: string;
  readonly isUsual: boolean;
}

/** The state that matters most. */
export function stateOf(user: StudioUser): UserState {
  const { deleted_at: deletedAt, banned_until: bannedUntil, confirmed_at: confirmedAt } = user;
  if (deletedAt !== undefined) return { title: 'Deleted', isUsual: false };
  if (bannedUntil !== undefined && new Date(bannedUntil) > new Date()) return { title: 'Banned', isUsual: false };
  if (user.is_anonymous) return { title: 'Anonymous', isUsual: false };
  if (confirmedAt !== undefined) return { title: 'Confirmed', isUsual: true };
  return { title: isInvited(user) ? 'Invited' : 'Not confirmed', isUsual: false };
}

/** Invited, and has not come yet. */
export function isInvited({ invited_at: invitedAt, confirmed_at: confirmedAt }: StudioUser): boolean {
  return invitedAt !== undefined && confirmedAt === undefined;
}
