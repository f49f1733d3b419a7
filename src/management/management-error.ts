/** All errors of the management API in one table, and the error class. */
import type { ChangeNote, ChangeProblem } from './change-note.ts';

interface Refusal {
  readonly status: number;
  readonly message: string;
  /** For the API description. */
  readonly meaning: string;
}

const row = (status: number, message: string, meaning: string): Refusal => ({ status, message, meaning });

/** Status and default text by code. The codes are ours; the texts of 401, 403 and 429 are those that clients know. */
export const managementErrors = {
  invalid_ref: row(400, 'ref must be 20 characters', 'The project ref is malformed.'),
  invalid_body: row(400, 'The body must be a JSON object', 'The body is no JSON object.'),
  validation_failed: row(400, 'Invalid configuration', 'Fields are unknown or have wrong values.'),
  unauthorized: row(401, 'Unauthorized', 'The access token is missing, unknown or no longer valid.'),
  event_refused: row(401, 'The event is not from the mail service',
    'The signature is wrong, the event is too old, or mailer_events_secret is not set.'),
  forbidden: row(403, 'Forbidden action', 'The access token may not do this.'),
  config_only: row(403, 'This gateway ignores stored configuration (--config-only). Change its start values instead.',
    'The gateway takes its configuration from its start values alone.'),
  project_not_found: row(404, 'Project not found', 'No project here has this ref.'),
  not_found: row(404, 'Not found', 'Nothing is served at this path.'),
  method_not_allowed: row(405, 'Method not allowed', 'The path does not support this method.'),
  version_conflict: row(412, 'The configuration has changed since you read it. Read it again.',
    'The version in If-Match is not the stored one; nothing was changed.'),
  body_too_large: row(413, 'The body is larger than 2 MiB', 'The body is over the limit.'),
  unsupported_media_type: row(415, 'Send the body as "Content-Type: application/json" in UTF-8',
    'The content type is not JSON.'),
  rate_limited: row(429, 'Rate limit exceeded',
    'More requests in a minute with one token than --management-rate-limit allows, 60 by default.'),
  read_failed: row(500, "Failed to retrieve project's auth config", 'The stored configuration could not be read.'),
  tokens_failed: row(500, 'The access tokens could not be read or changed. Try again.',
    'The access tokens could not be read or changed.'),
  deliveries_failed: row(500, 'The deliveries could not be read or changed. Try again.',
    'The deliveries could not be read or changed.'),
  activity_failed: row(500, 'The requests and counts could not be read. Try again.',
    'The requests and counts of the processes could not be read.'),
  check_failed: row(500, 'The database could not be checked. Try again.', 'The database could not be checked.'),
  explain_failed: row(500, 'The operation could not be planned. The log has the cause.',
    'PostgreSQL could not plan the statements, for a reason that the log has.'),
  schema_unavailable: row(503, 'The database is not responding. Try again.',
    'The schema of the role could not be read from the database.'),
  query_failed: row(400, 'PostgreSQL refused the statements',
    'PostgreSQL refused a statement, for the reason in the message; nothing was changed.'),
  no_admin_connection: row(403, 'This gateway has no connection that may change the database (--admin-database-url)',
    'The gateway has no admin connection of its own.'),
  send_failed: row(502, 'The mail server did not accept the email',
    'The mail server did not accept the email, for the reason in the message.'),
  update_failed: row(500, "Failed to update project's auth config",
    'The change could not be stored; nothing was changed unless the connection was lost at the very end.'),
} as const satisfies Record<string, Refusal>; // biome-ignore format: a table

/** One of the codes above. */
export type ManagementErrorCode = keyof typeof managementErrors;

/** An error whose text clients may read. */
export class ManagementError extends Error {
  override readonly name = 'ManagementError';
  readonly code: ManagementErrorCode;
  readonly status: number;
  /** For `rate_limited`: seconds to wait. */
  readonly retryAfterSeconds: number | null;
  /** For `validation_failed` of a change: what the message joins. */
  readonly problems: readonly ChangeProblem[] | null;

  /** @param message Default: the code's text. */
  constructor(
    code: ManagementErrorCode,
    message: string = managementErrors[code].message,
    more: {
      readonly cause?: unknown;
      readonly retryAfterSeconds?: number;
      readonly problems?: readonly ChangeProblem[];
    } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    this.status = managementErrors[code].status;
    this.retryAfterSeconds = more.retryAfterSeconds ?? null;
    this.problems = more.problems ?? null;
  }
}

/** A change of which all these are wrong. @throws ManagementError */
export function refuseChange(notes: readonly (ChangeNote | ChangeProblem)[]): never {
  const problems = notes.map(
    (note): ChangeProblem => ({
      ...note,
      allow_warnings: 'allow_warnings' in note && note.allow_warnings,
    }),
  );
  const sentences = problems.map(({ message, allow_warnings: isAllowable }) =>
    isAllowable ? `${message}. To store it all the same, leave out ?allow_warnings=false` : message,
  );
  throw new ManagementError('validation_failed', sentences.join('; '), { problems });
}
