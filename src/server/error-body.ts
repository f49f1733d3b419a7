/**
 * Turns errors of the HTTP edge into response bodies, and answers into HTTP statuses (docs/handling-errors.md).
 *
 * Every error body is a GraphQL response. A 401 also has `message` and `hint` at top level, where Supabase's clients
 * look.
 */
import { randomUUID } from 'node:crypto';
import { errorCodes, PublicError } from '../shared/errors.ts';
import type { AnswerFacts, Observe } from '../shared/observation.ts';
import { TooLargeError } from '../shared/read-bounded.ts';
import { about, listOf, named, objectOf, optional, record, text } from '../shared/schema.ts';
import type { Span } from '../shared/trace/span.ts';
import { frameworkStatus } from './framework-status.ts';
import type { AnswerType } from './media-types.ts';

/** The body of an error. */
export const requestErrors = named(
  'RequestErrors',
  objectOf({
    errors: listOf(
      objectOf({ message: text, extensions: about(record(), '`code`: one of docs/errors.md; often also `hint`.') }),
    ),
    message: optional(about(text, 'With status 401: the same message.')),
    hint: optional(text),
  }),
);

/**
 * What clients may read of an error: public errors unchanged, those of the HTTP framework in our words, all others
 * masked under an id, with which they are observed.
 */
export function shownError(error: unknown, requestId: string, observe: Observe, span?: Span): PublicError {
  if (error instanceof PublicError) return error;
  const status = error instanceof TooLargeError ? 413 : frameworkStatus(error);
  if (status === 413) return new PublicError('BODY_TOO_LARGE', 'The request body exceeds --max-body-bytes.');
  if (status === 415) return new PublicError('UNSUPPORTED_MEDIA_TYPE', 'The content type is not supported.');
  // Of a file: a path that leads out of its folder, or headers such as `Range` that cannot be satisfied.
  if (status === 403) return new PublicError('NOT_FOUND', 'Nothing is served at this path.');
  if (status !== null && status < 500) {
    return new PublicError('BAD_REQUEST', 'The HTTP request is malformed.', { cause: error });
  }
  const id = randomUUID();
  observe({ kind: 'masked_error', id, requestId, span, error });
  return new PublicError('INTERNAL', 'Internal error. The log has the cause under this id.', { extensions: { id } });
}

/** Status, code and body for a request that did not reach the executor. */
export function errorAnswer(error: PublicError, answerType: AnswerType = 'application/json') {
  const { code, message, details } = error;
  const { path, locations, hint, sqlstate, extensions } = details;
  const status = statusOf({ executed: false, codes: [code] }, answerType);
  const entry = { message, path, locations, extensions: { code, sqlstate, ...extensions } };
  const gateway = status === 401 ? { message, hint } : {};
  if (status !== 401 && hint !== undefined) Object.assign(entry.extensions, { hint });
  return { status, code, body: JSON.stringify({ ...gateway, errors: [entry] }) };
}

/**
 * The status of an answer: that of the first code that has an HTTP status; otherwise 200. With
 * `application/graphql-response+json`, 400 if nothing was executed.
 */
export function statusOf(answer: Pick<AnswerFacts, 'executed' | 'codes'>, answerType: AnswerType): number {
  const transport = answer.codes.find((code) => errorCodes[code].transport);
  if (transport !== undefined) return errorCodes[transport].status;
  if (answer.executed || answerType !== 'application/graphql-response+json') return 200;
  const first = answer.codes[0];
  return first === undefined ? 400 : errorCodes[first].status;
}

/** Seconds for `Retry-After`; null if the status has none. */
export function retryAfterSeconds(status: number): number | null {
  return status === 503 ? 1 : null;
}
