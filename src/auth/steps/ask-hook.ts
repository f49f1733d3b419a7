/**
 * Asks a hook on behalf of a request: what it refuses, and how it fails, becomes the answer of the request.
 */
import type { HookName } from '../../config/auth/auth-hook-fields.ts';
import { HookError } from '../../hooks/hook-error.ts';
import type { HookAnswer } from '../../hooks/hooks.ts';
import { AuthError } from '../auth-error.ts';
import type { AuthContext, Transaction } from './auth-context.ts';

/**
 * Asks a hook that is switched on.
 *
 * @param context The transaction of the request, where there is one: a function runs in it.
 * @throws AuthError `hook_timeout` and so on, or what the hook refused with (`unknown`).
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
