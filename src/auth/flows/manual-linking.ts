/**
 * Whether users may change which identities they have.
 */
import { AuthError } from '../auth-error.ts';
import type { Flow } from './flow.ts';

/** @throws AuthError `manual_linking_disabled` */
export function assertManualLinking({ config }: Flow): void {
  if (!config.security_manual_linking_enabled) throw new AuthError('manual_linking_disabled');
}
