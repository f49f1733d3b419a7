/**
 * The hook `before_user_created`: asked before somebody becomes a user by what they do themselves, whichever way. What admins
 * make, users and invitations, is not asked about.
 */
import { randomUuid } from '../random.ts';
import type { NewUser } from '../store/users.ts';
import { toRfc3339 } from '../times.ts';
import { askHook } from './ask-hook.ts';
import { nowOf, type Transaction } from './auth-context.ts';

/** Not created yet, in the words of the ecosystem's payload. */
const never = '0001-01-01T00:00:00Z';

/**
 * Asks it where it is switched on; every request that is about to insert a user of its own accord does so first.
 *
 * @param session Of the transaction that will insert the user.
 * @throws AuthError What the hook refused or failed with; the user must not be inserted then.
 */
export async function askBeforeUserCreated(tx: Transaction, user: NewUser & { readonly id: string }): Promise<void> {
  if (!tx.config.hook_before_user_created_enabled) return;
  const metadata = {
    uuid: randomUuid(tx.services.random),
    time: toRfc3339(nowOf(tx)),
    name: 'before-user-created',
    ip_address: tx.client.ip ?? '',
  };
  await askHook(tx, 'before_user_created', { metadata, user: toPayload(user) });
}

/** Never the hash of the password. */
function toPayload(user: NewUser & { readonly id: string }): Readonly<Record<string, unknown>> {
  return {
    id: user.id,
    aud: user.audience,
    role: user.role,
    email: user.email ?? '',
    phone: user.phone ?? '',
    app_metadata: user.appMetadata,
    user_metadata: user.userMetadata,
    identities: [],
    created_at: never,
    updated_at: never,
    is_anonymous: user.isAnonymous ?? false,
  };
}
