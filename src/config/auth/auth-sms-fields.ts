/**
 * Fields of the auth configuration for providers of text messages: the login at each, and who is shown as the sender.
 *
 * The providers of Supabase Auth are under its names. `webhook` is ours: messages go, signed, to a service of the operator.
 */
import { field, string } from './auth-field.ts';
import { checkLine } from './auth-value-checks.ts';
import { checkWebhookUrl, parseWebhookSecrets, problemOf } from './hook-target.ts';

/** Who can send text messages; `twilio_verify` is known and refused, because it makes codes of its own. */
export const smsProviders = [
  'capture', 'messagebird', 'textlocal', 'twilio', 'twilio_verify', 'vonage', 'webhook',
] as const; // biome-ignore format: a list of names

/** Name of a provider of text messages. */
export type SmsProvider = (typeof smsProviders)[number];

const line = string(checkLine, 2000);
const none = { kind: line, default: null };
const secret = { ...none, secret: true as const };

function place(provider: SmsProvider, key: string) {
  return { file: { table: `auth.sms.${provider}`, key } };
}

/** The rows. */
export const smsFields = {
  sms_provider_url: field<string | null>({
    kind: string(checkWebhookUrl, 2000), default: null, environment: null,
    doc: "Base URL of the SMS provider's API, for another region or a relay.",
  }),
  sms_webhook_url: field<string | null>({
    kind: string(checkWebhookUrl, 2000), default: null, environment: null, ...place('webhook', 'url'),
    doc: 'Webhook that receives text messages as signed JSON.',
  }),
  sms_webhook_secrets: field<string | null>({
    ...secret, environment: null, ...place('webhook', 'secrets'),
    doc: 'Webhook signing secrets, v1,whsec_BASE64, separated by |.',
  }),
  sms_twilio_account_sid: field<string | null>({
    ...none, ...place('twilio', 'account_sid'), doc: 'Twilio account SID (AC and 32 digits).',
  }),
  sms_twilio_auth_token: field<string | null>({
    ...secret, ...place('twilio', 'auth_token'), doc: 'Twilio auth token.',
  }),
  sms_twilio_message_service_sid: field<string | null>({
    ...none, ...place('twilio', 'message_service_sid'), doc: 'Twilio messaging service SID (MG and 32 digits), or sender number or name.',
  }),
  sms_twilio_content_sid: field<string | null>({
    ...none, ...place('twilio', 'content_sid'), doc: 'Twilio content SID for WhatsApp; the first variable is the code.',
  }),
  sms_messagebird_access_key: field<string | null>({
    ...secret, ...place('messagebird', 'access_key'), doc: 'MessageBird access key.',
  }),
  sms_messagebird_originator: field<string | null>({
    ...none, ...place('messagebird', 'originator'), doc: 'MessageBird sender number or name.',
  }),
  sms_textlocal_api_key: field<string | null>({
    ...secret, ...place('textlocal', 'api_key'), doc: 'Textlocal API key.',
  }),
  sms_textlocal_sender: field<string | null>({
    ...none, ...place('textlocal', 'sender'), doc: 'Textlocal sender name.',
  }),
  sms_vonage_api_key: field<string | null>({
    ...secret, ...place('vonage', 'api_key'), doc: 'Vonage API key.',
  }),
  sms_vonage_api_secret: field<string | null>({
    ...secret, ...place('vonage', 'api_secret'), doc: 'Vonage API secret.',
  }),
  sms_vonage_from: field<string | null>({
    ...none, ...place('vonage', 'from'), doc: 'Vonage sender number or name.',
  }),
} as const; // biome-ignore format: one row per field

/** The values of these fields. */
export type SmsValues = {
  readonly [K in Exclude<keyof typeof smsFields, 'sms_provider_url'>]: string | null;
};

/** Fields without which a provider cannot send. */
const needed: Readonly<Record<SmsProvider, readonly (keyof SmsValues)[]>> = {
  capture: [],
  webhook: ['sms_webhook_url', 'sms_webhook_secrets'],
  twilio: ['sms_twilio_account_sid', 'sms_twilio_auth_token', 'sms_twilio_message_service_sid'],
  twilio_verify: [],
  messagebird: ['sms_messagebird_access_key', 'sms_messagebird_originator'],
  textlocal: ['sms_textlocal_api_key', 'sms_textlocal_sender'],
  vonage: ['sms_vonage_api_key', 'sms_vonage_api_secret', 'sms_vonage_from'],
};

/** What keeps a provider from sending, as a sentence without values; null for nothing. */
export function checkSmsProvider(provider: SmsProvider, values: SmsValues): string | null {
  if (provider === 'twilio_verify') {
    return 'sms_provider twilio_verify is not supported, because it creates its own codes; use twilio';
  }
  const missing = needed[provider].filter((name) => !values[name]);
  if (missing.length > 0) return `sms_provider ${provider} needs ${missing.join(', ')}`;
  if (provider !== 'webhook') return null;
  const problem = problemOf(() => parseWebhookSecrets(values.sms_webhook_secrets ?? ''));
  return problem && `sms_webhook_secrets ${problem}`;
}
