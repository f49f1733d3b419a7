/**
 * Bytes of a request body -> the members of a GraphQL request.
 *
 * Fast path and yoga read bodies here, so that the same bytes mean the same request. Integers that JavaScript cannot hold exactly
 * become `bigint`; nothing is ever rounded.
 */

import { isUtf8 } from 'node:buffer';
import type { GraphQLRequest } from '../../execute/executor.ts';
import { PublicError } from '../../shared/errors.ts';
import { isObject } from '../../shared/json.ts';

/**
 * Decodes a body as UTF-8.
 *
 * @throws PublicError `BAD_REQUEST` where it is not UTF-8.
 */
export function decodeText(body: Uint8Array): string {
  if (!isUtf8(body)) throw new PublicError('BAD_REQUEST', 'The request body is not valid UTF-8.');
  const bytes = body instanceof Buffer ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const text = bytes.toString('utf8');
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

/**
 * Reads the text of a JSON body.
 *
 * @throws PublicError `BAD_REQUEST` where it is not a JSON object with a string `query` (an HTTP error), `BAD_USER_INPUT`
 *   where another member has a wrong type (a GraphQL error).
 */
export function readRequest(text: string): GraphQLRequest {
  const body = parseJson(text, 'The request body');
  if (!isObject(body)) {
    const hint = 'Send one JSON object with the member "query"; batches are not supported.';
    throw new PublicError('BAD_REQUEST', 'The request body must be a JSON object.', { hint });
  }
  return toRequest(body);
}

/**
 * Reads the members of a form, where `variables` is JSON text.
 *
 * @throws PublicError as `readRequest`.
 */
export function readFormRequest(form: URLSearchParams): GraphQLRequest {
  // What curl makes of `--data '{…}'` unless it is told otherwise.
  if (/^\s*\{/.test(form.keys().next().value ?? '')) {
    const hint = 'Send the header "Content-Type: application/json".';
    throw new PublicError('BAD_REQUEST', 'The request body is JSON, sent as a form.', { hint });
  }
  const variables = form.get('variables');
  return toRequest({
    query: form.get('query') ?? undefined,
    operationName: form.get('operationName') || null,
    variables: variables ? parseJson(variables, 'The form field "variables"') : null,
  });
}

function toRequest(body: Readonly<Record<string, unknown>>): GraphQLRequest {
  const { query, operationName = null, variables = null } = body;
  if (typeof query !== 'string') {
    if (isHashOfQuery(body.extensions)) throw new PublicError('BAD_REQUEST', 'PersistedQueryNotSupported');
    throw new PublicError('BAD_REQUEST', 'The request must have the member "query", a string.');
  }
  if (typeof variables !== 'object' || Array.isArray(variables)) {
    throw new PublicError('BAD_USER_INPUT', 'variables must be an object');
  }
  if (operationName !== null && typeof operationName !== 'string') {
    throw new PublicError('BAD_USER_INPUT', 'operationName must be a string');
  }
  return { query, operationName, variables: variables as GraphQLRequest['variables'] };
}

/** Clients of automatic persisted queries send the query itself where they are told so, in one word that all of them know. */
function isHashOfQuery(extensions: unknown): boolean {
  return typeof extensions === 'object' && extensions !== null && 'persistedQuery' in extensions;
}

// Looks only for candidates: a long number inside a string costs the slower parse and changes nothing.
const mayHaveBigNumber = /\d{16}/;
const isInteger = /^-?\d+$/;
/** A longer integer is infinite and refused by every type; reading it takes time that grows faster than its length. */
const maxDigits = 1000;

function parseJson(text: string, what: string): unknown {
  try {
    return mayHaveBigNumber.test(text) ? JSON.parse(text, keepBigIntegers) : JSON.parse(text);
  } catch (cause) {
    throw new PublicError('BAD_REQUEST', `${what} is not valid JSON.`, { cause });
  }
}

function keepBigIntegers(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  if (source === undefined || source.length > maxDigits || !isInteger.test(source)) return value;
  return BigInt(source);
}
