/** Fields of the auth configuration about sign-in: sites, methods, passwords, sessions, second factors. */
import { flag, integerBetween, oneOf } from '../../shared/schema.ts';
import { checkPattern } from '../url-pattern.ts';
import { field, hours, seconds, string } from './auth-field.ts';
import { type SmsProvider, smsProviders } from './auth-sms-fields.ts';
import { checkDateTime, checkLine, checkSessionTags, checkSiteUrl } from './auth-value-checks.ts';
import { checkWebhookUrl } from './hook-target.ts';

const most = 2_147_483_647;
const invert = (value: unknown): unknown => (typeof value === 'boolean' ? !value : value);
const joinList = (value: unknown): unknown => (Array.isArray(value) ? value.join(',') : value);

const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
const lower = 'abcdefghijklmnopqrstuvwxyz';
const upper = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
// As hosted projects write it: the backslash before the colon makes it a literal.
const symbols = '!@#$%^&*()_+-=[]{};\'\\\\:"|<>?,./`~';
const requirements: Readonly<Record<string, string>> = {
  '': '',
  letters_digits: `${letters}:0123456789`,
  lower_upper_letters_digits: `${lower}:${upper}:0123456789`,
  lower_upper_letters_digits_symbols: `${lower}:${upper}:0123456789:${symbols}`,
};

function toCharacterSets(value: unknown): unknown {
  if (typeof value === 'string' && Object.hasOwn(requirements, value)) return requirements[value];
  throw new Error(`must be one of "", ${Object.keys(requirements).filter(Boolean).join(', ')}`);
}

/** The fields. */
export const signInFields = {
  site_url: field(string(checkSiteUrl), 'http://localhost:3000',
    'URL of your application; the default redirect target of links.', { file: 'auth.site_url' }),
  uri_allow_list: field(string(checkPattern), '',
    'Additional redirect URLs allowed in links: patterns separated by commas.',
    { file: 'auth.additional_redirect_urls', convert: joinList, list: true }),
  disable_signup: field(flag, false,
    'Disable sign-up. Invitations and the admin API still create users.', { file: 'auth.enable_signup', convert: invert }),
  jwt_exp: field(seconds(0, 604_800), 3600, 'Access token lifetime in seconds; 0 means 3600.', { file: 'auth.jwt_expiry' }),
  external_email_enabled: field(flag, true,
    'Allow sign-up and sign-in with an email address.', { file: 'auth.email.enable_signup' }),
  external_email_magic_link_enabled: field(flag, true, 'Allow sign-in with a link or code sent by email.'),
  external_email_authorized_addresses: field(string(), '',
    'Only addresses that may receive email, separated by commas; empty: all.', { list: true }),
  external_phone_enabled: field(flag, false,
    'Allow sign-up and sign-in with a phone number.', { file: 'auth.sms.enable_signup' }),
  external_anonymous_users_enabled: field(flag, false,
    'Allow anonymous sign-in.', { file: 'auth.enable_anonymous_sign_ins' }),
  external_allowed_id_token_issuers: field(string(), '',
    'Additional ID token issuers, separated by commas. After each issuer, its accepted client IDs, separated by spaces.',
    { list: true }),

  refresh_token_rotation_enabled: field(flag, true,
    'End the session when a refresh token is used twice.',
    { file: 'auth.enable_refresh_token_rotation', environment: 'GOTRUE_SECURITY_REFRESH_TOKEN_ROTATION_ENABLED' }),
  security_refresh_token_reuse_interval: field(seconds(0, most), 10,
    'Grace period for reusing a refresh token, in seconds.', { file: 'auth.refresh_token_reuse_interval' }),
  security_manual_linking_enabled: field(flag, false,
    'Allow users to link and unlink identities.', { file: 'auth.enable_manual_linking' }),
  security_link_keeps_password: field(flag, true,
    'Keep the password of a sign-up when its link confirms it.', { environment: null }),
  security_update_password_require_reauthentication: field(flag, false,
    'Password changes need a session under 24 hours old, or emailed code.',
    { file: 'auth.email.secure_password_change' }),
  security_update_password_require_current_password: field(flag, false,
    'Require the current password to change the password.'),
  security_hide_accounts: field(flag, false,
    'Hide from strangers which addresses have an account.', { environment: null }),
  security_jwt_aud_header_enabled: field(flag, false,
    'Look up users in the audience of the X-JWT-AUD header.', { environment: null }),
  security_sb_forwarded_for_enabled: field(flag, false,
    'Read the client address from Sb-Forwarded-For, sent by a trusted proxy.'),

  security_captcha_enabled: field(flag, false,
    'Require a captcha for sign-up, password or code sign-in, recovery and resending.', { file: 'auth.captcha.enabled' }),
  security_captcha_provider: field<'hcaptcha' | 'turnstile'>(oneOf('hcaptcha', 'turnstile'), 'hcaptcha',
    'Captcha service.', { file: 'auth.captcha.provider' }),
  security_captcha_secret: field<string | null>(string(checkLine, 2000), null,
    'Secret key of the captcha service.', { file: 'auth.captcha.secret', secret: true, sentTo: ['security_captcha_url'] }),
  security_captcha_url: field<string | null>(string(checkWebhookUrl, 2000), null,
    "Address that verifies captcha tokens; default: the service's own.", { environment: null }),

  password_min_length: field(integerBetween(6, 32_767), 6,
    'Minimum length of a new password in bytes.', { file: 'auth.minimum_password_length' }),
  password_required_characters: field(string(), '',
    'Character sets, separated by colons. A new password needs one of each.',
    { file: 'auth.password_requirements', convert: toCharacterSets }),
  password_hibp_enabled: field(flag, false, 'Refuse passwords found in public leaks; see --leaked-passwords-url.'),

  sessions_timebox: field(hours, 0, 'Maximum session lifetime in hours; 0: no limit.', { file: 'auth.sessions.timebox' }),
  sessions_inactivity_timeout: field(hours, 0,
    'Hours without a refresh until a session ends; 0: no limit.', { file: 'auth.sessions.inactivity_timeout' }),
  sessions_single_per_user: field(flag, false, 'One session per user. Older sessions end at their next refresh.'),
  sessions_tags: field<string | null>(string(checkSessionTags), null,
    'Session groups counted separately by sessions_single_per_user, separated by commas.', { list: true }),
  sessions_allow_low_aal: field(hours, 0, "Hours a session may skip the user's second factor; 0: no limit."),

  mfa_max_enrolled_factors: field(integerBetween(0, most), 10,
    'Maximum second factors per user.', { file: 'auth.mfa.max_enrolled_factors' }),
  mfa_totp_enroll_enabled: field(flag, true,
    'Allow adding an authenticator app.', { file: 'auth.mfa.totp.enroll_enabled' }),
  mfa_totp_verify_enabled: field(flag, true,
    'Accept codes from authenticator apps.', { file: 'auth.mfa.totp.verify_enabled' }),
  mfa_phone_enroll_enabled: field(flag, false,
    'Allow adding a phone as a second factor.', { file: 'auth.mfa.phone.enroll_enabled' }),
  mfa_phone_verify_enabled: field(flag, false,
    'Accept codes sent to phones as a second factor.', { file: 'auth.mfa.phone.verify_enabled' }),
  mfa_phone_max_frequency: field(seconds(0, 32_767), 60,
    'Minimum interval between codes to a phone factor, in seconds.', { file: 'auth.mfa.phone.max_frequency' }),
  mfa_phone_otp_length: field(integerBetween(6, 10), 6,
    'Digits in codes sent to phone factors.', { file: 'auth.mfa.phone.otp_length' }),
  mfa_phone_template: field(string(), 'Your code is {{ .Code }}',
    'Template for messages to phone factors.', { file: 'auth.mfa.phone.template' }),

  sms_autoconfirm: field(flag, false,
    'Treat phone numbers as confirmed without a code.', { file: 'auth.sms.enable_confirmations', convert: invert }),
  sms_provider: field<SmsProvider | null>(oneOf(...smsProviders), null,
    'SMS provider. capture: keep messages in the inbox. webhook: post them to sms_webhook_url.'),
  sms_max_frequency: field(seconds(0, 32_767), 60,
    'Minimum interval between text messages to a user, in seconds; 0: no limit.', { file: 'auth.sms.max_frequency' }),
  sms_otp_exp: field(seconds(0, most), 60, 'Lifetime of codes sent by text message, in seconds.'),
  sms_otp_length: field(integerBetween(6, 10), 6, 'Digits in codes sent by text message.', { notNull: true }),
  sms_template: field(string(), 'Your code is {{ .Code }}', 'Template for text messages.', { file: 'auth.sms.template' }),
  sms_test_otp_valid_until: field<string | null>(string(checkDateTime), null, 'Time until which test codes are accepted.'),

  audit_log_disable_postgres: field(flag, false, 'Disable the audit log, but for what operators do.'),
  api_max_request_duration: field(seconds(1, 32_767), 10, 'Maximum duration of an auth request, in seconds.'),
} as const; // biome-ignore format: one field a line
