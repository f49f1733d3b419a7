/**
 * The emails of the auth service, one row each: everything that code outside of their texts and senders knows of a kind.
 *
 * A new kind is a row here, its English text (email/built-in/texts/en.ts) and the request that sends it.
 */

const all = ['SiteURL', 'Brand', 'Locale', 'Data', 'Email', 'RedirectTo'] as const;
const code = [...all, 'Token', 'SpelledToken', 'TokenHash'] as const;
const link = [...code, 'ConfirmationURL'] as const;

/** What a kind of email needs. */
interface KindRow {
  /** What the studio calls it. */
  readonly title: string;
  /** When it is sent, as a sentence. */
  readonly sent: string;
  /** Every variable of its template; others print nothing. */
  readonly variables: readonly string[];
  /** The client's error message if it could not be sent; null: the client gets no error. */
  readonly failure: string | null;
  /** Its built-in text shows the code. */
  readonly hasCode: boolean;
  /** The `type` in its link, and the field with the path; null: it has no link. */
  readonly link: { readonly type: string; readonly path: `mailer_urlpaths_${string}` } | null;
}

/** Clients get no error if it could not be sent, and a project switches it on. @param own Its own variables. */
function notification<const V extends readonly string[]>(title: string, sent: string, ...own: V) {
  return { title, sent, variables: [...all, ...own] as const, failure: null, hasCode: false, link: null };
}

/** All kinds. A name that ends with `_notification` is a notification, off by default. */
export const emailKinds = {
  confirmation: {
    title: 'Confirm sign-up',
    sent: 'Confirms the email address of a new user.',
    variables: [...link, 'HasPassword'],
    failure: 'Error sending confirmation email',
    hasCode: true,
    // `mailer_confirmation_link_type` takes its place in emails.
    link: { type: 'signup', path: 'mailer_urlpaths_confirmation' },
  },
  invite: {
    title: 'Invite user',
    sent: 'Sent when an admin invites a user.',
    variables: link,
    failure: 'Error sending invite email',
    // The invited have nowhere to type one.
    hasCode: false,
    link: { type: 'invite', path: 'mailer_urlpaths_invite' },
  },
  magic_link: {
    title: 'Magic link',
    sent: 'Sent for sign-in without a password.',
    variables: link,
    failure: 'Error sending magic link email',
    hasCode: true,
    // Supabase Auth has no separate path for it.
    link: { type: 'magiclink', path: 'mailer_urlpaths_recovery' },
  },
  email_change: {
    title: 'Change email address',
    sent: 'Confirms a change of email address.',
    variables: [...link, 'NewEmail', 'SendingTo'],
    failure: 'Error sending email change email',
    hasCode: true,
    link: { type: 'email_change', path: 'mailer_urlpaths_email_change' },
  },
  recovery: {
    title: 'Reset password',
    sent: 'Sent when a user forgot the password.',
    variables: link,
    failure: 'Error sending recovery email',
    hasCode: true,
    link: { type: 'recovery', path: 'mailer_urlpaths_recovery' },
  },
  reauthentication: {
    title: 'Reauthentication',
    sent: 'Sent with a code before a sensitive change.',
    variables: code,
    failure: 'Error sending reauthentication email',
    hasCode: true,
    link: null,
  },
  password_changed_notification: notification('Password changed', 'Sent after the password was changed.'),
  email_changed_notification: notification(
    'Email address changed',
    'Sent to the old address after the change.',
    'OldEmail',
  ),
  phone_changed_notification: notification(
    'Phone number changed',
    'Sent after the phone number was changed.',
    'Phone',
    'OldPhone',
  ),
  identity_linked_notification: notification('Identity linked', 'Sent after a sign-in method was added.', 'Provider'),
  identity_unlinked_notification: notification(
    'Identity unlinked',
    'Sent after a sign-in method was removed.',
    'Provider',
  ),
  mfa_factor_enrolled_notification: notification(
    'MFA method added',
    'Sent after a second factor was added.',
    'FactorType',
  ),
  mfa_factor_unenrolled_notification: notification(
    'MFA method removed',
    'Sent after a second factor was removed.',
    'FactorType',
  ),
  // Not one of Supabase Auth.
  mfa_factor_guessed_notification: notification(
    'MFA codes guessed',
    'Sent after ten wrong codes in a day.',
    'FactorType',
  ),
} as const satisfies Readonly<Record<string, KindRow>>;

/** Name of an email, as in its configuration fields: `recovery`, `password_changed_notification`. */
export type EmailKind = keyof typeof emailKinds;

/** A notification without the ending of its name. */
export type NotificationName = EmailKind extends infer K ? (K extends `${infer N}_notification` ? N : never) : never;

/** Emails with a link. */
export type LinkKind = {
  [K in EmailKind]: (typeof emailKinds)[K]['link'] extends null ? never : K;
}[EmailKind];

/** Top-level variables of templates. */
export type EmailVariable = (typeof emailKinds)[EmailKind]['variables'][number];

/** Names of all kinds, in the order of the table. */
export const emailKindNames = Object.keys(emailKinds) as readonly EmailKind[];

/** The notification of a kind; null: a request of the user causes the email, and it cannot be switched off. */
export function notificationOf(kind: EmailKind): NotificationName | null {
  const [, name] = /^(.*)_notification$/.exec(kind) ?? [];
  return (name as NotificationName | undefined) ?? null;
}

/** Notifications of a change, without the ending of their names. */
export const notificationNames: readonly NotificationName[] = emailKindNames.flatMap(
  (kind) => notificationOf(kind) ?? [],
);

/** Whether an email has a link. */
export function isLinkKind(kind: EmailKind): kind is LinkKind {
  return emailKinds[kind].link !== null;
}
