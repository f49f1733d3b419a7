import { gateway } from './gateway.js';

export async function handler({ rawPath, rawQueryString, headers, body, isBase64Encoded, requestContext }) {
  const { method, sourceIp } = requestContext.http;
  const request = new Request(`https://${headers.host}${rawPath}?${rawQueryString}`, {
    method,
    headers,
    body: body === undefined ? null : Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8'),
  });
  const response = await gateway.fetch(request, { address: sourceIp });
  return { statusCode: response.status, headers: Object.fromEntries(response.headers), body: await response.text() };
}
