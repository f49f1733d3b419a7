/**
 * The media types of request and answer, from `Content-Type` and `Accept`, and the languages of `Accept-Language`.
 *
 * If no accepted type is available, the answer is `application/json`: existing clients expect that, and the
 * GraphQL-over-HTTP specification allows it.
 */
import Negotiator from 'negotiator';
import { canonicalTag } from '../shared/language-tag.ts';

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
  for (const type of acceptedTypes(accept)) {
    const ours = answerTypes.find((known) => known === type);
    if (ours !== undefined) return ours;
    if (type === '*/*' || type === 'application/*') break;
  }
  return 'application/json';
}

/** The best type that is JSON alone, for answers that are no stream. */
export function jsonAnswerTypeOf(accept: string | undefined): AnswerType {
  const type = answerTypeOf(accept);
  return type === 'application/graphql-response+json' ? type : 'application/json';
}

/** Whether the client is a browser that opens a page. */
export function acceptsHtml(accept: string | undefined): boolean {
  return accept !== undefined && acceptedTypes(accept).includes('text/html');
}

/** Whether a collector of metrics prefers OpenMetrics to the format of Prometheus. */
export function prefersOpenMetrics(accept: string | undefined): boolean {
  const open = 'application/openmetrics-text';
  return (
    accept !== undefined && acceptedTypes(accept).find((type) => type === open || /^(text|\*)\//.test(type)) === open
  );
}

/** The best first. */
function acceptedTypes(accept: string): readonly string[] {
  return new Negotiator({ headers: { accept } }).mediaTypes().map((type) => type.toLowerCase());
}

/** Most languages that are read of a header. */
const maxLanguages = 20;

/** The tags of a header `Accept-Language`, best first. */
export function parseAcceptLanguage(header: string | undefined): readonly string[] {
  if (header === undefined) return [];
  const given = header.slice(0, maxLanguages * 100);
  const wishes = new Negotiator({ headers: { 'accept-language': given } }).languages().slice(0, maxLanguages);
  return [...new Set(wishes.map(canonicalTag))].filter((tag) => tag !== null);
}
