/**
 * The built-in subjects and bodies of the 13 emails (auth.md 5.7).
 *
 * Plain pages: no style block, nothing from elsewhere, readable on a phone, without CSS, and as text. They are also what the
 * management API shows for a field that is not set, so they are written to be copied and changed.
 */
import type { EmailKind } from './email-kind.ts';

/** Subject and body of an email, both in the template language. */
export interface TemplateTexts {
  readonly subject: string;
  readonly content: string;
}

/** Texts for all kinds. */
export const defaultTemplates: Readonly<Record<EmailKind, TemplateTexts>> = {
  confirmation: page('Confirm your email address', [
    'Someone, hopefully you, has signed up at {{ .SiteURL }} with this email address. Please confirm that it is yours.',
    link('Confirm email address'),
    code(),
    'Did you not sign up? Then ignore this email; nothing will happen.',
  ]),
  invite: page('You have been invited', [
    'You have been invited to create an account at {{ .SiteURL }}.',
    link('Accept the invitation'),
    'Did you not expect an invitation? Then ignore this email; no account will be opened.',
  ]),
  magic_link: page('Your sign-in link', [
    'Sign in to {{ .SiteURL }} with this link. It works once and expires soon.',
    link('Sign in'),
    code(),
    'Did you not ask for it? Then ignore this email; nobody can sign in without it.',
  ]),
  email_change: page('Confirm the change of your email address', [
    'The email address of an account at {{ .SiteURL }} is to be changed{{ if .Email }} from {{ .Email }}{{ end }} to {{ .NewEmail }}.',
    link('Confirm the change'),
    code(),
    'Did you not ask for this change? Then do not confirm it, and change your password.',
  ]),
  recovery: page('Reset your password', [
    'Someone, hopefully you, has asked to reset the password of the account at {{ .SiteURL }} that has this email address.',
    link('Reset password'),
    code(),
    'Did you not ask for it? Then ignore this email; your password stays as it is.',
  ]),
  reauthentication: page('{{ .Token }} is your verification code', [
    'Enter this code at {{ .SiteURL }} to confirm that it is you. It works once and expires soon.',
    '<strong style="font-size: 24px; letter-spacing: 3px">{{ .Token }}</strong>',
    'Did you not ask for a code? Then give it to nobody, and change your password.',
  ], 'Your verification code'),
  password_changed_notification: page('Your password was changed', [
    'The password of your account {{ .Email }} at {{ .SiteURL }} was just changed.',
    alarm('reset your password at once'),
  ]),
  email_changed_notification: page('Your email address was changed', [
    'The email address of your account at {{ .SiteURL }} was just changed from {{ .OldEmail }} to {{ .Email }}.',
    alarm('contact the operators of the site at once: emails of your account no longer go to this address'),
  ]),
  phone_changed_notification: page('Your phone number was changed', [
    'The phone number of your account {{ .Email }} at {{ .SiteURL }} was just changed from {{ .OldPhone }} to {{ .Phone }}.',
    alarm('change your password and the number'),
  ]),
  identity_linked_notification: page('A new way to sign in was added', [
    'Your account {{ .Email }} at {{ .SiteURL }} was just linked with an identity of {{ .Provider }}. Whoever owns that identity can sign in to your account.',
    alarm('unlink the identity and change your password'),
  ]),
  identity_unlinked_notification: page('A way to sign in was removed', [
    'An identity of {{ .Provider }} was just unlinked from your account {{ .Email }} at {{ .SiteURL }}. It can no longer be used to sign in.',
    alarm('change your password and link the identity again'),
  ]),
  mfa_factor_enrolled_notification: page('A second factor was added', [
    'A second factor ({{ .FactorType }}) was just added to your account {{ .Email }} at {{ .SiteURL }}.',
    alarm('remove the factor and change your password'),
  ]),
  mfa_factor_unenrolled_notification: page('A second factor was removed', [
    'A second factor ({{ .FactorType }}) was just removed from your account {{ .Email }} at {{ .SiteURL }}.',
    alarm('change your password and add the factor again'),
  ]),
}; // biome-ignore format: one paragraph a line

function page(subject: string, paragraphs: readonly string[], heading: string = subject): TemplateTexts {
  const body = paragraphs.map((paragraph) => `  <p>${paragraph}</p>`).join('\n');
  const content = `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width">
  <title>${heading}</title>
</head>
<body style="max-width: 560px; margin: 0 auto; padding: 24px; font: 16px/1.5 sans-serif; color: #1c1c1c">
  <h1 style="font-size: 20px">${heading}</h1>
${body}
</body>
</html>
`;
  return { subject, content };
}

function link(label: string): string {
  return `<a href="{{ .ConfirmationURL }}" style="font-size: 18px; font-weight: bold">${label}</a>`;
}

function code(): string {
  return 'Or enter this code: <strong style="font-size: 20px; letter-spacing: 2px">{{ .Token }}</strong>';
}

function alarm(advice: string): string {
  return `Was that you? Then there is nothing to do. Was it not? Then ${advice}.`;
}
