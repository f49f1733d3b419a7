/**
 * Parses the bytes of a request body, or the query string of a GET request, into the members of a GraphQL request.
 *
 * Fast path and yoga both read bodies here, so the same bytes mean the same request. Integers beyond JavaScript's exact
 * range become `bigint`; nothing is rounded.
 */
import { isUtf8 } from 'node:buffer';
import { badInput, PublicError } from '../../shared/errors.ts';
import { isObject } from '../../shared/json.ts';
import type { GraphQLRequest } from '../execute/executor.ts';

/** Decodes a body as UTF-8. @throws PublicError `BAD_REQUEST` if it is not UTF-8. */
export function decodeText(body: Uint8Array): string {
  if (!isUtf8(body)) throw new PublicError('BAD_REQUEST', 'The request body is not valid UTF-8.');
  const bytes = body instanceof Buffer ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const text = bytes.toString('utf8');
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

/** The members of a batch, each of them not yet read. */
export type Batch = readonly Readonly<Record<string, unknown>>[];

/**
 * Reads the text of a JSON body: one request, or a batch of them.
 *
 * @throws PublicError `BAD_REQUEST` if it is neither a JSON object with a string `query` nor a list of objects (an HTTP
 *   error), `BAD_USER_INPUT` if another member has a wrong type (a GraphQL error).
 */
export function readRequests(text: string): GraphQLRequest | Batch {
  const body = parseJson(text, 'The request body');
  if (isObject(body)) return toRequest(body);
  if (Array.isArray(body) && body.length > 0 && body.every(isObject)) return body;
  const hint = 'Send one JSON object with the member "query", or a list of such objects.';
  throw new PublicError('BAD_REQUEST', 'The request body must be a JSON object.', { hint });
}

/** Whether the body is a batch. */
export function isBatch(requests: GraphQLRequest | Batch): requests is Batch {
  return Array.isArray(requests);
}

/** Reads a body that may be no batch. @throws PublicError as `readRequests`. */
export function readRequest(text: string): GraphQLRequest {
  return oneRequest(readRequests(text));
}

/** The only request. @throws PublicError `BAD_REQUEST` for a batch. */
export function oneRequest(request: GraphQLRequest | Batch): GraphQLRequest {
  if (!isBatch(request)) return request;
  const hint = 'The HTTP server answers batches, as application/json alone.';
  throw new PublicError('BAD_REQUEST', 'The request body must be one JSON object.', { hint });
}

/** The parameters of a GET request that are read; others are ignored. */
const parameters = ['query', 'documentId', 'operationName', 'variables', 'extensions'] as const;

/** Reads the query string of a GET request. @throws PublicError as `readRequests`. */
export function readQueryString(text: string): GraphQLRequest {
  const given = new URLSearchParams(decodable(text));
  const twice = parameters.find((name) => given.getAll(name).length > 1);
  if (twice !== undefined) throw new PublicError('BAD_REQUEST', `The URL has the parameter "${twice}" twice.`);
  const [query, documentId, operationName, variables, extensions] = parameters.map((name) => given.get(name) || null);
  if (query === null && documentId === null && extensions === null) {
    const hint = 'Send "?query=…", or the request with POST. A browser that opens the address gets GraphiQL.';
    throw new PublicError('BAD_REQUEST', 'The URL must have the parameter "query".', { hint });
  }
  return toRequest({
    query,
    documentId,
    operationName,
    variables: variables ? parseJson(variables, 'The parameter "variables"') : null,
    extensions: extensions ? parseJson(extensions, 'The parameter "extensions"') : null,
  });
}

/** The text, if it is UTF-8 in percent encoding; `URLSearchParams` would replace what is not. */
function decodable(text: string): string {
  try {
    decodeURIComponent(text);
    return text;
  } catch (cause) {
    throw new PublicError('BAD_REQUEST', 'The URL is not valid UTF-8 in percent encoding.', { cause });
  }
}

/** Reads the members of a form, where `variables` is JSON text. @throws PublicError as `readRequest`. */
export function readFormRequest(form: URLSearchParams): GraphQLRequest {
  // The content type that curl sends for `--data '{…}'` by default.
  if (/^\s*\{/.test(form.keys().next().value ?? '')) {
    const hint = 'Send the header "Content-Type: application/json".';
    throw new PublicError('BAD_REQUEST', 'The request body is JSON, sent as a form.', { hint });
  }
  const [query, documentId, operationName, variables, extensions] = parameters.map((name) => form.get(name) || null);
  return toRequest({
    query,
    documentId,
    operationName,
    variables: variables ? parseJson(variables, 'The form field "variables"') : null,
    extensions: extensions ? parseJson(extensions, 'The form field "extensions"') : null,
  });
}

/** Reads one object of a body. @throws PublicError as `readRequests`. */
export function toRequest(body: Readonly<Record<string, unknown>>): GraphQLRequest {
  const { query: text = null, operationName = null, variables = null } = body;
  const documentId = documentIdOf(body);
  // Over WebSockets, clients must send a text, and send an empty one beside an id.
  const query = text === '' && documentId !== null ? null : text;
  if (typeof query !== 'string' && (query !== null || documentId === null)) {
    throw new PublicError('BAD_REQUEST', 'The request must have the member "query", a string.');
  }
  if (typeof variables !== 'object' || Array.isArray(variables)) {
    throw badInput('variables must be an object');
  }
  if (operationName !== null && typeof operationName !== 'string') {
    throw badInput('operationName must be a string');
  }
  return { query, documentId, operationName, variables: variables as GraphQLRequest['variables'] };
}

/** The id by GraphQL over HTTP, or the hash by which clients of Apollo and urql name a document; null: none. */
function documentIdOf({ documentId = null, extensions }: Readonly<Record<string, unknown>>): string | null {
  const hashed = isObject(extensions) && isObject(extensions.persistedQuery) ? extensions.persistedQuery : null;
  const { sha256Hash = '' } = hashed ?? {};
  if ((documentId !== null && typeof documentId !== 'string') || (hashed !== null && typeof sha256Hash !== 'string')) {
    throw new PublicError('BAD_REQUEST', 'The id of a document must be a string.');
  }
  if (documentId !== null && hashed !== null && documentId !== sha256Hash) {
    throw new PublicError('BAD_REQUEST', '"documentId" and "extensions.persistedQuery" name two documents.');
  }
  return documentId ?? (hashed === null ? null : (sha256Hash as string));
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

/** A reviver of JSON: integers beyond JavaScript's exact range become `bigint`. */
export function keepBigIntegers(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  if (source === undefined || source.length > maxDigits || !isInteger.test(source)) return value;
  return BigInt(source);
}
