/**
 * Tells users by email of changes to their account that somebody else may have made: stored in the transaction of the change,
 * sent after its commit. Whether a notification can be sent never decides about the change.
 */

import type { MessageData } from '../../email/message.ts';
import { AuthError } from '../auth-error.ts';
import type { AuthContext, Transaction } from '../steps/auth-context.ts';
import { assertSendAllowed } from '../store/rate-limit.ts';
import type { User } from '../user.ts';
import { buildEmail } from './build-email.ts';
import { toNotificationHookEmail } from './send-by-hook.ts';
import { isAuthorized } from './send-token.ts';

/** A change. `user` is as it is after the change, where nothing else is said. */
export type Notification =
  | { readonly kind: 'password_changed'; readonly user: User }
  /** Goes to the old address. */
  | { readonly kind: 'email_changed'; readonly user: User; readonly oldEmail: string | null }
  | { readonly kind: 'phone_changed'; readonly user: User; readonly oldPhone: string | null }
  | { readonly kind: 'identity_linked'; readonly user: User; readonly provider: string }
  /** `user` is as it was before, with the address that it had then. */
  | { readonly kind: 'identity_unlinked'; readonly user: User; readonly provider: string }
  /** A factor was verified for the first time. */
  | { readonly kind: 'mfa_factor_enrolled'; readonly user: User; readonly factorType: string }
  /** A verified factor was removed. */
  | { readonly kind: 'mfa_factor_unenrolled'; readonly user: User; readonly factorType: string };

/** A notice is worth reading for as long as its cause can be undone: a mail server may be away over a weekend. */
const lifetimeSeconds = 3 * 24 * 3600;

/**
 * Stores the email where the configuration has it switched on and the user has an address. What stands in the way of the
 * email, a limit or a template, is logged; only the database can make this fail.
 *
 * @param session Of the change's own transaction (`transact`).
 */
export async function queueNotification(tx: Transaction, notification: Notification): Promise<void> {
  const { services, config } = tx;
  const { kind, user } = notification;
  if (!config[`mailer_notifications_${kind}_enabled`]) return;
  const data = toData(tx, notification);
  if (data === null) return;
  const email = `${kind}_notification` as const;
  const giveUp = (reason: string) =>
    services.observe({ kind: 'email_given_up', email, userId: user.id, attempts: 0, reason });
  if (!isAuthorized(data.to, config.external_email_authorized_addresses)) {
    return giveUp('its address is not in external_email_authorized_addresses');
  }
  const message = config.hook_send_email_enabled
    ? toNotificationHookEmail(tx, email, user, data)
    : buildEmail(tx, email, data);
  if (!(await isSendAllowed(tx))) return giveUp('rate_limit_email_sent is used up');
  await services.outbox.add(tx, { message, userId: user.id, lifetimeSeconds });
}

/** As `queueNotification`, for what an admin has changed; users hear of that only where the configuration says so. */
export async function queueAdminNotification(tx: Transaction, notification: Notification): Promise<void> {
  if (tx.config.mailer_notifications_admin_changes_enabled) await queueNotification(tx, notification);
}

/** Null where there is nobody to tell, or nothing has changed. */
function toData({ redirectTo }: AuthContext, notification: Notification): MessageData | null {
  const { user } = notification;
  const email = user.email ?? '';
  const common = { to: email, email, userMetadata: user.userMetadata, redirectTo };
  if (email === '') return null;
  switch (notification.kind) {
    case 'password_changed':
      return common;
    case 'email_changed': {
      const oldEmail = notification.oldEmail ?? '';
      return isChange(oldEmail, email) ? { ...common, to: oldEmail, oldEmail } : null;
    }
    case 'phone_changed': {
      const [oldPhone, phone] = [notification.oldPhone ?? '', user.phone ?? ''];
      return isChange(oldPhone, phone) ? { ...common, oldPhone, phone } : null;
    }
    case 'identity_linked':
    case 'identity_unlinked':
      return { ...common, provider: notification.provider };
    case 'mfa_factor_enrolled':
    case 'mfa_factor_unenrolled':
      return { ...common, factorType: notification.factorType };
  }
}

function isChange(before: string, after: string): boolean {
  return before !== '' && after !== '' && before !== after;
}

async function isSendAllowed({ services, config }: AuthContext): Promise<boolean> {
  try {
    await assertSendAllowed(services.limiter, 'email', config.rate_limit_email_sent);
    return true;
  } catch (error) {
    if (error instanceof AuthError && error.code === 'over_email_send_rate_limit') return false;
    throw error;
  }
}
