/** The texts in English, the base of all languages. */
import { type BaseTexts, byAddress } from '../language-texts.ts';

/** The texts. */
export const english: BaseTexts = {
  orCode: 'Or enter this code:',
  methods: { totp: 'authenticator app', phone: 'phone', email: 'email' },
  emails: {
    confirmation: {
      subject: 'Confirm your email address',
      lead: 'Thanks for signing up at {{ .Brand.Name }}. Confirm your email address to finish.',
      button: 'Confirm email address',
      end: [
        "{{ if .HasPassword }}A password was chosen for this account. {{ end }}If you didn't sign up, you can ignore this email.",
      ],
    },
    invite: {
      subject: "You've been invited",
      lead: 'You have been invited to create an account at {{ .Brand.Name }}.',
      button: 'Accept invitation',
      end: ["If you didn't expect this invitation, you can ignore this email."],
    },
    magic_link: {
      subject: 'Your sign-in link',
      lead: 'Use this link to sign in to {{ .Brand.Name }}. It works once and expires soon.',
      button: 'Sign in',
      end: ["If you didn't request this link, you can ignore this email."],
    },
    email_change: {
      subject: 'Confirm your new email address',
      lead: byAddress(
        'We received a request to use {{ .NewEmail }} for an account at {{ .Brand.Name }}.',
        'We received a request to change your email address at {{ .Brand.Name }} from {{ .Email }} to {{ .NewEmail }}.',
      ),
      button: 'Confirm change',
      end: [
        byAddress(
          "If you didn't request this change, you can ignore this email.",
          "If you didn't request this change, don't confirm it. Change your password.",
        ),
      ],
    },
    recovery: {
      subject: 'Reset your password',
      lead: 'We received a request to reset the password of your account at {{ .Brand.Name }}.',
      button: 'Reset password',
      end: ["If you didn't request this, you can ignore this email. Your password stays the same."],
    },
    reauthentication: {
      subject: '{{ .Token }} is your verification code',
      heading: 'Your verification code',
      lead: "Enter this code at {{ .Brand.Name }} to confirm that it's you. It works once and expires soon.",
      end: ["If you didn't request this code, don't share it. Change your password."],
    },
    password_changed_notification: {
      subject: 'Your password was changed',
      lead: 'The password of your account {{ .Email }} at {{ .Brand.Name }} was changed.',
      end: ["If this was you, no action is needed. If it wasn't, reset your password immediately."],
    },
    email_changed_notification: {
      subject: 'Your email address was changed',
      lead: 'The email address of your account at {{ .Brand.Name }} was changed from {{ .OldEmail }} to {{ .Email }}.',
      end: [
        "If this was you, no action is needed. If it wasn't, contact support at {{ .SiteURL }} immediately.",
        'Emails for your account no longer go to this address.',
      ],
    },
    phone_changed_notification: {
      subject: 'Your phone number was changed',
      lead: 'The phone number of your account {{ .Email }} at {{ .Brand.Name }} was changed from +{{ .OldPhone }} to +{{ .Phone }}.',
      end: ["If this was you, no action is needed. If it wasn't, change your password and restore your phone number."],
    },
    identity_linked_notification: {
      subject: 'A sign-in method was added',
      lead: 'A sign-in method ({provider}) was added to your account {{ .Email }} at {{ .Brand.Name }}.',
      end: ["If this was you, no action is needed. If it wasn't, remove the sign-in method and change your password."],
    },
    identity_unlinked_notification: {
      subject: 'A sign-in method was removed',
      lead: 'A sign-in method ({provider}) was removed from your account {{ .Email }} at {{ .Brand.Name }}.',
      end: [
        "If this was you, no action is needed. If it wasn't, change your password and add the sign-in method again.",
      ],
    },
    mfa_factor_enrolled_notification: {
      subject: 'A second factor was added',
      lead: 'A second factor ({factor}) was added to your account {{ .Email }} at {{ .Brand.Name }}.',
      end: ["If this was you, no action is needed. If it wasn't, remove the factor and change your password."],
    },
    mfa_factor_unenrolled_notification: {
      subject: 'A second factor was removed',
      lead: 'A second factor ({factor}) was removed from your account {{ .Email }} at {{ .Brand.Name }}.',
      end: ["If this was you, no action is needed. If it wasn't, change your password and add the factor again."],
    },
    mfa_factor_guessed_notification: {
      subject: 'Wrong codes were entered',
      lead: 'Wrong codes for the second factor ({factor}) of your account {{ .Email }} at {{ .Brand.Name }} were entered several times.',
      end: [
        "If this was you, no action is needed. If it wasn't, change your password immediately: somebody else may know it.",
      ],
    },
  },
  linkPage: {
    invited: 'You have been invited',
    other: 'Continue',
    next: 'Press the button to continue to {{ .SiteURL }}.',
    sentTo: 'The link was sent to {{ .Email }}.',
    unexpected: "If you didn't expect this link, close this page.",
  },
  linking: {
    heading: 'Link your {{ .Provider }} account?',
    account: 'You can then sign in with it to {{ .SiteURL }} as {{ .Account }}.',
    guest: 'a guest without an email address',
    button: 'Link',
    unexpected: 'If that isn’t your account, or you didn’t ask for this, close this page.',
  },
};
