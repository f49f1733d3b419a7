/**
 * The emails of the auth service: what the pages call them, and when each is sent.
 */

/** Title, and when it is sent, by the name of an email. */
export const emailTitles: Readonly<Record<string, { readonly title: string; readonly sent: string }>> = {
  confirmation: { title: 'Confirm sign-up', sent: 'Confirms the email address of a new user.' },
  invite: { title: 'Invite user', sent: 'Sent when an admin invites a user.' },
  magic_link: { title: 'Magic link', sent: 'Sent for sign-in without a password.' },
  email_change: { title: 'Change email address', sent: 'Confirms a change of email address.' },
  recovery: { title: 'Reset password', sent: 'Sent when a user forgot the password.' },
  reauthentication: { title: 'Reauthentication', sent: 'Sent with a code before a sensitive change.' },
  password_changed_notification: { title: 'Password changed', sent: 'Sent after the password was changed.' },
  email_changed_notification: { title: 'Email address changed', sent: 'Sent to the old address after the change.' },
  phone_changed_notification: { title: 'Phone number changed', sent: 'Sent after the phone number was changed.' },
  identity_linked_notification: { title: 'Identity linked', sent: 'Sent after a sign-in method was added.' },
  identity_unlinked_notification: { title: 'Identity unlinked', sent: 'Sent after a sign-in method was removed.' },
  mfa_factor_enrolled_notification: { title: 'MFA method added', sent: 'Sent after a second factor was added.' },
  mfa_factor_unenrolled_notification: { title: 'MFA method removed', sent: 'Sent after a second factor was removed.' },
  mfa_factor_guessed_notification: { title: 'MFA codes guessed', sent: 'Sent after ten wrong codes in a day.' },
};

/** Its title; a name that no email has stays. */
export function emailTitle(email: string): string {
  return emailTitles[email]?.title ?? email;
}
