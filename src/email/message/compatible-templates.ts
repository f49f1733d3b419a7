/**
 * The built-in subjects and bodies under `mailer_compatible`: a few plain lines in English, as Supabase Auth sends. For
 * projects that move from it and want to send what they sent: HTML alone, none of our headers, no translations.
 */
import type { EmailKind } from '../../config/auth/email-kinds.ts';
import type { TemplateTexts } from '../built-in/built-in.ts';

/** Texts for all kinds. */
export const compatibleTemplates: Readonly<Record<EmailKind, TemplateTexts>> = {
  confirmation: page('Confirm your email address', [
    'Thanks for signing up at {{ .SiteURL }}. Confirm your email address to finish.',
    button('Confirm email address'),
    code(),
    "If you didn't sign up, you can ignore this email.",
  ]),
  invite: page("You've been invited", [
    'You have been invited to create an account at {{ .SiteURL }}.',
    button('Accept invitation'),
    "If you didn't expect this invitation, you can ignore this email.",
  ]),
  magic_link: page('Your sign-in link', [
    'Use this link to sign in to {{ .SiteURL }}. It works once and expires soon.',
    button('Sign in'),
    code(),
    "If you didn't request this link, you can ignore this email.",
  ]),
  email_change: page('Confirm your new email address', [
    // The new address may be mistyped, and that of a stranger without an account.
    '{{ if eq .SendingTo .NewEmail }}We received a request to use {{ .NewEmail }} for an account at {{ .SiteURL }}.{{ else }}We received a request to change your email address at {{ .SiteURL }} from {{ .Email }} to {{ .NewEmail }}.{{ end }}',
    button('Confirm change'),
    code(),
    "If you didn't request this change, {{ if eq .SendingTo .NewEmail }}you can ignore this email.{{ else }}don't confirm it. Change your password.{{ end }}",
  ]),
  recovery: page('Reset your password', [
    'We received a request to reset the password of your account at {{ .SiteURL }}.',
    button('Reset password'),
    code(),
    "If you didn't request this, you can ignore this email. Your password stays the same.",
  ]),
  reauthentication: page('{{ .Token }} is your verification code', [
    "Enter this code at {{ .SiteURL }} to confirm that it's you. It works once and expires soon.",
    '<strong style="font-size: 24px; letter-spacing: 3px">{{ .Token }}</strong>',
    "If you didn't request this code, don't share it. Change your password.",
  ], 'Your verification code'),
  password_changed_notification: page('Your password was changed', [
    'The password of your account {{ .Email }} at {{ .SiteURL }} was changed.',
    unlessYou('reset your password immediately'),
  ]),
  email_changed_notification: page('Your email address was changed', [
    'The email address of your account at {{ .SiteURL }} was changed from {{ .OldEmail }} to {{ .Email }}.',
    unlessYou('contact support at {{ .SiteURL }} immediately'),
    'Emails for your account no longer go to this address.',
  ]),
  phone_changed_notification: page('Your phone number was changed', [
    'The phone number of your account {{ .Email }} at {{ .SiteURL }} was changed from {{ .OldPhone }} to {{ .Phone }}.',
    unlessYou('change your password and restore your phone number'),
  ]),
  identity_linked_notification: page('A sign-in method was added', [
    'A sign-in method ({{ .Provider }}) was added to your account {{ .Email }} at {{ .SiteURL }}.',
    unlessYou('remove the sign-in method and change your password'),
  ]),
  identity_unlinked_notification: page('A sign-in method was removed', [
    'A sign-in method ({{ .Provider }}) was removed from your account {{ .Email }} at {{ .SiteURL }}.',
    unlessYou('change your password and add the sign-in method again'),
  ]),
  mfa_factor_enrolled_notification: page('A second factor was added', [
    'A second factor ({{ .FactorType }}) was added to your account {{ .Email }} at {{ .SiteURL }}.',
    unlessYou('remove the factor and change your password'),
  ]),
  mfa_factor_unenrolled_notification: page('A second factor was removed', [
    'A second factor ({{ .FactorType }}) was removed from your account {{ .Email }} at {{ .SiteURL }}.',
    unlessYou('change your password and add the factor again'),
  ]),
  mfa_factor_guessed_notification: page('Wrong codes were entered', [
    'Wrong codes for the second factor ({{ .FactorType }}) of your account {{ .Email }} at {{ .SiteURL }} were entered several times.',
    unlessYou('change your password immediately'),
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

function button(action: string): string {
  const style =
    'display: inline-block; padding: 10px 20px; border-radius: 6px; background: #1c1c1c; color: #ffffff; text-decoration: none; font-weight: bold';
  return `<a href="{{ .ConfirmationURL }}" style="${style}">${action}</a>`;
}

function code(): string {
  return 'Or enter this code: <strong style="font-size: 20px; letter-spacing: 2px">{{ .Token }}</strong>';
}

function unlessYou(advice: string): string {
  return `If this was you, no action is needed. If it wasn't, ${advice}.`;
}
