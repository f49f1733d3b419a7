/**
 * The 14 emails: their names in each interface, and the variables of their templates (docs/template-variables.md).
 *
 * One table, so that renderer, template validation and studio agree on the variables.
 */
import type { EmailName } from '../config/auth/auth-template-fields.ts';

/** Name of an email, as in its configuration fields. */
export type EmailKind = EmailName;

const all = ['SiteURL', 'Brand', 'Locale', 'Data', 'Email', 'RedirectTo'] as const;
const link = [...all, 'Token', 'SpelledToken', 'TokenHash', 'ConfirmationURL'] as const;

/**
 * @param messageType The value of `$messageType` in an extra header.
 * @param variables Every variable of its template; others print nothing.
 * @param called For the client's error message if it could not be sent.
 */
function authentication<const V extends readonly string[]>(messageType: string, variables: V, called: string) {
  return { messageType, variables, failure: `Error sending ${called} email` };
}

/** Clients get no error if it could not be sent. @param own Variables in addition to the common ones. */
function notification<const V extends readonly string[]>(messageType: string, ...own: V) {
  return { messageType, variables: [...all, ...own] as const, failure: null };
}

/** All kinds. */
export const emailKinds = {
  confirmation: authentication('confirmation', [...link, 'HasPassword'], 'confirmation'),
  invite: authentication('invite', link, 'invite'),
  magic_link: authentication('magic_link', link, 'magic link'),
  email_change: authentication('email_change', [...link, 'NewEmail', 'SendingTo'], 'email change'),
  recovery: authentication('recovery', link, 'recovery'),
  // Supabase Auth names this type after the verb.
  reauthentication: authentication(
    'reauthenticate',
    [...all, 'Token', 'SpelledToken', 'TokenHash'],
    'reauthentication',
  ),
  password_changed_notification: notification('password_changed_notification'),
  email_changed_notification: notification('email_changed_notification', 'OldEmail'),
  phone_changed_notification: notification('phone_changed_notification', 'Phone', 'OldPhone'),
  identity_linked_notification: notification('identity_linked_notification', 'Provider'),
  identity_unlinked_notification: notification('identity_unlinked_notification', 'Provider'),
  mfa_factor_enrolled_notification: notification('mfa_factor_enrolled_notification', 'FactorType'),
  mfa_factor_unenrolled_notification: notification('mfa_factor_unenrolled_notification', 'FactorType'),
  // Not one of Supabase Auth.
  mfa_factor_guessed_notification: notification('mfa_factor_guessed_notification', 'FactorType'),
} as const satisfies Record<EmailKind, object>;

/** Top-level variables of templates. */
export type EmailVariable = (typeof emailKinds)[EmailKind]['variables'][number];

/** Names of all kinds, in the order of the table. */
export const emailKindNames = Object.keys(emailKinds) as readonly EmailKind[];
