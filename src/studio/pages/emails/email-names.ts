/**
 * What the emails, their groups and their variables are called on the page.
 */

/** Titles of the groups. */
export const groupTitles = { authentication: 'Authentication', notification: 'Security notifications' } as const;

/** A group. */
export type EmailGroup = keyof typeof groupTitles;

/** Title, and when it is sent, by the name of an email. */
export const emailTitles: Readonly<Record<string, { readonly title: string; readonly sent: string }>> = {
  confirmation: { title: 'Confirm sign-up', sent: 'Sent to a new user, to confirm the address.' },
  invite: { title: 'Invite user', sent: 'Sent to somebody whom an admin invites.' },
  magic_link: { title: 'Magic link', sent: 'Sent to a user who signs in without a password.' },
  email_change: { title: 'Change email address', sent: 'Sent to confirm a new address.' },
  recovery: { title: 'Reset password', sent: 'Sent to a user who has forgotten the password.' },
  reauthentication: { title: 'Reauthentication', sent: 'Sent with a code before a sensitive change.' },
  password_changed_notification: { title: 'Password changed', sent: 'Sent after the password was changed.' },
  email_changed_notification: { title: 'Email address changed', sent: 'Sent to the old address after a change.' },
  phone_changed_notification: { title: 'Phone number changed', sent: 'Sent after the phone number was changed.' },
  identity_linked_notification: { title: 'Identity linked', sent: 'Sent after a provider was linked.' },
  identity_unlinked_notification: { title: 'Identity unlinked', sent: 'Sent after a provider was unlinked.' },
  mfa_factor_enrolled_notification: { title: 'MFA method added', sent: 'Sent after a second factor was added.' },
  mfa_factor_unenrolled_notification: { title: 'MFA method removed', sent: 'Sent after a second factor was removed.' },
};

/** What a variable holds. */
export const variableMeanings: Readonly<Record<string, string>> = {
  SiteURL: 'Address of your application',
  Email: 'Address of the user',
  Data: 'Metadata of the user: .Data.name',
  RedirectTo: 'Where the link leads in the end',
  ConfirmationURL: 'The link that acts',
  Token: 'The code to type',
  TokenHash: 'The code for a link of your own',
  NewEmail: 'The new address',
  SendingTo: 'The address this email goes to',
  OldEmail: 'The address before',
  Phone: 'The new phone number',
  OldPhone: 'The phone number before',
  Provider: 'The provider: google, github',
  FactorType: 'The kind of factor: totp, phone',
};
