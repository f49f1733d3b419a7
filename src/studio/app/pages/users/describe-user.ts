/** A user's name and account state for display. */
import type { StudioUser } from '../../shared/users.ts';

/** States by the name that the API has for them; the first that applies is that of a user. */
export const stateTitles = {
  confirmed: 'Confirmed',
  unconfirmed: 'Not confirmed',
  invited: 'Invited',
  anonymous: 'Anonymous',
  banned: 'Banned',
  deleted: 'Deleted',
} as const;

/** A user's name in lists and sentences. */
export function nameOf({ email, phone, is_anonymous: isAnonymous, id, user_metadata: data }: StudioUser): string {
  return email || phone || (isAnonymous ? 'Anonymous user' : (fullName(data) ?? id));
}

/** The name the user entered; null for none. */
export function fullNameOf({ user_metadata: data }: StudioUser): string | null {
  return fullName(data);
}

function fullName(data: StudioUser['user_metadata']): string | null {
  const name = data.full_name ?? data.name;
  return typeof name === 'string' && name !== '' ? name : null;
}

/** The providers of a user's identities. */
export function providersOf({ identities }: StudioUser): readonly string[] {
  return [...new Set(identities.map(({ provider }) => provider))];
}

/** A state, and the class of its badge. */
interface UserState {
  readonly title: string;
  readonly badge: 'on' | 'changed' | 'failed';
}

/** The most important state, in the order of the API. */
export function stateOf(user: StudioUser): UserState {
  const { deleted_at: deletedAt, confirmed_at: confirmedAt } = user;
  const { deleted, banned, anonymous, confirmed, invited, unconfirmed } = stateTitles;
  if (deletedAt !== undefined) return { title: deleted, badge: 'failed' };
  if (isBanned(user)) return { title: banned, badge: 'failed' };
  if (user.is_anonymous) return { title: anonymous, badge: 'changed' };
  if (confirmedAt !== undefined) return { title: confirmed, badge: 'on' };
  return { title: isInvited(user) ? invited : unconfirmed, badge: 'changed' };
}

/** Whether the user cannot sign in now. */
export function isBanned({ banned_until: bannedUntil }: StudioUser): boolean {
  return bannedUntil !== undefined && new Date(bannedUntil) > new Date();
}

/** Invited, not yet accepted. */
export function isInvited({ invited_at: invitedAt, confirmed_at: confirmedAt }: StudioUser): boolean {
  return invitedAt !== undefined && confirmedAt === undefined;
}
