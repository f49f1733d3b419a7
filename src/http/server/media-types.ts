/**
 * The media types of request and answer, from `Content-Type` and `Accept`.
 *
 * If no accepted type is available, the answer is `application/json`: existing clients expect that, and the
 * GraphQL-over-HTTP specification allows it.
 */

const requestTypes = {
  'application/json': 'json',
  'application/graphql+json': 'graphql_json',
  'application/graphql': 'graphql',
  'application/x-www-form-urlencoded': 'urlencoded',
  'multipart/form-data': 'multipart',
} as const;

/** Formats of a request body; `requestTypeOf` returns null for others. */
export type RequestType = (typeof requestTypes)[keyof typeof requestTypes];

const answerTypes = [
  'application/json',
  'application/graphql-response+json',
  'text/event-stream',
  'multipart/mixed',
] as const;

/** Media types of an answer. */
export type AnswerType = (typeof answerTypes)[number];

/** The format of the body; null if the type is unknown or missing, or the charset is not UTF-8. */
export function requestTypeOf(contentType: string | undefined): RequestType | null {
  if (contentType === undefined) return null;
  if (contentType === 'application/json') return 'json';
  const [essence = '', ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
  if (charset !== undefined && !/^"?utf-?8"?$/.test(charset)) return null;
  return Object.hasOwn(requestTypes, essence) ? requestTypes[essence as keyof typeof requestTypes] : null;
}

/** The best available type for an `Accept` header: highest `q` first, then header order; wildcards mean JSON. */
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

/** Whether the client is a browser that opens a page. */
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
