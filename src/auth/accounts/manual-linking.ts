/**
 * Whether users may change which identities they have.
 */
import { AuthError } from '../auth-error.ts';
import type { Session } from '../session.ts';
import type { AuthContext } from '../steps/auth-context.ts';
import { lacksSecondFactor } from '../user.ts';
import type { Asking } from './lock-asking.ts';

/** @throws AuthError `manual_linking_disabled` */
export function assertManualLinking({ config }: AuthContext): void {
  if (!config.security_manual_linking_enabled) throw new AuthError('manual_linking_disabled');
}

/** An identity outlives the next password, so it takes the second factor that a new password takes. @throws AuthError `insufficient_aal` */
export function assertMayLink<A extends Asking<Session | null>>(asking: A): A {
  const { user, session } = asking;
  if (!lacksSecondFactor(user, session)) return asking;
  const message = 'AAL2 session is required to link or unlink an identity when MFA is enabled.';
  throw new AuthError('insufficient_aal', message);
}
