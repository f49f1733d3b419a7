/**
 * Asks a hook on behalf of a request: what it refuses, and how it fails, becomes the answer of the request.
 */
import type { HookName } from '../../config/auth/auth-hook-fields.ts';
import { HookError } from '../../hooks/hook-error.ts';
import type { HookAnswer } from '../../hooks/hooks.ts';
import type { Queryable } from '../../postgres/system/queryable.ts';
import { AuthError } from '../auth-error.ts';
import type { AuthContext } from './auth-context.ts';

/**
 * Asks a hook that is switched on.
 *
 * @param session Of the transaction of the request; null where there is none.
 * @throws AuthError `hook_timeout` and so on, or what the hook refused with (`unknown`).
 */
export async function askHook(
  session: Queryable | null,
  { services, config }: AuthContext,
  name: HookName,
  payload: unknown,
): Promise<HookAnswer> {
  try {
    return await services.hooks.ask(session, { name, config, payload });
  } catch (error) {
    if (!(error instanceof HookError)) throw error;
    throw new AuthError(error.code, error.message, { status: error.status, cause: error });
  }
}
