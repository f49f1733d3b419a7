/**
 * Every way in which the management API refuses, in one table, and the error that carries one.
 */

interface Refusal {
  readonly status: number;
  readonly message: string;
  /** For the API description. */
  readonly meaning: string;
}

/** Status and usual text by code. Codes are ours; the texts of 401, 403 and 429 are what client programs know. */
export const managementErrors = {
  invalid_ref: { status: 400, message: 'ref must be 20 characters', meaning: 'The project ref is malformed.' },
  invalid_body: { status: 400, message: 'The body must be a JSON object', meaning: 'The body is no JSON object.' },
  validation_failed: { status: 400, message: 'Invalid configuration', meaning: 'Fields are unknown or have wrong values.' },
  unauthorized: { status: 401, message: 'Unauthorized', meaning: 'The access token is missing, unknown or no longer valid.' },
  forbidden: { status: 403, message: 'Forbidden action', meaning: 'The access token may not do this.' },
  config_only: {
    status: 403,
    message: 'This gateway ignores stored configuration (--config-only). Change its start values instead.',
    meaning: 'The gateway takes its configuration from its start values alone.',
  },
  project_not_found: { status: 404, message: 'Project not found', meaning: 'No project here has this ref.' },
  not_found: { status: 404, message: 'Not found', meaning: 'Nothing is served at this path.' },
  method_not_allowed: { status: 405, message: 'Method not allowed', meaning: 'The path does not support this method.' },
  version_conflict: {
    status: 412,
    message: 'The configuration has changed since you read it. Read it again.',
    meaning: 'The version in If-Match is not the stored one; nothing was changed.',
  },
  body_too_large: { status: 413, message: 'The body is larger than 2 MiB', meaning: 'The body is over the limit.' },
  unsupported_media_type: {
    status: 415,
    message: 'Send the body as "Content-Type: application/json" in UTF-8',
    meaning: 'The content type is not JSON.',
  },
  rate_limited: { status: 429, message: 'Rate limit exceeded', meaning: 'More requests in a minute with one token than --management-rate-limit allows, 60 by default.' },
  read_failed: {
    status: 500,
    message: "Failed to retrieve project's auth config",
    meaning: 'The stored configuration could not be read.',
  },
  tokens_failed: {
    status: 500,
    message: 'The access tokens could not be read or changed. Try again.',
    meaning: 'The access tokens could not be read or changed.',
  },
  schema_unavailable: {
    status: 503,
    message: 'The database is not responding. Try again.',
    meaning: 'The schema of the role could not be read from the database.',
  },
  send_failed: {
    status: 502,
    message: 'The mail server did not accept the email',
    meaning: 'The mail server did not accept the email, for the reason in the message.',
  },
  update_failed: {
    status: 500,
    message: "Failed to update project's auth config",
    meaning: 'The change could not be stored; nothing was changed unless the connection was lost at the very end.',
  },
} as const satisfies Record<string, Refusal>; // biome-ignore format: a table

/** One of the codes above. */
export type ManagementErrorCode = keyof typeof managementErrors;

/** A refusal whose text a client may read. */
export class ManagementError extends Error {
  override readonly name = 'ManagementError';
  readonly code: ManagementErrorCode;
  readonly status: number;
  /** For `rate_limited`: whole seconds until it may work again. */
  readonly retryAfterSeconds: number | null;

  /** @param message The code's usual text where none is given. */
  constructor(
    code: ManagementErrorCode,
    message: string = managementErrors[code].message,
    more: { readonly cause?: unknown; readonly retryAfterSeconds?: number } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    this.status = managementErrors[code].status;
    this.retryAfterSeconds = more.retryAfterSeconds ?? null;
  }
}
