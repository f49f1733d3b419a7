/**
 * Parses the bytes of a request body into the members of a GraphQL request.
 *
 * Fast path and yoga both read bodies here, so the same bytes mean the same request. Integers beyond JavaScript's exact
 * range become `bigint`; nothing is rounded.
 */
import { isUtf8 } from 'node:buffer';
import { PublicError } from '../../shared/errors.ts';
import { isObject } from '../../shared/json.ts';
import type { GraphQLRequest } from '../execute/executor.ts';

/** Decodes a body as UTF-8. @throws PublicError `BAD_REQUEST` if it is not UTF-8. */
export function decodeText(body: Uint8Array): string {
  if (!isUtf8(body)) throw new PublicError('BAD_REQUEST', 'The request body is not valid UTF-8.');
  const bytes = body instanceof Buffer ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const text = bytes.toString('utf8');
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

/**
 * Reads the text of a JSON body.
 *
 * @throws PublicError `BAD_REQUEST` if it is not a JSON object with a string `query` (an HTTP error), `BAD_USER_INPUT`
 *   if another member has a wrong type (a GraphQL error).
 */
export function readRequest(text: string): GraphQLRequest {
  const body = parseJson(text, 'The request body');
  if (!isObject(body)) {
    const hint = 'Send one JSON object with the member "query"; batches are not supported.';
    throw new PublicError('BAD_REQUEST', 'The request body must be a JSON object.', { hint });
  }
  return toRequest(body);
}

/** Reads the members of a form, where `variables` is JSON text. @throws PublicError as `readRequest`. */
export function readFormRequest(form: URLSearchParams): GraphQLRequest {
  // The content type that curl sends for `--data '{…}'` by default.
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

/** Clients of automatic persisted queries send the full query after one specific error message. */
function isHashOfQuery(extensions: unknown): boolean {
  return typeof extensions === 'object' && extensions !== null && 'persistedQuery' in extensions;
}

// A cheap test: a long number inside a string only costs the slower parse.
const mayHaveBigNumber = /\d{16}/;
const isInteger = /^-?\d+$/;
/** Longest integer in digits. Longer ones, whose parsing takes long, become infinite, which every type refuses. */
const maxDigits = 1000;

const emptyHint = 'It is empty. Send {"query": "…"}.';
const jsonHint = 'Put names and strings in double quotes. Write line breaks in strings as \\n.';

function parseJson(text: string, what: string): unknown {
  try {
    return mayHaveBigNumber.test(text) ? JSON.parse(text, keepBigIntegers) : JSON.parse(text);
  } catch (cause) {
    throw new PublicError('BAD_REQUEST', `${what} is not valid JSON.`, {
      cause,
      hint: text.trim() === '' ? emptyHint : jsonHint,
    });
  }
}

function keepBigIntegers(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  if (source === undefined || source.length > maxDigits || !isInteger.test(source)) return value;
  return BigInt(source);
}
