/**
 * Every code that a client of the gateway can meet, in one table, and the error that carries one.
 *
 * Throw `PublicError` where the message may be shown. Anything else that reaches the edge is masked as `INTERNAL`, logged
 * under an id, and the id is what the client sees. The table is the documentation: a convention test compares it with the docs
 * and demands a test that provokes each code.
 */

interface ErrorCode {
  /** HTTP status used where a response has no `data` and the media type or the situation asks for a real status. */
  readonly status: number;
  /** Answers with this status even where `application/json` would say 200. */
  readonly transport: boolean;
  /** What it means, for the reference table. */
  readonly meaning: string;
}

const inGraphql = (meaning: string): ErrorCode => ({ status: 400, transport: false, meaning });
const transport = (status: number, meaning: string): ErrorCode => ({ status, transport: true, meaning });

/** All codes. Names are part of the public interface and are never reused. */
export const errorCodes = {
  GRAPHQL_PARSE_FAILED: inGraphql('The document is not valid GraphQL syntax.'),
  GRAPHQL_VALIDATION_FAILED: inGraphql("The document is not valid against the role's schema."),
  OPERATION_NOT_FOUND: inGraphql('The document has no operation of that name, or several and no name was given.'),
  BAD_USER_INPUT: inGraphql('A variable, argument, cursor or node id has an invalid value.'),
  INTROSPECTION_DISABLED: inGraphql('The schema has not opted in to introspection.'),
  DIRECTIVE_INVALID: inGraphql('A comment directive in the database is invalid.'),
  LIMIT_EXCEEDED: inGraphql('The request or the response exceeds a limit of the gateway.'),
  PERMISSION_DENIED: inGraphql('PostgreSQL refused the role (42501).'),
  CONSTRAINT_VIOLATION: inGraphql('A constraint or the check option of a view was violated (class 23, 44000).'),
  CONFLICT: inGraphql('Serialization failure or deadlock; retry (40001, 40P01).'),
  RAISED: inGraphql('A function in the database raised an error (P0001, or its own `errcode`).'),
  READ_ONLY: inGraphql('A write in a read-only transaction (25006).'),
  TIMEOUT: inGraphql(
    'The request exceeded its time limit (57014). With `extensions.outcome` `unknown`, a mutation may have been committed.',
  ),
  BAD_REQUEST: transport(400, 'The HTTP request is malformed (for example, its JSON).'),
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

/** What a `PublicError` may carry beside code and message; all of it is shown to the client. */
export interface PublicErrorDetails {
  /** Response path, root field at least. */
  readonly path?: readonly (string | number)[];
  /** Places in the document, 1-based. */
  readonly locations?: readonly { readonly line: number; readonly column: number }[];
  /** What to do about it. */
  readonly hint?: string;
  /** PostgreSQL's five-character code. */
  readonly sqlstate?: string;
  /** Further keys of `extensions`, for example `limit` or `constraint`. */
  readonly extensions?: Readonly<Record<string, string | number>>;
  /** The internal reason; logged, never shown. */
  readonly cause?: unknown;
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

/**
 * Lets go of the calls that led to an error, for one that is kept without being logged: until its stack has been made into
 * text, an error holds everything that was on it, whole documents and variables too, and that text costs more than the error.
 */
export function forgetStack(error: Error): void {
  error.stack = `${error.name}: ${error.message}`;
}
