/**
 * Errors of the HTTP edge -> response bodies, and answers -> HTTP status (docs/handling-errors.md).
 *
 * Every error body is a GraphQL response. A 401 also carries `message` and `hint` at top level, where the client
 * libraries of Supabase look for them.
 */
import type { Answer } from '../../execute/executor.ts';
import { errorCodes, type PublicError } from '../../shared/errors.ts';
import type { AnswerType } from './media-types.ts';

/** Status, code and body of the response for a request that never reached the executor. */
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
 * The status of an answer: that of the first code that belongs to the transport; otherwise 200, except that
 * `application/graphql-response+json` says when nothing was executed.
 */
export function statusOf(answer: Pick<Answer, 'executed' | 'codes'>, answerType: AnswerType): number {
  const transport = answer.codes.find((code) => errorCodes[code].transport);
  if (transport !== undefined) return errorCodes[transport].status;
  if (answer.executed || answerType !== 'application/graphql-response+json') return 200;
  const first = answer.codes[0];
  return first === undefined ? 400 : errorCodes[first].status;
}

/** Seconds for `Retry-After`, null where the status has none. */
export function retryAfterSeconds(status: number): number | null {
  return status === 503 ? 1 : null;
}
