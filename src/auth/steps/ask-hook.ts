/** Calls a hook for a request. The hook's refusal or failure becomes the answer of the request. */
import { randomUUID } from 'node:crypto';
import type { HookName } from '../../config/auth/auth-hook-fields.ts';
import { toRfc3339 } from '../../shared/times.ts';
import type { HookAnswer } from '../hooks/call-hook.ts';
import { HookError } from '../hooks/hook-error.ts';
import { AuthError } from '../model/auth-error.ts';
import type { NewUser } from '../store/users.ts';
import { type AuthContext, nowOf, type Transaction } from './auth-context.ts';

/**
 * Calls an enabled hook.
 *
 * @param context The transaction of the request, if there is one: a function hook runs in it.
 * @throws AuthError `hook_timeout` and so on, or the hook's refusal (`unknown`).
 */
export async function askHook(
  context: AuthContext | Transaction,
  name: HookName,
  payload: unknown,
): Promise<HookAnswer> {
  try {
    const { services, config } = context;
    return await services.hooks.ask('query' in context ? context : null, { name, config, payload });
  } catch (error) {
    if (!(error instanceof HookError)) throw error;
    throw new AuthError(error.code, error.message, { status: error.status, cause: error });
  }
}

/** The zero time of Go, which payloads of Supabase Auth have for a user not created yet. */
const never = '0001-01-01T00:00:00Z';

/**
 * Calls the hook `before_user_created`, if enabled, before a sign-up of any kind creates a user. Users and invitations
 * made by admins are exempt. The payload never contains the password hash.
 *
 * @param tx The transaction that will insert the user.
 * @throws AuthError The hook's refusal or failure; the user must not be inserted then.
 */
export async function askBeforeUserCreated(tx: Transaction, user: NewUser & { readonly id: string }): Promise<void> {
  if (!tx.config.hook_before_user_created_enabled) return;
  const metadata = {
    uuid: randomUUID(),
    time: toRfc3339(nowOf(tx)),
    name: 'before-user-created',
    ip_address: tx.client.ip ?? '',
  };
  const shown = {
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
  await askHook(tx, 'before_user_created', { metadata, user: shown });
}
