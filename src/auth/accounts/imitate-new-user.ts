/**
 * The answer to a sign-up with an address that somebody has already: it has what the answer to a new user has, member by member.
 *
 * Made from nothing but the request, because whatever of the real user stayed in it would tell that there is one.
 */
import type { Metadata } from '../metadata.ts';
import { randomUuid } from '../random.ts';
import { type AuthContext, nowOf } from '../steps/auth-context.ts';
import type { User } from '../user.ts';
import { toUserJson, type UserJson } from '../user-json.ts';

/** Whom the request names. */
type Address = { readonly kind: 'email'; readonly email: string } | { readonly kind: 'phone'; readonly phone: string };

/**
 * A user who does not exist.
 *
 * @param id Its own.
 * @param identityData What the identity of a new user would say.
 */
export function imitateNewUser(context: AuthContext, address: Address, id: string, identityData: Metadata): UserJson {
  const { services, audience } = context;
  const now = nowOf(context);
  const { kind } = address;
  const email = kind === 'email' ? address.email : null;
  const times = { createdAt: now, updatedAt: now };
  const identity = {
    ...{ id: randomUuid(services.random), providerId: id, userId: id, provider: kind, email, identityData },
    ...{ lastSignInAt: now, ...times },
  };
  return toUserJson({
    ...{ id, audience, role: services.userRole, email, phone: kind === 'phone' ? address.phone : null, ...times },
    ...{ confirmationSentAt: now, appMetadata: { provider: kind, providers: [kind] }, isAnonymous: false },
    ...{ userMetadata: identityData, identities: [identity], factors: [], emailConfirmedAt: null, invitedAt: null },
    ...{ phoneConfirmedAt: null, confirmedAt: null, recoverySentAt: null, emailChange: '', emailChangeSentAt: null },
    ...{ phoneChange: '', phoneChangeSentAt: null, reauthenticationSentAt: null, lastSignInAt: null },
    ...{ bannedUntil: null, deletedAt: null },
  } as unknown as User);
}
