/**
 * Fields of the auth configuration about messages: email behaviour, SMTP, and how many messages and requests there may be.
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
  // The environment of the original writes a colon.
  fromText: (text) => string(checkTestCodes).fromText(text.trim().replaceAll(':', '=')),
};

const rateLimit = integer(0, most);

/** The rows. */
export const deliveryFields = {
  mailer_autoconfirm: field({
    kind: boolean, default: false, file: { table: 'auth.email', key: 'enable_confirmations', convert: invert },
    doc: 'Email addresses count as confirmed at once.',
  }),
  mailer_allow_unverified_email_sign_ins: field({
    kind: boolean, default: false, doc: 'Identities of providers with an unconfirmed address may sign in.',
  }),
  mailer_secure_email_change_enabled: field({
    kind: boolean, default: true, file: { table: 'auth.email', key: 'double_confirm_changes' },
    doc: 'A change of the address is confirmed at the old and at the new one.',
  }),
  mailer_otp_exp: field({
    kind: seconds(0, most), default: 3600, notNull: true, file: { table: 'auth.email', key: 'otp_expiry' },
    doc: 'Life of the links and codes of emails in seconds; 0 means 3600.',
  }),
  mailer_otp_length: field({
    kind: integer(6, 10), default: 6, file: { table: 'auth.email', key: 'otp_length' }, doc: 'Digits of the codes of emails.',
  }),
  mailer_otp_attempts: field({
    kind: integer(1, 100), default: 10, notNull: true, environment: null,
    doc: 'Wrong guesses after which a code or link dies, of emails, text messages and second factors.',
  }),
  mailer_delivery: field<'direct' | 'queue'>({
    kind: choice('direct', 'queue'), default: 'direct', environment: null,
    doc: 'direct: a request waits until the mail was handed over; queue: until it is stored.',
  }),
  mailer_notifications_admin_changes_enabled: field({
    kind: boolean, default: false, environment: null, doc: 'Changes by the admin API are notified as those of the user are.',
  }),
  mailer_confirmation_link_type: field<'email' | 'signup'>({
    kind: choice('email', 'signup'), default: 'email', environment: null, doc: 'The type in the link of the sign-up mail.',
  }),
  mailer_subject_html_escape: field({
    kind: boolean, default: false, environment: null, doc: 'Subjects are escaped as HTML, as the original does.',
  }),
  mailer_keep_conditional_comments: field({
    kind: boolean, default: false, environment: null, doc: 'Conditional comments for Outlook stay in the bodies.',
  }),
  mailer_template_lenient_compare: field({
    kind: boolean, default: false, environment: null, doc: 'Comparing values of different types in a template is false, not an error.',
  }),
  mailer_extra_url_schemes: field({
    kind: string(checkLine), default: '', environment: null, doc: 'Further URL schemes that templates may link to, separated by commas.',
  }),
  mailer_external_hosts: field({
    kind: string(checkLine), default: '', doc: 'Hosts under which links may be made, separated by commas.',
  }),
  mailer_urlpaths_invite: field({ kind: string(checkPath), default: '/verify', doc: 'Path of the link of invitations.' }),
  mailer_urlpaths_confirmation: field({ kind: string(checkPath), default: '/verify', doc: 'Path of the link of the sign-up mail.' }),
  mailer_urlpaths_recovery: field({ kind: string(checkPath), default: '/verify', doc: 'Path of the link of recovery and magic link.' }),
  mailer_urlpaths_email_change: field({ kind: string(checkPath), default: '/verify', doc: 'Path of the links of an email change.' }),

  smtp_admin_email: field<string | null>({
    kind: string(checkEmail), default: null, file: { table: 'auth.email.smtp', key: 'admin_email' }, doc: 'Address that mails come from.',
  }),
  smtp_host: field<string | null>({
    kind: string(checkLine), default: null, file: { table: 'auth.email.smtp', key: 'host' },
    doc: 'Mail server; without one mails are captured.',
  }),
  smtp_port: field({ kind: port, default: '587', file: { table: 'auth.email.smtp', key: 'port' }, doc: 'Port of the mail server.' }),
  smtp_user: field<string | null>({
    kind: string(checkLine), default: null, file: { table: 'auth.email.smtp', key: 'user' }, doc: 'Login at the mail server.',
  }),
  smtp_pass: field<string | null>({
    kind: string(), default: null, secret: true, file: { table: 'auth.email.smtp', key: 'pass' }, doc: 'Password at the mail server.',
  }),
  smtp_sender_name: field<string | null>({
    kind: string(checkLine), default: null, file: { table: 'auth.email.smtp', key: 'sender_name' }, doc: 'Name that mails come from.',
  }),
  smtp_headers: field<string | null>({
    kind: string(checkHeaders), default: null, doc: 'Further headers of every mail: a JSON object; the text $messageType stands for the kind of mail.',
  }),
  smtp_max_frequency: field({
    kind: seconds(0, 32_767), default: 60, file: { table: 'auth.email', key: 'max_frequency' },
    doc: 'Seconds between two mails of a kind to the same user; 0: no limit.',
  }),

  rate_limit_email_sent: field<SendLimit>({
    kind: sendLimit, default: 30, file: { table: 'auth.rate_limit', key: 'email_sent' },
    doc: 'Emails an hour to all users together; a start value may also be n/duration.',
  }),
  rate_limit_sms_sent: field<SendLimit>({
    kind: sendLimit, default: 30, file: { table: 'auth.rate_limit', key: 'sms_sent' },
    doc: 'Text messages an hour to all users together; a start value may also be n/duration.',
  }),
  rate_limit_anonymous_users: field({
    kind: rateLimit, default: 30, file: { table: 'auth.rate_limit', key: 'anonymous_users' },
    doc: 'Anonymous sign-ins an hour from one address; 0: no limit.',
  }),
  rate_limit_otp: field({
    kind: rateLimit, default: 30, file: { table: 'auth.rate_limit', key: 'sign_in_sign_ups' },
    doc: 'Sign-ups and requests for a mail in five minutes from one address; 0: no limit.',
  }),
  rate_limit_verify: field({
    kind: rateLimit, default: 30, file: { table: 'auth.rate_limit', key: 'token_verifications' },
    doc: 'Verifications in five minutes from one address; 0: no limit.',
  }),
  rate_limit_token_refresh: field({
    kind: rateLimit, default: 150, file: { table: 'auth.rate_limit', key: 'token_refresh' },
    doc: 'Token requests in five minutes from one address; 0: no limit.',
  }),
  mfa_rate_limit_challenge_and_verify: field({
    kind: rateLimit, default: 15, doc: 'Challenges and verifications of second factors a minute from one address; 0: no limit.',
  }),

  sms_test_otp: field<string | null>({
    kind: testCodes, default: null, doc: 'Phone numbers with a fixed code, for tests: number=code, separated by commas.',
  }),
} as const; // biome-ignore format: one row per field
