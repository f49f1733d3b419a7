/**
 * Fields of the auth configuration about who may sign in and how: sites, methods, passwords, sessions, second factors.
 */
import { boolean, choice, field, hours, integer, seconds, string } from './auth-field.ts';
import { type SmsProvider, smsProviders } from './auth-sms-fields.ts';
import { checkDateTime, checkSessionTags, checkSiteUrl } from './auth-value-checks.ts';
import { checkPattern } from './url-pattern.ts';

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
    doc: 'Address of the application: where links lead that name no other place.',
  }),
  uri_allow_list: field({
    kind: string(checkPattern), default: '',
    file: { table: 'auth', key: 'additional_redirect_urls', convert: joinList },
    doc: 'Further addresses that links may lead to: patterns separated by commas.',
  }),
  disable_signup: field({
    kind: boolean, default: false, file: { table: 'auth', key: 'enable_signup', convert: invert },
    doc: 'Nobody can sign up; invitations and the admin API still make users.',
  }),
  jwt_exp: field({
    kind: seconds(0, 604_800), default: 3600, file: { table: 'auth', key: 'jwt_expiry' },
    doc: 'Life of an access token in seconds; 0 means 3600.',
  }),
  external_email_enabled: field({
    kind: boolean, default: true, file: { table: 'auth.email', key: 'enable_signup' },
    doc: 'Users may sign up and in with an email address.',
  }),
  external_email_magic_link_enabled: field({
    kind: boolean, default: true, doc: 'Users may sign in with a link or code sent by email.',
  }),
  external_email_authorized_addresses: field({
    kind: string(), default: '', doc: 'The only addresses that get email, separated by commas; empty: all.',
  }),
  external_phone_enabled: field({
    kind: boolean, default: false, file: { table: 'auth.sms', key: 'enable_signup' },
    doc: 'Users may sign up and in with a phone number.',
  }),
  external_anonymous_users_enabled: field({
    kind: boolean, default: false, file: { table: 'auth', key: 'enable_anonymous_sign_ins' },
    doc: 'Users may sign in without saying who they are.',
  }),
  external_allowed_id_token_issuers: field({
    kind: string(), default: '',
    doc: 'Further ID token issuers, separated by commas; behind each, after spaces, our client IDs there.',
  }),

  refresh_token_rotation_enabled: field({
    kind: boolean, default: true, environment: 'GOTRUE_SECURITY_REFRESH_TOKEN_ROTATION_ENABLED',
    file: { table: 'auth', key: 'enable_refresh_token_rotation' },
    doc: 'A refresh token that is used a second time ends its session.',
  }),
  security_refresh_token_reuse_interval: field({
    kind: seconds(0, most), default: 10, file: { table: 'auth', key: 'refresh_token_reuse_interval' },
    doc: 'Seconds during which a used refresh token is accepted again.',
  }),
  security_manual_linking_enabled: field({
    kind: boolean, default: false, file: { table: 'auth', key: 'enable_manual_linking' },
    doc: 'Users may link further identities to their account, and give up those that they have.',
  }),
  security_update_password_require_reauthentication: field({
    kind: boolean, default: false, file: { table: 'auth.email', key: 'secure_password_change' },
    doc: 'A new password needs a session of the last 24 hours, or a code sent by email.',
  }),
  security_update_password_require_current_password: field({
    kind: boolean, default: false, doc: 'A new password needs the old one.',
  }),
  security_jwt_aud_header_enabled: field({
    kind: boolean, default: false, environment: null, doc: 'The header X-JWT-AUD names the audience in which users are looked up.',
  }),
  security_sb_forwarded_for_enabled: field({
    kind: boolean, default: false, doc: "The header Sb-Forwarded-For of a proxy that --trusted-proxies names holds the client's address.",
  }),

  password_min_length: field({
    kind: integer(6, 32_767), default: 6, file: { table: 'auth', key: 'minimum_password_length' },
    doc: 'Least length of a new password in bytes.',
  }),
  password_required_characters: field({
    kind: string(), default: '', file: { table: 'auth', key: 'password_requirements', convert: toCharacterSets },
    doc: 'Sets of characters, separated by colons, of which a new password needs one each.',
  }),
  password_hibp_enabled: field({
    kind: boolean, default: false, doc: 'Passwords found in public leaks are refused; see --leaked-passwords-url.',
  }),

  sessions_timebox: field({
    kind: hours, default: 0, file: { table: 'auth.sessions', key: 'timebox' },
    doc: 'Hours after which a session ends; 0: never.',
  }),
  sessions_inactivity_timeout: field({
    kind: hours, default: 0, file: { table: 'auth.sessions', key: 'inactivity_timeout' },
    doc: 'Hours without a refresh after which a session ends; 0: never.',
  }),
  sessions_single_per_user: field({
    kind: boolean, default: false, doc: 'A new sign-in ends the older sessions of the user at their next refresh.',
  }),
  sessions_tags: field<string | null>({
    kind: string(checkSessionTags), default: null, doc: 'Groups of sessions that count apart, separated by commas.',
  }),
  sessions_allow_low_aal: field({
    kind: hours, default: 0,
    doc: 'Hours that a session may last without the second factor that its user has; 0: no limit.',
  }),

  mfa_max_enrolled_factors: field({
    kind: integer(0, most), default: 10, file: { table: 'auth.mfa', key: 'max_enrolled_factors' },
    doc: 'Second factors that one user may have.',
  }),
  mfa_totp_enroll_enabled: field({
    kind: boolean, default: true, file: { table: 'auth.mfa.totp', key: 'enroll_enabled' },
    doc: 'Users may add an authenticator app.',
  }),
  mfa_totp_verify_enabled: field({
    kind: boolean, default: true, file: { table: 'auth.mfa.totp', key: 'verify_enabled' },
    doc: 'Codes of authenticator apps are accepted.',
  }),
  mfa_phone_enroll_enabled: field({
    kind: boolean, default: false, file: { table: 'auth.mfa.phone', key: 'enroll_enabled' },
    doc: 'Users may add a phone as a second factor.',
  }),
  mfa_phone_verify_enabled: field({
    kind: boolean, default: false, file: { table: 'auth.mfa.phone', key: 'verify_enabled' },
    doc: 'Codes sent to phones are accepted as a second factor.',
  }),
  mfa_phone_max_frequency: field({
    kind: seconds(0, 32_767), default: 60, file: { table: 'auth.mfa.phone', key: 'max_frequency' },
    doc: 'Seconds between two codes to the same phone factor.',
  }),
  mfa_phone_otp_length: field({
    kind: integer(6, 10), default: 6, file: { table: 'auth.mfa.phone', key: 'otp_length' },
    doc: 'Digits of a code sent to a phone factor.',
  }),
  mfa_phone_template: field({
    kind: string(), default: 'Your code is {{ .Code }}', file: { table: 'auth.mfa.phone', key: 'template' },
    doc: 'Text of the message to a phone factor.',
  }),

  sms_autoconfirm: field({
    kind: boolean, default: false, file: { table: 'auth.sms', key: 'enable_confirmations', convert: invert },
    doc: 'Phone numbers count as confirmed at once.',
  }),
  sms_provider: field<SmsProvider | null>({
    kind: choice(...smsProviders), default: null,
    doc: 'Who sends text messages; capture keeps them for tests, webhook posts them to sms_webhook_url.',
  }),
  sms_max_frequency: field({
    kind: seconds(0, 32_767), default: 60, file: { table: 'auth.sms', key: 'max_frequency' },
    doc: 'Seconds between two messages to the same user; 0: no limit.',
  }),
  sms_otp_exp: field({ kind: seconds(0, most), default: 60, doc: 'Life of a code sent by text message, in seconds.' }),
  sms_otp_length: field({ kind: integer(6, 10), default: 6, notNull: true, doc: 'Digits of a code sent by text message.' }),
  sms_template: field({
    kind: string(), default: 'Your code is {{ .Code }}', file: { table: 'auth.sms', key: 'template' },
    doc: 'Text of the message.',
  }),
  sms_test_otp_valid_until: field<string | null>({
    kind: string(checkDateTime), default: null, doc: 'Until when the test codes are accepted.',
  }),

  audit_log_disable_postgres: field({
    kind: boolean, default: false, doc: 'No audit log is written.',
  }),
  api_max_request_duration: field({
    kind: seconds(1, 32_767), default: 10, doc: 'Longest time that a request may take, in seconds.',
  }),
} as const; // biome-ignore format: one row per field
