/** Fields of the auth configuration about messages: email behavior, SMTP, and rate limits of messages and requests. */
import { about, flag, integerBetween, oneOf, type Schema } from '../../shared/schema.ts';
import { type EventsService, eventsServices } from './auth-events.ts';
import { field, seconds, string } from './auth-field.ts';
import {
  checkColor,
  checkEmail,
  checkHeaders,
  checkHostName,
  checkImageAddress,
  checkLine,
  checkMailbox,
  checkPath,
  checkPort,
  checkSigningKey,
  checkTestCodes,
} from './auth-value-checks.ts';
import { parseDurationSeconds } from './go-duration.ts';
import { checkWebhookUrl } from './hook-target.ts';

const most = 2_147_483_647;
const invert = (value: unknown): unknown => (typeof value === 'boolean' ? !value : value);

/** Messages per hour, or `n/duration`; 0, which only a start value can have, refuses every message. */
export type SendLimit = number | `${number}/${string}`;

const sendLimit: Schema<SendLimit> = {
  ...(integerBetween(1, most) as Schema<SendLimit>),
  parseText(text) {
    const [, count, duration] = /^([0-9]+)\/(.+)$/.exec(text.trim()) ?? [];
    if (count === undefined || duration === undefined) return integerBetween(0, most).parseText(text);
    if (parseDurationSeconds(duration) <= 0) throw new Error('must name a duration above zero after the slash');
    return `${Number(count)}/${duration}`;
  },
};

const port: Schema<string> = {
  ...about(string(checkPort), { type: ['string', 'integer'] }),
  parse: (value) => string(checkPort).parse(Number.isInteger(value) ? String(value) : value),
};

const testCodes: Schema<string> = {
  ...string(checkTestCodes),
  // Supabase Auth's environment writes a colon.
  parseText: (text) => string(checkTestCodes).parseText(text.trim().replaceAll(':', '=')),
};

/** A table of numbers and codes, or the text itself. */
const joinCodes = (value: unknown): unknown =>
  typeof value === 'object' && value !== null
    ? Object.entries(value)
        .map((pair) => pair.join('='))
        .join(',')
    : value;

const signingKey: Schema<string> = {
  ...string(checkSigningKey),
  // Many environments cannot hold line breaks.
  parseText: (text) => string(checkSigningKey).parseText(text.replaceAll('\\n', '\n')),
};

const rateLimit = integerBetween(0, most);

/** The fields. */
export const deliveryFields = {
  mailer_autoconfirm: field(flag, false,
    'Treat email addresses as confirmed without a link or code.', { file: 'auth.email.enable_confirmations', convert: invert }),
  mailer_allow_unverified_email_sign_ins: field(flag, false,
    'Allow sign-in through a provider with an unconfirmed email address.'),
  mailer_secure_email_change_enabled: field(flag, true,
    'Require confirmation at both the old and the new email address.', { file: 'auth.email.double_confirm_changes' }),
  mailer_otp_exp: field(seconds(0, most), 3600,
    'Lifetime of emailed links and codes in seconds; 0 means 3600.', { file: 'auth.email.otp_expiry', notNull: true }),
  mailer_otp_length: field(integerBetween(6, 10), 6, 'Digits in emailed codes.', { file: 'auth.email.otp_length' }),
  mailer_otp_attempts: field(integerBetween(1, 100), 10,
    'Wrong attempts until a code is invalid; six times as many a day for an app.', { notNull: true, environment: null }),
  mailer_delivery: field<'direct' | 'queue'>(oneOf('direct', 'queue'), 'queue',
    'direct: send the email during the request. queue: store it and send it after the request.', { environment: null }),
  mailer_compatible: field(flag, false,
    'Send HTML only, plain built-in texts, and no headers of automatic emails.', { environment: null }),
  mailer_brand_name: field<string | null>(string(checkLine, 200), null,
    'Name of the project in emails; default: host of the site URL.', { environment: null }),
  mailer_brand_logo_url: field<string | null>(string(checkImageAddress, 2000), null,
    'Address of a logo in emails, https only; without one, the name.', { environment: null }),
  mailer_brand_color: field(string(checkColor), '#2563eb',
    'Color of buttons in emails, as `#rrggbb`.', { environment: null, notNull: true }),
  mailer_brand_footer: field<string | null>(string(() => null, 2000), null,
    'Text below emails, for example your postal address.', { environment: null }),
  mailer_reply_to: field<string | null>(string(checkMailbox), null,
    'Address that replies to emails go to.', { environment: null }),
  mailer_dkim_domain: field<string | null>(string(checkHostName), null,
    'Domain of the DKIM signature, for mail servers that do not sign.', { environment: null }),
  mailer_dkim_selector: field<string | null>(string(checkHostName), null,
    'Selector of the DKIM key: the name before `._domainkey` in DNS.', { environment: null }),
  mailer_dkim_private_key: field<string | null>(signingKey, null,
    'Private RSA key of the DKIM signature, as PEM.', { environment: null, secret: true, sentTo: [] }),
  mailer_transport: field<'smtp' | 'ses' | 'postmark' | 'resend' | 'sendgrid'>(
    oneOf('smtp', 'ses', 'postmark', 'resend', 'sendgrid'), 'smtp',
    'Send emails through a mail server or a mail service.', { environment: null }),
  mailer_api_key: field<string | null>(string(checkLine, 2000), null,
    'API key of the mail service; for ses ACCESS_KEY_ID:SECRET_ACCESS_KEY.', { environment: null, secret: true, sentTo: ['mailer_api_url'] }),
  mailer_api_url: field<string | null>(string(checkWebhookUrl, 2000), null,
    "Base URL of the mail service's API, for another region or relay.", { environment: null }),
  mailer_deliveries_recipients: field<'full' | 'masked' | 'none'>(oneOf('full', 'masked', 'none'), 'masked',
    'Addresses in the list of deliveries; masked: a***@example.com.', { environment: null }),
  mailer_deliveries_retention_days: field(integerBetween(1, 3650), 30,
    'Days that deliveries are listed.', { environment: null, notNull: true }),
  mailer_events_service: field<EventsService | null>(oneOf(...eventsServices), null,
    'Mail service that reports bounces and complaints; default: that of mailer_transport.', { environment: null }),
  mailer_events_secret: field<string | null>(string(checkLine, 2000), null,
    'Proof that events are from the mail service. See the page about mail servers.', { environment: null, secret: true, sentTo: [] }),
  mailer_suppress_bounced: field(flag, true,
    'Send no emails for 30 days to addresses that bounced or complained.', { environment: null }),
  mailer_notifications_admin_changes_enabled: field(flag, false,
    'Also notify users of changes made through the admin API.', { environment: null }),
  mailer_confirmation_link_type: field<'email' | 'signup'>(oneOf('email', 'signup'), 'email',
    'Value of `type` in sign-up confirmation links.', { environment: null }),
  mailer_link_confirmation: field<'direct' | 'page'>(oneOf('direct', 'page'), 'direct',
    'direct: opening an emailed link verifies it. page: the button of a page does, so scanners cannot use it up.', { environment: null }),
  mailer_keep_locale: field(flag, false,
    'Keep the language of the browser that signs up as user_metadata.locale.', { environment: null }),
  mailer_subject_html_escape: field(flag, false,
    'HTML-escape values in subjects, as Supabase Auth does.', { environment: null }),
  mailer_keep_conditional_comments: field(flag, false,
    'Keep conditional comments for Outlook in email bodies.', { environment: null }),
  mailer_template_lenient_compare: field(flag, true,
    'Treat values of wrong types in templates as unequal or empty. false: the email fails.', { environment: null }),
  mailer_extra_url_schemes: field(string(checkLine), '',
    'Additional URL schemes allowed in template links, separated by commas.', { environment: null, list: true }),
  mailer_external_hosts: field(string(checkLine), '', 'Hosts allowed in emailed links, separated by commas.', { list: true }),
  mailer_urlpaths_invite: field(string(checkPath), '/verify', 'Path of invitation links.'),
  mailer_urlpaths_confirmation: field(string(checkPath), '/verify', 'Path of sign-up confirmation links.'),
  mailer_urlpaths_recovery: field(string(checkPath), '/verify', 'Path of recovery links and magic links.'),
  mailer_urlpaths_email_change: field(string(checkPath), '/verify', 'Path of email change links.'),

  smtp_admin_email: field<string | null>(string(checkEmail), null,
    'From address of emails.', { file: 'auth.email.smtp.admin_email' }),
  smtp_host: field<string | null>(string(checkLine), null,
    'Mail server host. Without one, emails go to the inbox.', { file: 'auth.email.smtp.host' }),
  smtp_port: field(port, '587', 'Mail server port.', { file: 'auth.email.smtp.port' }),
  smtp_user: field<string | null>(string(checkLine), null, 'Mail server user name.', { file: 'auth.email.smtp.user' }),
  smtp_pass: field<string | null>(string(), null, 'Mail server password.', { file: 'auth.email.smtp.pass', secret: true, sentTo: ['smtp_host', 'smtp_port'] }),
  smtp_sender_name: field<string | null>(string(checkLine), null,
    'From name of emails.', { file: 'auth.email.smtp.sender_name' }),
  smtp_headers: field<string | null>(string(checkHeaders), null,
    'Additional email headers, a JSON object. $messageType is replaced by the kind of email.'),
  smtp_max_frequency: field(seconds(0, 32_767), 60,
    'Minimum interval between emails of one kind to a user, in seconds; 0: no limit.', { file: 'auth.email.max_frequency' }),

  rate_limit_email_sent: field<SendLimit>(sendLimit, 30,
    'Emails per hour to all users; also n/duration as a start value.', { file: 'auth.rate_limit.email_sent' }),
  rate_limit_email_recipient: field(rateLimit, 10,
    'Emails per hour to one address, from all requests; 0: no limit.', { environment: null }),
  rate_limit_sms_sent: field<SendLimit>(sendLimit, 30,
    'Text messages per hour to all users; also n/duration as a start value.', { file: 'auth.rate_limit.sms_sent' }),
  rate_limit_anonymous_users: field(rateLimit, 30,
    'Anonymous sign-ins per hour and client address; 0: no limit.', { file: 'auth.rate_limit.anonymous_users' }),
  rate_limit_otp: field(rateLimit, 30,
    'Sign-ups and email requests per 5 minutes and client address; 0: no limit.', { file: 'auth.rate_limit.sign_in_sign_ups' }),
  rate_limit_verify: field(rateLimit, 30,
    'Verifications per 5 minutes and client address, wrong passwords per account; 0: no limit.',
    { file: 'auth.rate_limit.token_verifications' }),
  rate_limit_token_refresh: field(rateLimit, 150,
    'Token requests per 5 minutes and client address; 0: no limit.', { file: 'auth.rate_limit.token_refresh' }),
  mfa_rate_limit_challenge_and_verify: field(rateLimit, 15,
    'Second-factor challenges and verifications per minute and client address; 0: no limit.'),

  sms_test_otp: field<string | null>(testCodes, null,
    'Phone numbers with a fixed code, for tests: number=code, separated by commas.',
    { file: 'auth.sms.test_otp', convert: joinCodes, list: true }),
} as const; // biome-ignore format: one field a line
