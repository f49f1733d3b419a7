/** The names of emails in files: ours, and those of the Supabase CLI and dashboard, however their words are joined. */
import { type EmailKind, emailKindNames, notificationNames } from '../../config/auth/email-kinds.ts';
import type { Problem } from '../../config/config-error.ts';
import { nearestName } from '../../config/nearest-name.ts';

/** Names of the dashboard, then such as people give their files. */
const synonyms: Partial<Record<EmailKind, readonly string[]>> = {
  confirmation: ['confirm_sign_up', 'confirm_signup', 'sign_up', 'signup', 'confirm', 'confirm_email', 'email_confirmation'],
  invite: ['invite_user', 'invitation'],
  magic_link: ['magic_link_or_otp', 'magiclink', 'otp'],
  email_change: ['change_email_address', 'change_email', 'confirm_email_change'],
  recovery: ['reset_password', 'password_reset', 'password_recovery'],
  reauthentication: ['reauthenticate', 'confirm_reauthentication'],
  email_changed_notification: ['email_address_changed'],
  phone_changed_notification: ['phone_number_changed'],
  identity_linked_notification: ['sign_in_method_linked'],
  identity_unlinked_notification: ['sign_in_method_removed'],
  mfa_factor_enrolled_notification: ['multi_factor_authentication_method_added', 'mfa_method_added', 'mfa_enrolled'],
  mfa_factor_unenrolled_notification: ['multi_factor_authentication_method_removed', 'mfa_method_removed', 'mfa_unenrolled'],
}; // biome-ignore format: an email a line

const emails: ReadonlyMap<string, EmailKind> = new Map([
  ...emailKindNames.map((email) => [email, email] as const),
  // The CLI's tables of notifications lack the ending.
  ...notificationNames.map((name) => [name, `${name}_notification`] as const),
  ...emailKindNames.flatMap((email) => (synonyms[email] ?? []).map((name) => [name, email] as const)),
]);

/** The email of a name: `recovery`, `reset-password`, `Reset password`; null: of none. */
export function emailNamed(name: string): EmailKind | null {
  return emails.get(name.toLowerCase().replace(/[\s_-]+/g, '_')) ?? null;
}

/** What is wrong with a name of no email. `fix` names the email that was probably meant; null: it resembles none. */
export function unknownEmail(name: string, place: string): Problem {
  // Other names are too many and too short to be compared with.
  const nearest = nearestName(name.replaceAll('-', '_'), [...emailKindNames, ...notificationNames]);
  const fix = nearest === null ? null : `Did you mean "${emailNamed(nearest)}"?`;
  return { problem: `${place}: there is no email "${name}".`, fix };
}
