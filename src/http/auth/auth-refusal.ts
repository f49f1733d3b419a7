/**
 * Refusals that a browser carries to the application in an address, for the log.
 */
import { AuthError } from '../../auth/auth-error.ts';
import { ProviderRefusal } from '../../auth/requests/callback.ts';
import type { Observe } from '../../shared/observation.ts';
import type { AuthRequest } from './auth-request.ts';

/** @returns The code that the application is told, null for none; what it is not told of goes to the log. */
export function noteRefusal(error: unknown, { id }: AuthRequest, observe: Observe): string | null {
  // In the words of the provider, which are not for the log.
  if (error instanceof ProviderRefusal) return null;
  const isMasked = !(error instanceof AuthError) || error.status >= 500;
  if (isMasked) observe({ kind: 'masked_error', id, requestId: id, error });
  return error instanceof AuthError ? error.code : 'unexpected_failure';
}
