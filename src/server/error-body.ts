/**
 * Turns errors of the HTTP edge into response bodies, and answers into HTTP statuses (docs/handling-errors.md).
 *
 * Every error body is a GraphQL response. A 401 also has `message` and `hint` at top level, where Supabase's clients
 * look.
 */
import { errorCodes, type PublicError } from '../shared/errors.ts';
import type { AnswerFacts } from '../shared/observation.ts';
import { about, listOf, named, objectOf, optional, record, text } from '../shared/schema.ts';
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
