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

/** A state, and whether it is the usual one. */
interface UserState {
  readonly title: string;
  readonly isUsual: boolean;
}

/** The most important state, in the order of the API. */
export function stateOf(user: StudioUser): UserState {
  const { deleted_at: deletedAt, confirmed_at: confirmedAt } = user;
  const unusual = (title: string) => ({ title, isUsual: false });
  if (deletedAt !== undefined) return unusual(stateTitles.deleted);
  if (isBanned(user)) return unusual(stateTitles.banned);
  if (user.is_anonymous) return unusual(stateTitles.anonymous);
  if (confirmedAt !== undefined) return { title: stateTitles.confirmed, isUsual: true };
  return unusual(isInvited(user) ? stateTitles.invited : stateTitles.unconfirmed);
}

/** Whether the user cannot sign in now. */
export function isBanned({ banned_until: bannedUntil }: StudioUser): boolean {
  return bannedUntil !== undefined && new Date(bannedUntil) > new Date();
}

/** Invited, not yet accepted. */
export function isInvited({ invited_at: invitedAt, confirmed_at: confirmedAt }: StudioUser): boolean {
  return invitedAt !== undefined && confirmedAt === undefined;
}
