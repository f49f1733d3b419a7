/**
 * Signs a request by version 4 of AWS:
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
import { createHash, createHmac } from 'node:crypto';

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

/** The headers of the request with those of the signature, without `host`, which the client sets. */
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
