/**
 * Fields of the auth configuration about who may sign in and how: sites, methods, passwords, sessions, second factors.
 */

import { checkPattern } from '../url-pattern.ts';
import { boolean, choice, field, hours, integer, seconds, string } from './auth-field.ts';
import { type SmsProvider, smsProviders } from './auth-sms-fields.ts';
import { checkDateTime, checkSessionTags, checkSiteUrl } from './auth-value-checks.ts';

const most = 2_147_483_647;
const invert = (value: unknown): unknown => (typeof value === 'boolean' ? !value : value);
const joinList = (value: unknown): unknown => (Array.isArray(value) ? value.join(',') : value);

const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';
const lower = 'abcdefghijklmnopqrstuvwxyz';
const upper = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
// As hosted projects write it: the backslash before the colon keeps it from being a separator.
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

/** The rows. */
export const signInFields = {
  site_url: field({
    kind: string(checkSiteUrl), default: 'http://localhost:3000', file: { table: 'auth', key: 'site_url' },
    doc: 'URL of your application; the default redirect target of links.',
  }),
  uri_allow_list: field({
    kind: string(checkPattern), default: '',
    file: { table: 'auth', key: 'additional_redirect_urls', convert: joinList },
    doc: 'Additional redirect URLs allowed in links: patterns separated by commas.',
  }),
  disable_signup: field({
    kind: boolean, default: false, file: { table: 'auth', key: 'enable_signup', convert: invert },
    doc: 'Disable sign-up. Invitations and the admin API still create users.',
  }),
  jwt_exp: field({
    kind: seconds(0, 604_800), default: 3600, file: { table: 'auth', key: 'jwt_expiry' },
    doc: 'Access token lifetime in seconds; 0 means 3600.',
  }),
  external_email_enabled: field({
    kind: boolean, default: true, file: { table: 'auth.email', key: 'enable_signup' },
    doc: 'Allow sign-up and sign-in with an email address.',
  }),
  external_email_magic_link_enabled: field({
    kind: boolean, default: true, doc: 'Allow sign-in with a link or code sent by email.',
  }),
  external_email_authorized_addresses: field({
    kind: string(), default: '', doc: 'Only addresses that may receive email, separated by commas; empty: all.',
  }),
  external_phone_enabled: field({
    kind: boolean, default: false, file: { table: 'auth.sms', key: 'enable_signup' },
    doc: 'Allow sign-up and sign-in with a phone number.',
  }),
  external_anonymous_users_enabled: field({
    kind: boolean, default: false, file: { table: 'auth', key: 'enable_anonymous_sign_ins' },
    doc: 'Allow anonymous sign-in.',
  }),
  external_allowed_id_token_issuers: field({
    kind: string(), default: '',
    doc: 'Additional ID token issuers, separated by commas. After each issuer, its accepted client IDs, separated by spaces.',
  }),

  refresh_token_rotation_enabled: field({
    kind: boolean, default: true, environment: 'GOTRUE_SECURITY_REFRESH_TOKEN_ROTATION_ENABLED',
    file: { table: 'auth', key: 'enable_refresh_token_rotation' },
    doc: 'End the session when a refresh token is used twice.',
  }),
  security_refresh_token_reuse_interval: field({
    kind: seconds(0, most), default: 10, file: { table: 'auth', key: 'refresh_token_reuse_interval' },
    doc: 'Grace period for reusing a refresh token, in seconds.',
  }),
  security_manual_linking_enabled: field({
    kind: boolean, default: false, file: { table: 'auth', key: 'enable_manual_linking' },
    doc: 'Allow users to link and unlink identities.',
  }),
  security_update_password_require_reauthentication: field({
    kind: boolean, default: false, file: { table: 'auth.email', key: 'secure_password_change' },
    doc: 'Require a session from the last 24 hours, or an emailed code, to change the password.',
  }),
  security_update_password_require_current_password: field({
    kind: boolean, default: false, doc: 'Require the current password to change the password.',
  }),
  security_jwt_aud_header_enabled: field({
    kind: boolean, default: false, environment: null, doc: 'Look up users in the audience of the X-JWT-AUD header.',
  }),
  security_sb_forwarded_for_enabled: field({
    kind: boolean, default: false, doc: 'Read the client address from Sb-Forwarded-For, sent by a trusted proxy.',
  }),

  password_min_length: field({
    kind: integer(6, 32_767), default: 6, file: { table: 'auth', key: 'minimum_password_length' },
    doc: 'Minimum length of a new password in bytes.',
  }),
  password_required_characters: field({
    kind: string(), default: '', file: { table: 'auth', key: 'password_requirements', convert: toCharacterSets },
    doc: 'Character sets, separated by colons. A new password needs one of each.',
  }),
  password_hibp_enabled: field({
    kind: boolean, default: false, doc: 'Refuse passwords found in public leaks; see --leaked-passwords-url.',
  }),

  sessions_timebox: field({
    kind: hours, default: 0, file: { table: 'auth.sessions', key: 'timebox' },
    doc: 'Maximum session lifetime in hours; 0: no limit.',
  }),
  sessions_inactivity_timeout: field({
    kind: hours, default: 0, file: { table: 'auth.sessions', key: 'inactivity_timeout' },
    doc: 'Hours without a refresh until a session ends; 0: no limit.',
  }),
  sessions_single_per_user: field({
    kind: boolean, default: false, doc: 'One session per user. Older sessions end at their next refresh.',
  }),
  sessions_tags: field<string | null>({
    kind: string(checkSessionTags), default: null, doc: 'Session groups counted separately by sessions_single_per_user, separated by commas.',
  }),
  sessions_allow_low_aal: field({
    kind: hours, default: 0,
    doc: "Hours a session may skip the user's second factor; 0: no limit.",
  }),

  mfa_max_enrolled_factors: field({
    kind: integer(0, most), default: 10, file: { table: 'auth.mfa', key: 'max_enrolled_factors' },
    doc: 'Maximum second factors per user.',
  }),
  mfa_totp_enroll_enabled: field({
    kind: boolean, default: true, file: { table: 'auth.mfa.totp', key: 'enroll_enabled' },
    doc: 'Allow adding an authenticator app.',
  }),
  mfa_totp_verify_enabled: field({
    kind: boolean, default: true, file: { table: 'auth.mfa.totp', key: 'verify_enabled' },
    doc: 'Accept codes from authenticator apps.',
  }),
  mfa_phone_enroll_enabled: field({
    kind: boolean, default: false, file: { table: 'auth.mfa.phone', key: 'enroll_enabled' },
    doc: 'Allow adding a phone as a second factor.',
  }),
  mfa_phone_verify_enabled: field({
    kind: boolean, default: false, file: { table: 'auth.mfa.phone', key: 'verify_enabled' },
    doc: 'Accept codes sent to phones as a second factor.',
  }),
  mfa_phone_max_frequency: field({
    kind: seconds(0, 32_767), default: 60, file: { table: 'auth.mfa.phone', key: 'max_frequency' },
    doc: 'Minimum interval between codes to a phone factor, in seconds.',
  }),
  mfa_phone_otp_length: field({
    kind: integer(6, 10), default: 6, file: { table: 'auth.mfa.phone', key: 'otp_length' },
    doc: 'Digits in codes sent to phone factors.',
  }),
  mfa_phone_template: field({
    kind: string(), default: 'Your code is {{ .Code }}', file: { table: 'auth.mfa.phone', key: 'template' },
    doc: 'Template for messages to phone factors.',
  }),

  sms_autoconfirm: field({
    kind: boolean, default: false, file: { table: 'auth.sms', key: 'enable_confirmations', convert: invert },
    doc: 'Treat phone numbers as confirmed without a code.',
  }),
  sms_provider: field<SmsProvider | null>({
    kind: choice(...smsProviders), default: null,
    doc: 'SMS provider. capture: keep messages in the inbox. webhook: post them to sms_webhook_url.',
  }),
  sms_max_frequency: field({
    kind: seconds(0, 32_767), default: 60, file: { table: 'auth.sms', key: 'max_frequency' },
    doc: 'Minimum interval between text messages to a user, in seconds; 0: no limit.',
  }),
  sms_otp_exp: field({ kind: seconds(0, most), default: 60, doc: 'Lifetime of codes sent by text message, in seconds.' }),
  sms_otp_length: field({ kind: integer(6, 10), default: 6, notNull: true, doc: 'Digits in codes sent by text message.' }),
  sms_template: field({
    kind: string(), default: 'Your code is {{ .Code }}', file: { table: 'auth.sms', key: 'template' },
    doc: 'Template for text messages.',
  }),
  sms_test_otp_valid_until: field<string | null>({
    kind: string(checkDateTime), default: null, doc: 'Time until which test codes are accepted.',
  }),

  audit_log_disable_postgres: field({
    kind: boolean, default: false, doc: 'Disable the audit log.',
  }),
  api_max_request_duration: field({
    kind: seconds(1, 32_767), default: 10, doc: 'Maximum duration of an auth request, in seconds.',
  }),
} as const; // biome-ignore format: one row per field
