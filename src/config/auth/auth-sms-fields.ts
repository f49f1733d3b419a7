/**
 * Fields of the auth configuration for providers of text messages: login and sender of each.
 *
 * Supabase Auth's providers have its names. `webhook` is ours: messages are sent, signed, to a service of the operator.
 */
import { type FieldExtras, field, string } from './auth-field.ts';
import { checkLine } from './auth-value-checks.ts';
import { checkWebhookUrl, parseWebhookSecrets, problemOf } from './hook-target.ts';

/** Senders of text messages; `twilio_verify` is recognized but refused, because it generates its own codes. */
export const smsProviders = [
  'capture', 'messagebird', 'textlocal', 'twilio', 'twilio_verify', 'vonage', 'webhook',
] as const; // biome-ignore format: a list of names

/** Name of a provider of text messages. */
export type SmsProvider = (typeof smsProviders)[number];

const line = (doc: string, more: FieldExtras) => field<string | null>(string(checkLine, 2000), null, doc, more);

const atProvider = { secret: true, sentTo: ['sms_provider_url'] } as const;

/** The fields. */
export const smsFields = {
  sms_provider_url: field<string | null>(string(checkWebhookUrl, 2000), null,
    "Base URL of the SMS provider's API, for another region or relay.", { environment: null }),
  sms_webhook_url: field<string | null>(string(checkWebhookUrl, 2000), null,
    'Webhook that receives text messages as signed JSON.', { file: 'auth.sms.webhook.url', environment: null }),
  sms_webhook_secrets: line('Webhook signing secrets, v1,whsec_BASE64, separated by |.', { secret: true, sentTo: [], file: 'auth.sms.webhook.secrets', environment: null }),
  sms_twilio_account_sid: line('Twilio account SID (AC and 32 digits).', { file: 'auth.sms.twilio.account_sid' }),
  sms_twilio_auth_token: line('Twilio auth token.', { ...atProvider, file: 'auth.sms.twilio.auth_token' }),
  sms_twilio_message_service_sid: line('Twilio messaging service SID (MG and 32 digits), sender number or name.', { file: 'auth.sms.twilio.message_service_sid' }),
  sms_twilio_content_sid: line('Twilio content SID for WhatsApp; the first variable is the code.', { file: 'auth.sms.twilio.content_sid' }),
  sms_messagebird_access_key: line('MessageBird access key.', { ...atProvider, file: 'auth.sms.messagebird.access_key' }),
  sms_messagebird_originator: line('MessageBird sender number or name.', { file: 'auth.sms.messagebird.originator' }),
  sms_textlocal_api_key: line('Textlocal API key.', { ...atProvider, file: 'auth.sms.textlocal.api_key' }),
  sms_textlocal_sender: line('Textlocal sender name.', { file: 'auth.sms.textlocal.sender' }),
  sms_vonage_api_key: line('Vonage API key.', { ...atProvider, file: 'auth.sms.vonage.api_key' }),
  sms_vonage_api_secret: line('Vonage API secret.', { ...atProvider, file: 'auth.sms.vonage.api_secret' }),
  sms_vonage_from: line('Vonage sender number or name.', { file: 'auth.sms.vonage.from' }),
} as const; // biome-ignore format: one field a line

type SmsValues = {
  readonly [K in Exclude<keyof typeof smsFields, 'sms_provider_url'>]: string | null;
};

const needed: Readonly<Record<SmsProvider, readonly (keyof SmsValues)[]>> = {
  capture: [],
  webhook: ['sms_webhook_url', 'sms_webhook_secrets'],
  twilio: ['sms_twilio_account_sid', 'sms_twilio_auth_token', 'sms_twilio_message_service_sid'],
  twilio_verify: [],
  messagebird: ['sms_messagebird_access_key', 'sms_messagebird_originator'],
  textlocal: ['sms_textlocal_api_key', 'sms_textlocal_sender'],
  vonage: ['sms_vonage_api_key', 'sms_vonage_api_secret', 'sms_vonage_from'],
};

/** Why a provider cannot send, as a sentence without values; null if it can. */
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
