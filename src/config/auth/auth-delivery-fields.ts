/**
 * Fields of the auth configuration about messages: email behavior, SMTP, and how many messages and requests there may be.
 */
import {
  boolean,
  choice,
  type FieldKind,
  field,
  integer,
  parseDurationSeconds,
  seconds,
  string,
} from './auth-field.ts';
import { checkEmail, checkHeaders, checkLine, checkPath, checkPort, checkTestCodes } from './auth-value-checks.ts';

const most = 2_147_483_647;
const invert = (value: unknown): unknown => (typeof value === 'boolean' ? !value : value);

/** Number of messages an hour, or `n/duration`; 0, which only a start value can be, refuses every message. */
export type SendLimit = number | `${number}/${string}`;

const sendLimit: FieldKind<SendLimit> = {
  type: 'integer',
  minimum: 1,
  maximum: most,
  fromJson: (value) => integer(1, most).fromJson(value),
  fromText(text) {
    const [, count, duration] = /^([0-9]+)\/(.+)$/.exec(text.trim()) ?? [];
    if (count === undefined || duration === undefined) return integer(0, most).fromText(text);
    if (parseDurationSeconds(duration) <= 0) throw new Error('must name a duration above zero after the slash');
    return `${Number(count)}/${duration}`;
  },
};

const port: FieldKind<string> = {
  ...string(checkPort),
  fromJson: (value) => string(checkPort).fromJson(Number.isInteger(value) ? String(value) : value),
};

const testCodes: FieldKind<string> = {
  ...string(checkTestCodes),
  // The environment of Supabase Auth writes a colon.
  fromText: (text) => string(checkTestCodes).fromText(text.trim().replaceAll(':', '=')),
};

/** A table of numbers and codes, or the text itself. */
const joinCodes = (value: unknown): unknown =>
  typeof value === 'object' && value !== null
    ? Object.entries(value)
        .map((pair) => pair.join('='))
        .join(',')
    : value;

const rateLimit = integer(0, most);

/** The rows. */
export const deliveryFields = {
  mailer_autoconfirm: field({
    kind: boolean, default: false, file: { table: 'auth.email', key: 'enable_confirmations', convert: invert },
    doc: 'Treat email addresses as confirmed without a link or code.',
  }),
  mailer_allow_unverified_email_sign_ins: field({
    kind: boolean, default: false, doc: 'Allow sign-in through a provider with an unconfirmed email address.',
  }),
  mailer_secure_email_change_enabled: field({
    kind: boolean, default: true, file: { table: 'auth.email', key: 'double_confirm_changes' },
    doc: 'Require confirmation at both the old and the new email address.',
  }),
  mailer_otp_exp: field({
    kind: seconds(0, most), default: 3600, notNull: true, file: { table: 'auth.email', key: 'otp_expiry' },
    doc: 'Lifetime of emailed links and codes in seconds; 0 means 3600.',
  }),
  mailer_otp_length: field({
    kind: integer(6, 10), default: 6, file: { table: 'auth.email', key: 'otp_length' }, doc: 'Digits in emailed codes.',
  }),
  mailer_otp_attempts: field({
    kind: integer(1, 100), default: 10, notNull: true, environment: null,
    doc: 'Wrong attempts until a code or link is invalid: email, SMS and second factors.',
  }),
  mailer_delivery: field<'direct' | 'queue'>({
    kind: choice('direct', 'queue'), default: 'queue', environment: null,
    doc: 'direct: send the email during the request. queue: store it and send it after the request.',
  }),
  mailer_notifications_admin_changes_enabled: field({
    kind: boolean, default: false, environment: null, doc: 'Also notify users of changes made through the admin API.',
  }),
  mailer_confirmation_link_type: field<'email' | 'signup'>({
    kind: choice('email', 'signup'), default: 'email', environment: null, doc: 'Value of `type` in sign-up confirmation links.',
  }),
  mailer_subject_html_escape: field({
    kind: boolean, default: false, environment: null, doc: 'HTML-escape values in subjects, as Supabase Auth does.',
  }),
  mailer_keep_conditional_comments: field({
    kind: boolean, default: false, environment: null, doc: 'Keep conditional comments for Outlook in email bodies.',
  }),
  mailer_template_lenient_compare: field({
    kind: boolean, default: true, environment: null, doc: 'Treat values of wrong types in templates as unequal or empty. false: the email fails.',
  }),
  mailer_extra_url_schemes: field({
    kind: string(checkLine), default: '', environment: null, doc: 'Additional URL schemes allowed in template links, separated by commas.',
  }),
  mailer_external_hosts: field({
    kind: string(checkLine), default: '', doc: 'Hosts allowed in emailed links, separated by commas.',
  }),
  mailer_urlpaths_invite: field({ kind: string(checkPath), default: '/verify', doc: 'Path of invitation links.' }),
  mailer_urlpaths_confirmation: field({ kind: string(checkPath), default: '/verify', doc: 'Path of sign-up confirmation links.' }),
  mailer_urlpaths_recovery: field({ kind: string(checkPath), default: '/verify', doc: 'Path of recovery links and magic links.' }),
  mailer_urlpaths_email_change: field({ kind: string(checkPath), default: '/verify', doc: 'Path of email change links.' }),

  smtp_admin_email: field<string | null>({
    kind: string(checkEmail), default: null, file: { table: 'auth.email.smtp', key: 'admin_email' }, doc: 'From address of emails.',
  }),
  smtp_host: field<string | null>({
    kind: string(checkLine), default: null, file: { table: 'auth.email.smtp', key: 'host' },
    doc: 'Mail server host. Without one, emails go to the inbox.',
  }),
  smtp_port: field({ kind: port, default: '587', file: { table: 'auth.email.smtp', key: 'port' }, doc: 'Mail server port.' }),
  smtp_user: field<string | null>({
    kind: string(checkLine), default: null, file: { table: 'auth.email.smtp', key: 'user' }, doc: 'Mail server user name.',
  }),
  smtp_pass: field<string | null>({
    kind: string(), default: null, secret: true, file: { table: 'auth.email.smtp', key: 'pass' }, doc: 'Mail server password.',
  }),
  smtp_sender_name: field<string | null>({
    kind: string(checkLine), default: null, file: { table: 'auth.email.smtp', key: 'sender_name' }, doc: 'From name of emails.',
  }),
  smtp_headers: field<string | null>({
    kind: string(checkHeaders), default: null, doc: 'Additional email headers, a JSON object. $messageType is replaced by the kind of email.',
  }),
  smtp_max_frequency: field({
    kind: seconds(0, 32_767), default: 60, file: { table: 'auth.email', key: 'max_frequency' },
    doc: 'Minimum interval between emails of one kind to a user, in seconds; 0: no limit.',
  }),

  rate_limit_email_sent: field<SendLimit>({
    kind: sendLimit, default: 30, file: { table: 'auth.rate_limit', key: 'email_sent' },
    doc: 'Emails per hour to all users; also n/duration as a start value.',
  }),
  rate_limit_sms_sent: field<SendLimit>({
    kind: sendLimit, default: 30, file: { table: 'auth.rate_limit', key: 'sms_sent' },
    doc: 'Text messages per hour to all users; also n/duration as a start value.',
  }),
  rate_limit_anonymous_users: field({
    kind: rateLimit, default: 30, file: { table: 'auth.rate_limit', key: 'anonymous_users' },
    doc: 'Anonymous sign-ins per hour and client address; 0: no limit.',
  }),
  rate_limit_otp: field({
    kind: rateLimit, default: 30, file: { table: 'auth.rate_limit', key: 'sign_in_sign_ups' },
    doc: 'Sign-ups and email requests per 5 minutes and client address; 0: no limit.',
  }),
  rate_limit_verify: field({
    kind: rateLimit, default: 30, file: { table: 'auth.rate_limit', key: 'token_verifications' },
    doc: 'Verifications per 5 minutes and client address, password attempts per account; 0: no limit.',
  }),
  rate_limit_token_refresh: field({
    kind: rateLimit, default: 150, file: { table: 'auth.rate_limit', key: 'token_refresh' },
    doc: 'Token requests per 5 minutes and client address; 0: no limit.',
  }),
  mfa_rate_limit_challenge_and_verify: field({
    kind: rateLimit, default: 15, doc: 'Second-factor challenges and verifications per minute and client address; 0: no limit.',
  }),

  sms_test_otp: field<string | null>({
    kind: testCodes, default: null, file: { table: 'auth.sms', key: 'test_otp', convert: joinCodes },
    doc: 'Phone numbers with a fixed code, for tests: number=code, separated by commas.',
  }),
} as const; // biome-ignore format: one row per field
