/**
 * The email address of a user who has none, or has lost the one they had: their identities give it.
 */
import type { Queryable } from '../../postgres/system/queryable.ts';
import { mergeMetadata } from '../metadata.ts';
import { type AuthContext, nowOf } from '../steps/auth-context.ts';
import { reloadUser } from '../steps/issue-session.ts';
import { noteEntry } from '../store/entries.ts';
import { clearTokens } from '../store/one-time-tokens.ts';
import { isEmailTaken, updateUser } from '../store/users.ts';
import type { Identity, User } from '../user.ts';

/** What identities say of an address. */
export interface DerivedEmail {
  /** In lower case; null where the identity has none. */
  readonly email: string | null;
  /** Whether it has been proved to be the user's. */
  readonly isVerified: boolean;
}

/**
 * The first address that nobody else has: verified ones before others, those of older identities before those of younger
 * ones. An identity without an address comes last, and then the user has none.
 *
 * @param identities Those that count.
 * @returns Null where every one has an address of somebody else.
 */
export async function deriveEmail(
  session: Queryable,
  context: AuthContext,
  user: User,
  identities: readonly Identity[],
): Promise<DerivedEmail | null> {
  for (const { email, identityData } of [...identities].sort(byPrecedence)) {
    if (email && (await isEmailTaken(session, email, context.audience, user.id))) continue;
    return { email: email || null, isVerified: isVerified(identityData) };
  }
  return null;
}

/**
 * Makes the address the user's. Whatever was pending ends, and an address that is not verified has to be confirmed again.
 *
 * @param user Locked.
 * @throws AuthError `email_exists` where somebody has just taken it.
 */
export async function adoptEmail(
  session: Queryable,
  context: AuthContext,
  user: User,
  { email, isVerified }: DerivedEmail,
): Promise<User> {
  const now = nowOf(context);
  const isConfirmed = email !== null && (isVerified || context.config.mailer_autoconfirm);
  const unconfirmed = {
    emailConfirmedAt: null,
    userMetadata: mergeMetadata(user.userMetadata, { email_verified: false }),
  };
  const settled = { emailChange: '', emailChangeConfirmStatus: 0, phoneChange: '' } as const;
  await Promise.all([
    clearTokens(session, user.id, now),
    updateUser(session, user.id, { email, ...settled, ...(isConfirmed ? {} : unconfirmed) }, now),
    ...(isConfirmed || email === null ? [] : [noteEntry(session, user.id, 'code')]),
  ]);
  return reloadUser(session, user.id);
}

function byPrecedence(a: Identity, b: Identity): number {
  return rank(a) - rank(b) || (a.createdAt ?? 0) - (b.createdAt ?? 0) || (a.id < b.id ? -1 : 1);
}

function rank({ email, identityData }: Identity): number {
  if (!email) return 2;
  return isVerified(identityData) ? 0 : 1;
}

function isVerified(identityData: Identity['identityData']): boolean {
  return identityData.email_verified === true;
}
