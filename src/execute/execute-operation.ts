/**
 * Runs one request, again on a newer model where one is needed.
 *
 * With the trigger and `--freshness exact`, no request runs against a model older than the last committed change: the settings
 * step checks, and a stale request runs again on a new model. Without, a model may be older by what the poll takes to notice.
 */
import { DatabaseError } from '../postgres/database-error.ts';
import { PublicError } from '../shared/errors.ts';
import { toPublicError } from './answer/public-error.ts';
import type { RoleReflection } from './reflection.ts';
import { maxAttempts, requiredModelTime } from './retry-on-newer-model.ts';
import { FailedRun, type Outcome, runAttempt } from './run-attempt.ts';
import type { Attempt, ExecuteOptions, Execution } from './run-flight.ts';

/** Runs a request. Errors of clients, operators and the database are in the outcome. */
export async function executeOperation(options: ExecuteOptions, execution: Execution): Promise<Outcome> {
  const arrival = performance.now();
  let since: number | null = null;
  for (let attempts = 1; ; attempts++) {
    const role = await roleOf(options, execution, since);
    const attempt: Attempt = { role, isFresh: since !== null };
    try {
      return await runAttempt(options, execution, attempt);
    } catch (error) {
      const cause = error instanceof FailedRun ? error.cause : error;
      const newer: number | null = await requiredModelTime(options, execution, { attempt, cause, arrival });
      if (newer === null) return failedOutcome(error);
      if (attempts === maxAttempts) {
        // The change may be a role of the server that is irrelevant here: on the same model, the refusal stands.
        const latest = await roleOf(options, execution, newer);
        if (error instanceof FailedRun && latest.shared === role.shared) return failedOutcome(error);
        throw new PublicError('UNAVAILABLE', changesTooFast, { cause });
      }
      since = newer;
    }
  }
}

// A single error: one failed statement rolls back the whole transaction.
function failedOutcome(error: unknown): Outcome {
  if (!(error instanceof FailedRun)) throw error;
  return { data: 'null', errors: [toPublicError(error.cause, error.scope)], ...error.outcome };
}

async function roleOf(options: ExecuteOptions, execution: Execution, since: number | null): Promise<RoleReflection> {
  const { role: name } = execution.caller;
  let role: RoleReflection | null;
  try {
    role = await options.reflector.role(name, since);
  } catch (error) {
    throw isUnreadable(error) ? new PublicError('UNAVAILABLE', unreadable, { cause: error }) : error;
  }
  if (role === null) throw new PublicError('ROLE_NOT_ALLOWED', `The role "${name}" does not exist.`);
  return role;
}

const changesTooFast = 'The schema is changing faster than it can be read. Try again.';
const unreadable = 'The schema could not be read from the database. Try again in a moment.';

/** The server refused our own statements, which is not the request's fault. */
function isUnreadable(error: unknown): boolean {
  return error instanceof DatabaseError && (error.kind === 'statement' || error.kind === 'timeout');
}
