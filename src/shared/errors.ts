/**
 * Every error code of the gateway in one table, and the error that carries one.
 *
 * Throw `PublicError` if clients may see the message. Any other error is masked as `INTERNAL` at the edge and logged
 * under the id that the client sees. The table is the documentation: a convention test compares it with the docs and
 * requires a test of each code.
 */

interface ErrorCode {
  /** HTTP status for a response without `data`, if the media type or the situation requires a real status. */
  readonly status: number;
  /** Uses this status even where `application/json` would have 200. */
  readonly transport: boolean;
  /** The meaning, for the reference table. */
  readonly meaning: string;
}

const inGraphql = (meaning: string): ErrorCode => ({ status: 400, transport: false, meaning });
const transport = (status: number, meaning: string): ErrorCode => ({ status, transport: true, meaning });

/** All codes. Names are public and are never reused. */
export const errorCodes = {
  GRAPHQL_PARSE_FAILED: inGraphql('The document is not valid GraphQL syntax.'),
  GRAPHQL_VALIDATION_FAILED: inGraphql("The document is not valid against the role's schema."),
  OPERATION_NOT_FOUND: inGraphql('The document has no operation of that name, or several and no name was given.'),
  PERSISTED_QUERY_NOT_FOUND: inGraphql('No trusted document has that id.'),
  BAD_USER_INPUT: inGraphql('A variable, argument, cursor or node id has an invalid value.'),
  INTROSPECTION_DISABLED: inGraphql('The schema has not opted in to introspection.'),
  DIRECTIVE_INVALID: inGraphql('A comment directive in the database is invalid.'),
  LIMIT_EXCEEDED: inGraphql('The request or the response exceeds a limit of the gateway.'),
  PERMISSION_DENIED: inGraphql('PostgreSQL refused the role (42501).'),
  CONSTRAINT_VIOLATION: inGraphql('A constraint or the check option of a view was violated (class 23, 44000).'),
  CONFLICT: inGraphql(
    'Serialization failure, deadlock or `lock_timeout` (40001, 40P01, 55P03), or an upsert of a row that was just written; retry, but only once where `retry` is `once`: its view may hide the row.',
  ),
  RAISED: inGraphql('A function in the database raised an error (P0001, or its own `errcode`).'),
  READ_ONLY: inGraphql('A write in a read-only transaction (25006).'),
  TIMEOUT: inGraphql(
    'The request exceeded its time limit (57014, 25P04). With `extensions.outcome` `unknown`, a mutation may have been committed.',
  ),
  BAD_REQUEST: transport(400, 'The HTTP request is malformed (for example, its JSON).'),
  DOCUMENT_NOT_TRUSTED: transport(400, 'The document is not one of the trusted documents (option `--trusted-only`).'),
  UNAUTHENTICATED: transport(401, 'The API key or token is missing, invalid or expired.'),
  ROLE_NOT_ALLOWED: transport(403, 'The role of the token is not allowed.'),
  NOT_FOUND: transport(404, 'Nothing is served at this path.'),
  METHOD_NOT_ALLOWED: transport(405, 'The path does not support this method.'),
  BODY_TOO_LARGE: transport(413, 'The request body is too large.'),
  UNSUPPORTED_MEDIA_TYPE: transport(415, 'The content type is not supported.'),
  RATE_LIMITED: transport(429, 'Too many requests; wait for `Retry-After` seconds.'),
  UNAVAILABLE: transport(
    503,
    'The database is unavailable or the gateway is overloaded. With `extensions.outcome` `unknown`, a mutation may have been committed.',
  ),
  INTERNAL: { status: 500, transport: false, meaning: 'Internal error. The log has the cause under `extensions.id`.' },
} as const satisfies Record<string, ErrorCode>;

/** One of the codes above. */
export type Code = keyof typeof errorCodes;

/** Further properties of a `PublicError`, all visible to clients except `cause`. */
interface PublicErrorDetails {
  /** Response path, at least the root field. */
  readonly path?: readonly (string | number)[];
  /** Locations in the document, 1-based. */
  readonly locations?: readonly { readonly line: number; readonly column: number }[];
  /** How to fix it. */
  readonly hint?: string;
  /** PostgreSQL's five-character code. */
  readonly sqlstate?: string;
  /** Further keys of `extensions`, for example `limit` or `constraint`. */
  readonly extensions?: Readonly<Record<string, string | number>>;
  /** The internal reason; logged, never shown. */
  readonly cause?: unknown;
  /** The message has names of the schema and our words alone, nothing that a client sent: operators may read it, too. */
  readonly isOfNames?: true;
}

/** An error whose message a client may read. Callers branch on `code`. */
export class PublicError extends Error {
  override readonly name = 'PublicError';
  readonly code: Code;
  readonly details: PublicErrorDetails;

  constructor(code: Code, message: string, details: PublicErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.details = details;
  }
}

/** `BAD_USER_INPUT` in words that quote no value, see `isOfNames`. */
export function badInput(message: string, details: PublicErrorDetails = {}): PublicError {
  return new PublicError('BAD_USER_INPUT', message, { ...details, isOfNames: true });
}

/**
 * Frees the references of an error that is kept without being logged: until its stack is formatted, an error holds
 * everything on the stack, such as documents and variables. Formatting would cost more than the error.
 */
export function forgetStack(error: Error): void {
  error.stack = `${error.name}: ${error.message}`;
}
