/**
 * Any error -> status, headers and body, in the format that the version of the client asks for.
 *
 * Only `AuthError`, `OAuthStyleError` and errors raised by the database's own triggers keep their text. Everything else
 * is masked, and the caller logs it under the request id.
 */
import { DatabaseError } from '../../postgres/database-error.ts';
import {
  about,
  anyOf,
  anything,
  integer,
  listOf,
  named,
  objectOf,
  oneOf,
  optional,
  text,
} from '../../shared/schema.ts';
import { AuthError, authErrorCodes, OAuthStyleError, weakPasswordReasons } from '../model/auth-error.ts';

/** A response, ready to be sent. */
interface ErrorResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
  /** The code for the log; null in OAuth format, which has no code. */
  readonly code: string | null;
  /** The client did not get the cause: log it. */
  readonly masked: boolean;
}

/** Header that names the error format: clients send the one they read, responses the one they have. Lower case. */
export const apiVersionHeader = 'x-supabase-api-version';

const newFormatVersion = '2024-01-01';

const weakPassword = objectOf({ reasons: listOf(oneOf(...weakPasswordReasons)) });

const outcome = anything({ enum: ['unknown'], description: 'The change may have been committed.' });

const more = { weak_password: optional(weakPassword), outcome: optional(outcome) };
const codes = Object.keys(authErrorCodes);

/** The bodies that `toErrorResponse` makes: new format, old format, OAuth format. */
export const errorSchema = named(
  'AuthError',
  anyOf(
    about(
      objectOf({ code: oneOf(...codes), message: text, ...more }),
      'With the header x-supabase-api-version from 2024-01-01 on.',
    ),
    about(
      objectOf({
        code: integer,
        msg: text,
        error_code: optional(oneOf(...codes.filter((code) => code !== 'unknown'))),
        error_id: optional(text),
        message: optional(text),
        ...more,
      }),
      'Without that header. Refusals of the API key have `message` too.',
    ),
    about(objectOf({ error: text, error_description: text }), 'Sign-in with the ID token of a provider.'),
  ),
);

/** Whether the client reads the new format. A value that is not a date means the old format. */
export function readsNewFormat(apiVersion: string | undefined): boolean {
  const date = apiVersion?.trim() ?? '';
  return /^\d{4}-\d{2}-\d{2}$/.test(date) && !Number.isNaN(Date.parse(date)) && date >= newFormatVersion;
}

/**
 * The answer for an error.
 *
 * @param apiVersion Value of the header of the request.
 * @param requestId Shown as `error_id` with statuses of 500 and above, in the old format.
 */
export function toErrorResponse(error: unknown, apiVersion: string | undefined, requestId: string): ErrorResponse {
  if (error instanceof OAuthStyleError) {
    const body = { error: error.error, error_description: error.message };
    return { status: 400, headers: {}, body, code: null, masked: false };
  }
  const known = error instanceof AuthError ? error : fromDatabase(error);
  const failure = known ?? new AuthError('unexpected_failure');
  const { code, status, message, weakPassword, retryAfterSeconds, isOutcomeUnknown } = failure;
  const isNew = readsNewFormat(apiVersion);
  const extra = {
    ...(weakPassword === null ? {} : { weak_password: { reasons: weakPassword } }),
    ...(isOutcomeUnknown ? { outcome: 'unknown' } : {}),
  };
  const shown = code === 'unknown' ? undefined : code;
  const body = isNew
    ? { code, message, ...extra }
    : { code: status, error_code: shown, msg: message, ...(status >= 500 ? { error_id: requestId } : {}), ...extra };
  const headers = {
    'x-sb-error-code': code,
    ...(isNew ? { [apiVersionHeader]: newFormatVersion } : {}),
    ...(retryAfterSeconds === null ? {} : { 'retry-after': String(retryAfterSeconds) }),
  };
  return { status, headers, body, code, masked: known === null || status >= 500 };
}

/**
 * Makes the public error for a database error: text of a user's trigger or constraint, and failures that are not ours.
 */
function fromDatabase(error: unknown): AuthError | null {
  if (!(error instanceof DatabaseError)) return null;
  if (error.kind === 'unavailable' || error.kind === 'overloaded') {
    const { maybeCommitted: isOutcomeUnknown } = error;
    const message = isOutcomeUnknown
      ? 'The connection to the database was lost; what was asked for may or may not have been done.'
      : 'The service cannot be reached at the moment, please retry after a moment.';
    const details = { status: 503, retryAfterSeconds: 1, isOutcomeUnknown, cause: error };
    return new AuthError('unexpected_failure', message, details);
  }
  if (error.kind === 'timeout') return new AuthError('request_timeout', null, { cause: error });
  const sqlstate = error.sqlstate ?? '';
  if (sqlstate === '25006') {
    const message = 'The database takes no changes at the moment, please retry after a moment.';
    return new AuthError('unexpected_failure', message, { status: 503, retryAfterSeconds: 1, cause: error });
  }
  // Text that PostgreSQL cannot store, for example a NUL character, or that is longer than its column.
  if (['22001', '22021', '22P05'].includes(sqlstate)) {
    return new AuthError('validation_failed', 'The request has text that cannot be stored.', { cause: error });
  }
  if (['40001', '40P01', '55P03'].includes(sqlstate)) {
    return new AuthError('conflict', 'Too many concurrent requests on the same row', { cause: error });
  }
  const [, chosen] = /^PT([1-5]\d\d)$/.exec(sqlstate) ?? [];
  if (chosen !== undefined || sqlstate === 'P0001' || sqlstate.startsWith('23')) {
    const status = Number(chosen ?? authErrorCodes.unexpected_failure.status);
    return new AuthError('unexpected_failure', error.primary, { status, cause: error });
  }
  return null;
}
