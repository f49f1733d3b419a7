/**
 * Which body a client sent and which one it would like back, from `Content-Type` and `Accept`.
 *
 * `application/json` is the answer where a client has no wish that can be met: that is what existing clients expect, and
 * the GraphQL-over-HTTP specification allows it.
 */

const requestTypes = {
  'application/json': 'json',
  'application/graphql+json': 'graphql_json',
  'application/graphql': 'graphql',
  'application/x-www-form-urlencoded': 'urlencoded',
  'multipart/form-data': 'multipart',
} as const;

/** What a request body can be; null in `requestTypeOf` for anything else. */
export type RequestType = (typeof requestTypes)[keyof typeof requestTypes];

const answerTypes = [
  'application/json',
  'application/graphql-response+json',
  'text/event-stream',
  'multipart/mixed',
] as const;

/** What an answer can be. */
export type AnswerType = (typeof answerTypes)[number];

/** The kind of body, null where the type is unknown, missing, or in another encoding than UTF-8. */
export function requestTypeOf(contentType: string | undefined): RequestType | null {
  if (contentType === undefined) return null;
  if (contentType === 'application/json') return 'json';
  const [essence = '', ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
  if (charset !== undefined && !/^"?utf-?8"?$/.test(charset)) return null;
  return Object.hasOwn(requestTypes, essence) ? requestTypes[essence as keyof typeof requestTypes] : null;
}

/** The best of our types in an `Accept` header: highest `q` first, then the order of the header; wildcards mean JSON. */
export function answerTypeOf(accept: string | undefined): AnswerType {
  if (accept === undefined || accept === '*/*' || accept === 'application/json') return 'application/json';
  let best: AnswerType = 'application/json';
  let bestQuality = 0;
  for (const { type, quality } of parseAccept(accept)) {
    if (quality <= bestQuality) continue;
    const ours = answerTypes.find((known) => known === type);
    if (ours !== undefined) best = ours;
    else if (type === '*/*' || type === 'application/*') best = 'application/json';
    else continue;
    bestQuality = quality;
  }
  return best;
}

/** Whether a browser asks for a page. */
export function acceptsHtml(accept: string | undefined): boolean {
  return accept !== undefined && parseAccept(accept).some(({ type, quality }) => type === 'text/html' && quality > 0);
}

function parseAccept(accept: string): { readonly type: string; readonly quality: number }[] {
  return accept.split(',').map((entry) => {
    const [type = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
    const given = parameters.find((parameter) => parameter.startsWith('q='));
    const quality = given === undefined ? 1 : Number(given.slice(2));
    return { type, quality: Number.isFinite(quality) ? quality : 0 };
  });
}
