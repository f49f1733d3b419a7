/**
 * What somebody may have left in an account before its owner came: they could have signed up with an address that is not
 * theirs, and waited.
 */
import type { SystemSession } from '../../database/run-system.ts';
import { deleteIdentity, syncProviders } from '../identities.ts';
import { clearTokens } from '../one-time-tokens.ts';
import { endFlows } from '../pkce.ts';
import type { ExternalUser } from '../providers/external-user.ts';
import { endSessions } from '../sessions.ts';
import type { User } from '../user.ts';
import { updateUser } from '../users.ts';
import { type Flow, nowOf } from './flow.ts';
import { reloadUser } from './issue-session.ts';

/**
 * Takes every other way into an unconfirmed account away: password, identities, and with them sessions, second factors and
 * whatever is pending or under way. Where the identity is the only way nothing happens.
 */
export async function evictStrangers(
  session: SystemSession,
  flow: Flow,
  user: User,
  { provider, subject, identityData }: ExternalUser,
): Promise<User> {
  const others = user.identities.filter((own) => own.provider !== provider || own.providerId !== subject);
  if (others.length === 0 && !user.passwordHash) return user;
  const now = nowOf(flow);
  const pending = { emailChange: '', emailChangeConfirmStatus: 0, phoneChange: '' } as const;
  const phone = { phone: null, phoneConfirmedAt: null };
  // One after the other, in one round trip.
  const writes = [
    ...others.map(({ id }) => deleteIdentity(session, id)),
    endSessions(session, user.id, 'global', null),
    session.query('delete from auth.mfa_factors f where f.user_id = $1::uuid', [user.id]),
    clearTokens(session, user.id, now),
    endFlows(session, user.id, now),
    updateUser(session, user.id, { ...pending, ...phone, passwordHash: '', userMetadata: identityData }, now),
    syncProviders(session, user.id, now),
  ];
  const [alone] = await Promise.all([reloadUser(session, user.id), ...writes]);
  return alone;
}
