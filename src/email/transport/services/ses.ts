/**
 * Amazon SES, API version 2: https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html
 *
 * The whole message is sent as it would be over SMTP. The API key is `ACCESS_KEY_ID:SECRET_ACCESS_KEY`; the region is
 * that of the address.
 */

import { createHash, createHmac } from 'node:crypto';
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
    const { host, hostname } = new URL(url);
    const [, region = 'us-east-1'] = /^email(?:-fips)?\.([a-z0-9-]+)\.amazonaws\.com/.exec(hostname) ?? [];
    const headers = { host, 'content-type': 'application/json' };
    const request = { method: 'POST', path, headers, body };
    return { path, headers: signAws(request, { apiKey, region, service: 'ses', date: message.date }), body };
  },
  idOf: (_answer, json) => wordAt(json, 'MessageId'),
  refusalOf: ({ headers }, json) => refusals[errorOf(headers, json)] ?? null,
  codeOf: (json) => wordAt(json, '__type'),
};

/** The header may have the address of a definition behind the name. */
function errorOf(headers: Headers, json: unknown): string {
  return (headers.get('x-amzn-errortype') ?? wordAt(json, '__type') ?? '').split(/[:#]/)[0] ?? '';
}

/** A request without parameters, whose path needs no encoding. */
interface AwsRequest {
  readonly method: string;
  readonly path: string;
  /** All are signed; lower-case names, among them `host`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Who signs, and for what. */
interface AwsScope {
  /** `ACCESS_KEY_ID:SECRET_ACCESS_KEY` */
  readonly apiKey: string;
  readonly region: string;
  readonly service: string;
  readonly date: Date;
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();

/**
 * Signs a request by version 4 of AWS:
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 *
 * @returns The headers of the request with those of the signature, without `host`, which the client sets.
 */
export function signAws(request: AwsRequest, scope: AwsScope): Readonly<Record<string, string>> {
  const { apiKey, region, service, date } = scope;
  const [accessKey = '', ...rest] = apiKey.split(':');
  const time = date.toISOString().replace(/[-:]|\.\d+/g, '');
  const day = time.slice(0, 8);
  const headers: Readonly<Record<string, string>> = { ...request.headers, 'x-amz-date': time };
  const names = Object.keys(headers).sort();
  const lines = names.map((name) => `${name}:${headers[name]}\n`).join('');
  const signed = names.join(';');
  const canonical = [request.method, request.path, '', lines, signed, sha256(request.body)].join('\n');
  const credentialScope = `${day}/${region}/${service}/aws4_request`;
  const secret = `AWS4${rest.join(':')}`;
  const key = [day, region, service, 'aws4_request'].reduce<string | Buffer>(hmac, secret);
  const signature = hmac(key, ['AWS4-HMAC-SHA256', time, credentialScope, sha256(canonical)].join('\n')).toString(
    'hex',
  );
  const credential = `Credential=${accessKey}/${credentialScope}`;
  const { host: _host, ...sent } = headers;
  return { ...sent, authorization: `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=${signed}, Signature=${signature}` };
}
