/** The page's names of emails, groups, variables and languages. */
import {
  type EmailKind,
  type EmailVariable,
  emailKindNames,
  emailKinds,
  isLinkKind,
} from '../../../../config/auth/email-kinds.ts';

/** Titles of the groups. */
export const groupTitles = {
  authentication: 'Authentication',
  notification: 'Security notifications',
  shared: 'Shared by all emails',
} as const;

/** A group. */
export type EmailGroup = keyof typeof groupTitles;

/** Title and purpose of what emails share, by its name. */
const sharedTitles: Readonly<Record<string, { readonly title: string; readonly sent: string }>> = {
  layout: {
    title: 'Layout',
    sent: 'Around every email that is not a complete HTML page. It contains {{ template "content" . }} exactly once. The built-in one is for built-in emails only.',
  },
  link_page: {
    title: 'Link page',
    sent: 'Shown before a link is used, if links ask first. It uses {{ .Button }} once.',
  },
};

/** Title and purpose of an email or a shared template. */
export function titleOf(email: string): { readonly title: string; readonly sent: string } {
  const partial = /^partials\/(.*)$/.exec(email)?.[1];
  if (partial === undefined) return emailKinds[email as EmailKind] ?? sharedTitles[email] ?? { title: email, sent: '' };
  return { title: partial, sent: `A partial. Other templates use it as {{ template "${partial}" . }}.` };
}

/** Values of `.Action`, each with what the link does. */
export const actionTitles: readonly (readonly [string, string])[] = [
  ...emailKindNames.filter(isLinkKind).map((name) => [name, emailKinds[name].title] as const),
  ['other', 'Another link'],
];

const meanings: Readonly<Record<EmailVariable | 'Action' | 'Button', string>> = {
  SiteURL: 'URL of your application',
  Brand: 'Your brand: .Brand.Name, .LogoURL, .Color, .OnColor, .Footer',
  Locale: 'Language tag of the texts',
  Email: 'Email address of the user',
  Data: 'User metadata, for example .Data.name',
  RedirectTo: 'Redirect URL after the link',
  ConfirmationURL: 'Link to confirm or sign in',
  Token: 'One-time code to type',
  SpelledToken: 'The code digit by digit, for screen readers',
  TokenHash: 'Token hash for your own link',
  NewEmail: 'New email address',
  SendingTo: 'Recipient of this email',
  OldEmail: 'Old email address',
  Phone: 'New phone number',
  OldPhone: 'Old phone number',
  Provider: 'Provider, for example google',
  Action: 'What the link does, for example recovery',
  Button: 'The button that uses the link',
  FactorType: 'Factor type: totp or phone',
  HasPassword: 'Whether the sign-up has chosen a password',
};

/** Descriptions of variables. */
export const variableMeanings: Readonly<Record<string, string>> = meanings;

/** `German (Switzerland)` for `de-CH`. */
export function languageName(locale: string): string {
  try {
    return new Intl.DisplayNames('en', { type: 'language', languageDisplay: 'standard' }).of(locale) ?? locale;
  } catch {
    // It knows no names of tags with extensions.
    return locale;
  }
}
