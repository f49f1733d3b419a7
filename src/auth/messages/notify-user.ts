/**
 * Notifies users by email of changes to their account that an attacker may have made. Stores the email in the
 * transaction of the change and sends it after the commit. An email that cannot be sent never fails the change.
 */
import { enabledField } from '../../config/auth/auth-template-fields.ts';
import { languagesOf } from '../../email/message/choose-texts.ts';
import type { MessageData } from '../../email/message/message.ts';
import type { User } from '../model/user.ts';
import { type AuthContext, limiterOf, type Transaction } from '../steps/auth-context.ts';
import { takeNotification } from '../store/rate-limit.ts';
import { buildEmail } from './build-email.ts';
import { toNotificationHookEmail } from './send-by-hook.ts';
import { isAuthorized, reportUnsent, usedUp } from './send-token.ts';

/** A change. `user` is the state after the change, unless a kind says otherwise. */
type Notification =
  | { readonly kind: 'password_changed'; readonly user: User }
  /** Goes to the old address. */
  | { readonly kind: 'email_changed'; readonly user: User; readonly oldEmail: string | null }
  | { readonly kind: 'phone_changed'; readonly user: User; readonly oldPhone: string | null }
  | { readonly kind: 'identity_linked'; readonly user: User; readonly provider: string }
  /** `user` is the state before the change, with its old address. */
  | { readonly kind: 'identity_unlinked'; readonly user: User; readonly provider: string }
  /** A factor was verified for the first time. */
  | { readonly kind: 'mfa_factor_enrolled'; readonly user: User; readonly factorType: string }
  /** A verified factor was removed. */
  | { readonly kind: 'mfa_factor_unenrolled'; readonly user: User; readonly factorType: string }
  /** Wrong codes for a verified factor. */
  | { readonly kind: 'mfa_factor_guessed'; readonly user: User; readonly factorType: string };

/** The lifetime of a notification: three days to undo its cause, because a mail server may be down over a weekend. */
const lifetimeSeconds = 3 * 24 * 3600;

/**
 * Stores the email if it is enabled and the user has an address. Logs if a limit or a template prevents the email; only
 * the database can make this fail.
 *
 * @param tx The change's own transaction (`transact`).
 */
export async function notifyUser(tx: Transaction, notification: Notification): Promise<void> {
  const { services, config } = tx;
  const { kind, user } = notification;
  if (!config[enabledField(kind)]) return;
  const data = toData(tx, notification);
  if (data === null) return;
  const email = `${kind}_notification` as const;
  const giveUp = (reason: string) => reportUnsent(tx, { kind: email, userId: user.id, to: data.to }, reason);
  if (!isAuthorized(data.to, config.external_email_authorized_addresses)) {
    return giveUp('its address is not in external_email_authorized_addresses');
  }
  const message = config.hook_send_email_enabled
    ? toNotificationHookEmail(tx, email, user, data)
    : buildEmail(tx, email, data);
  const counts = { changes: limiterOf(tx), limiter: services.limiter };
  const limit = await takeNotification(counts, data.to, config);
  if (limit !== null) return giveUp(usedUp(limit));
  await services.outbox.add(tx, { message, userId: user.id, lifetimeSeconds, config });
}

/** As `notifyUser`, for changes made by an admin. Sends only if the configuration says so. */
export async function notifyOfAdminChange(tx: Transaction, notification: Notification): Promise<void> {
  if (tx.config.mailer_notifications_admin_changes_enabled) await notifyUser(tx, notification);
}

/** Null if the user has no address or nothing changed. */
function toData({ redirectTo, languages: ofRequest }: AuthContext, notification: Notification): MessageData | null {
  const { user } = notification;
  const email = user.email ?? '';
  const languages = languagesOf(user.userMetadata, ofRequest);
  const common = { to: email, email, userMetadata: user.userMetadata, languages, redirectTo };
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
    case 'mfa_factor_guessed':
      return { ...common, factorType: notification.factorType };
  }
}

function isChange(before: string, after: string): boolean {
  return before !== '' && after !== '' && before !== after;
}
