/**
 * Unlinks an identity. One identity must remain; if the user's address goes with the identity, the user gets the
 * address of a remaining one. The user's other sessions, pending sign-ins and changes end, because the identity may have
 * started them.
 */
import { type AnswerJson, serializerOf } from '../../shared/schema.ts';
import { isUuid } from '../../shared/uuid.ts';
import { adoptEmail, deriveEmail } from '../accounts/derive-email.ts';
import {
  assertManualLinking,
  assertMayLink,
  type CurrentUser,
  lockCurrentUser,
} from '../accounts/lock-current-user.ts';
import { notifyUser } from '../messages/notify-user.ts';
import { AuthError } from '../model/auth-error.ts';
import type { Session } from '../model/session.ts';
import type { Identity, User } from '../model/user.ts';
import type { UserBearer } from '../rules/bearer.ts';
import { type AuthContext, type Transaction, transact } from '../steps/auth-context.ts';
import { auditUser } from '../store/audit.ts';
import { endFlows } from '../store/flows.ts';
import { deleteIdentity, syncProviders } from '../store/identities.ts';
import { clearPending } from '../store/one-time-tokens.ts';
import { endSessions } from '../store/sessions.ts';
import { updateUser } from '../store/users.ts';

/** The answer: an empty object. */
export const unlinkedSerializer = serializerOf<null>('AuthUnlinked', {});

/**
 * `DELETE /user/identities/{id}`.
 *
 * @throws AuthError `manual_linking_disabled`, `validation_failed` (404), `unexpected_audience`,
 *   `single_identity_not_deletable`, `identity_not_found`, `email_conflict_identity_not_deletable`, `email_exists`, `insufficient_aal`.
 */
export async function unlinkIdentity(context: AuthContext, bearer: UserBearer, id: string): Promise<AnswerJson> {
  assertManualLinking(context);
  if (!isUuid(id)) throw new AuthError('validation_failed', 'identity_id must be an UUID', { status: 404 });
  if (bearer.claims.aud !== context.audience) throw new AuthError('unexpected_audience');
  // The lock serializes two requests that unlink the last two identities: the second one is refused.
  await transact(context, [], async (tx) => unlink(tx, assertMayLink(await lockCurrentUser(tx, bearer)), id));
  return unlinkedSerializer.print(null);
}

async function unlink(tx: Transaction, asking: CurrentUser<Session | null>, id: string): Promise<void> {
  const { user, session: own } = asking;
  const { provider, traits } = await removeIdentity(tx, user, id);
  await auditUser(tx, 'identity_unlinked', user, traits);
  await endSessions(tx, user.id, own === null ? 'global' : 'others', own?.id ?? null);
  await notifyUser(tx, { kind: 'identity_unlinked', user, provider });
}

/**
 * Deletes an identity with what it has started, but no session.
 *
 * @param user Locked.
 * @returns Its provider, and what the audit log says of it.
 * @throws AuthError `single_identity_not_deletable`, `identity_not_found`, `email_conflict_identity_not_deletable`, `email_exists`
 */
export async function removeIdentity(tx: Transaction, user: User, id: string) {
  const { identities } = user;
  if (identities.length <= 1) throw new AuthError('single_identity_not_deletable');
  const identity = identities.find((own) => own.id === id.toLowerCase());
  if (identity === undefined) throw new AuthError('identity_not_found');
  const { provider, providerId } = identity;
  const traits = { identity_id: identity.id, provider, provider_id: providerId };
  await deleteIdentity(tx, identity.id);
  const left = identities.filter((own) => own !== identity);
  if (provider === 'phone') {
    await updateUser(tx, user.id, { phone: null, phoneConfirmedAt: null });
  } else {
    await replaceEmail(tx, user, left);
  }
  await syncProviders(tx, user.id);
  await clearPending(tx, user.id);
  await endFlows(tx, user.id);
  return { provider, traits };
}

/** Does nothing if a remaining identity has the user's address. */
async function replaceEmail(tx: Transaction, user: User, left: readonly Identity[]): Promise<void> {
  const own = user.email?.toLowerCase() ?? '';
  if (left.some(({ email }) => (email ?? '') === own)) return;
  const derived = await deriveEmail(tx, user, left);
  if (derived === null) throw new AuthError('email_conflict_identity_not_deletable');
  await adoptEmail(tx, user, derived);
}
