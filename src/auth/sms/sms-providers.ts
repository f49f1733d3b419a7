/** The providers of text messages: the request that sends one message, after their documentation. */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import type { SmsProvider } from '../../config/auth/auth-sms-fields.ts';
import { fieldAt, type OutgoingText, type TextProvider, verdict } from './sms-provider.ts';

/** Providers that take a form. */
export type FormProvider = Exclude<SmsProvider, 'capture' | 'webhook' | 'twilio_verify'>;

/** `Messages.json` of the Programmable Messaging API. */
const twilio: TextProvider = {
  url: 'https://api.twilio.com',
  toRequest(message, config) {
    const account = config.sms_twilio_account_sid ?? '';
    const login = Buffer.from(`${account}:${config.sms_twilio_auth_token}`).toString('base64');
    return {
      path: `/2010-04-01/Accounts/${encodeURIComponent(account)}/Messages.json`,
      authorization: `Basic ${login}`,
      form: { ...twilioAddresses(message, config), ...twilioContent(message, config) },
    };
  },
  read(answer) {
    const isLost = ['failed', 'undelivered'].includes(String(fieldAt(answer, 'status')));
    const code = fieldAt(answer, 'error_code') ?? fieldAt(answer, 'code');
    return verdict(isLost ? undefined : fieldAt(answer, 'sid'), code);
  },
};

function twilioAddresses({ to, channel }: OutgoingText, config: AuthConfig): Readonly<Record<string, string>> {
  const prefix = channel === 'whatsapp' ? 'whatsapp:' : '';
  const sender = config.sms_twilio_message_service_sid ?? '';
  const recipient = { To: `${prefix}+${to}` };
  if (/^MG[0-9a-f]{32}$/i.test(sender)) return { ...recipient, MessagingServiceSid: sender };
  // Short numbers and sender names have no plus sign.
  const number = /^[0-9]{7,15}$/.test(sender) ? `+${sender}` : sender;
  return { ...recipient, From: number.startsWith('+') ? `${prefix}${number}` : number };
}

function twilioContent({ channel, code, text }: OutgoingText, config: AuthConfig): Readonly<Record<string, string>> {
  const template = config.sms_twilio_content_sid;
  if (channel !== 'whatsapp' || !template) return { Body: text };
  return { ContentSid: template, ContentVariables: JSON.stringify({ 1: code }) };
}

const messagebird: TextProvider = {
  url: 'https://rest.messagebird.com',
  toRequest: ({ to, text }, config) => ({
    path: '/messages',
    authorization: `AccessKey ${config.sms_messagebird_access_key}`,
    form: {
      originator: config.sms_messagebird_originator ?? '',
      recipients: to,
      body: text,
      type: 'sms',
      datacoding: 'auto',
    },
  }),
  read(answer) {
    const isLost = fieldAt(answer, 'recipients', 'totalSentCount') === 0;
    return verdict(isLost ? undefined : fieldAt(answer, 'id'), fieldAt(answer, 'errors', 0, 'code'));
  },
};

const textlocal: TextProvider = {
  url: 'https://api.textlocal.in',
  toRequest: ({ to, text }, config) => ({
    path: '/send/',
    authorization: null,
    form: {
      apikey: config.sms_textlocal_api_key ?? '',
      sender: config.sms_textlocal_sender ?? '',
      numbers: to,
      message: text,
    },
  }),
  read(answer) {
    const isTaken = fieldAt(answer, 'status') === 'success';
    const id = fieldAt(answer, 'messages', 0, 'id');
    return verdict(isTaken ? String(id ?? '') : undefined, fieldAt(answer, 'errors', 0, 'code'));
  },
};

const vonage: TextProvider = {
  url: 'https://rest.nexmo.com',
  toRequest: ({ to, text }, config) => ({
    path: '/sms/json',
    authorization: null,
    form: {
      api_key: config.sms_vonage_api_key ?? '',
      api_secret: config.sms_vonage_api_secret ?? '',
      from: config.sms_vonage_from ?? '',
      to,
      text,
      type: /^[\x20-\x7e\n\r]*$/.test(text) ? 'text' : 'unicode',
    },
  }),
  read(answer) {
    const status = fieldAt(answer, 'messages', 0, 'status');
    return verdict(status === '0' ? fieldAt(answer, 'messages', 0, 'message-id') : undefined, status);
  },
};

/** By name. */
export const textProviders: Readonly<Record<FormProvider, TextProvider>> = {
  twilio,
  messagebird,
  textlocal,
  vonage,
};
