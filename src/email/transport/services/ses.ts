/**
 * Amazon SES, API version 2: https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html
 *
 * The whole message is sent as it would be over SMTP. The API key is `ACCESS_KEY_ID:SECRET_ACCESS_KEY`; the region is
 * that of the address.
 */
import { composeMessage } from '../compose-message.ts';
import type { EmailErrorCode } from '../email-error.ts';
import { type MailService, wordAt } from './mail-service.ts';

/** By the name of the error. */
const refusals: Readonly<Record<string, EmailErrorCode>> = {
  AccountSuspendedException: 'login_refused',
  LimitExceededException: 'try_later',
  MailFromDomainNotVerifiedException: 'sender_refused',
  MessageRejected: 'message_refused',
  SendingPausedException: 'try_later',
  TooManyRequestsException: 'try_later',
};

const path = '/v2/email/outbound-emails';

/** The service. */
export const ses: MailService = {
  url: 'https://email.us-east-1.amazonaws.com',
  async toRequest(message, { url, apiKey }) {
    const raw = await composeMessage(message, message.date);
    const body = JSON.stringify({
      FromEmailAddress: message.from.address,
      Destination: { ToAddresses: [message.to] },
      Content: { Raw: { Data: raw.toString('base64') } },
    });
    const [, region = 'us-east-1'] = /^email(?:-fips)?\.([a-z0-9-]+)\.amazonaws\.com/.exec(new URL(url).hostname) ?? [];
    const [accessKeyId = '', ...secret] = apiKey.split(':');
    const { AwsV4Signer } = await import('aws4fetch');
    const { headers } = await new AwsV4Signer({
      url: `${url}${path}`,
      headers: { 'content-type': 'application/json' },
      body,
      allHeaders: true,
      accessKeyId,
      secretAccessKey: secret.join(':'),
      service: 'ses',
      region,
      datetime: message.date.toISOString().replace(/[-:]|\.\d+/g, ''),
    }).sign();
    return { path, headers: Object.fromEntries(headers), body };
  },
  idOf: (_answer, json) => wordAt(json, 'MessageId'),
  refusalOf: ({ headers }, json) => refusals[errorOf(headers, json)] ?? null,
  codeOf: (json) => wordAt(json, '__type'),
};

/** The header may have the address of a definition behind the name. */
function errorOf(headers: Headers, json: unknown): string {
  return (headers.get('x-amzn-errortype') ?? wordAt(json, '__type') ?? '').split(/[:#]/)[0] ?? '';
}
