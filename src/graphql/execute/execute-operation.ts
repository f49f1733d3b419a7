/**
 * Runs one request, again on a newer model where one is needed.
 *
 * With the trigger and `--freshness exact`, no request runs against a model older than the last committed change: the settings
 * step checks, and a stale request runs again on a new model. Without, a model may be older by what the poll takes to notice.
 */
import { DatabaseError, isOfDropped } from '../../postgres/database-error.ts';
import { PublicError } from '../../shared/errors.ts';
import { toPublicError } from './answer/public-error.ts';
import type { RoleReflection } from './reflection.ts';
import { FailedRun, type Outcome, runAttempt } from './run-attempt.ts';
import { type Attempt, type ExecuteOptions, type Execution, isChecked, noSteps, runFlight } from './run-flight.ts';

/** Runs a request. Errors of clients, operators and the database are in the outcome. */
export async function executeOperation(options: ExecuteOptions, execution: Execution): Promise<Outcome> {
  const arrival = performance.now();
  let since: number | null = null;
  let wasTriedAgain = false;
  for (let attempts = 1; ; attempts++) {
    const role = await roleOf(options, execution, since);
    const attempt: Attempt = { role, isFresh: since !== null };
    try {
      return await runAttempt(options, execution, attempt);
    } catch (error) {
      const cause = error instanceof FailedRun ? error.cause : error;
      const newer: number | null = await requiredModelTime(options, execution, { attempt, cause, arrival });
      if (newer === null) {
        if (attempts === maxAttempts || !mayHaveChangedBack(cause, wasTriedAgain)) return failedOutcome(error);
        wasTriedAgain ||= mayStay(cause);
        continue;
      }
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
  const { caller, context } = execution;
  const { role: name } = caller;
  const { reflector } = options;
  // A live query that has run on an old model would run no more for the change.
  const mayBeOld = since === null && context.isLive !== true;
  let role: RoleReflection | null;
  try {
    role = await (mayBeOld ? reflector.answering(name) : reflector.role(name, since));
  } catch (error) {
    throw isUnreadable(error) ? new PublicError('UNAVAILABLE', unreadable, { cause: error }) : error;
  }
  if (role === null) throw new PublicError('ROLE_NOT_ALLOWED', `The role "${name}" does not exist.`);
  return role;
}

const changesTooFast = 'The schema is changing faster than it can be read. Try again.';
const unreadable = 'The schema could not be read from the database. Try again in a moment.';

/** The server refused a system statement, which is not the request's fault. */
function isUnreadable(error: unknown): boolean {
  return error instanceof DatabaseError && (error.kind === 'statement' || error.kind === 'timeout');
}

/** Limit of a request's attempts. A third is needed only if the schema changes during every attempt. */
const maxAttempts = 12;

/**
 * The time after which the catalog must be read for another attempt; null if the failure is unrelated to the model.
 *
 * The flight's check found the model stale: nothing ran, and a model read after the request arrived is new enough. The
 * database refused with an error that a catalog change explains: all is rolled back, and the change may have come after
 * the check, so the model must be read from now on.
 */
async function requiredModelTime(
  options: ExecuteOptions,
  execution: Execution,
  failure: { readonly attempt: Attempt; readonly cause: unknown; readonly arrival: number },
): Promise<number | null> {
  const { attempt, cause } = failure;
  if (!(cause instanceof DatabaseError)) return null;
  if (cause.kind === 'stale') return failure.arrival;
  if (cause.kind !== 'statement' || !isOfOutdated(cause)) return null;
  // The catalog of now has refused the row, whatever the model.
  if (cause.violatesPolicy) return null;
  const now = performance.now();
  // The check itself fails if the trigger was removed meanwhile; the next model accounts for that.
  if (cause.step === 0) return attempt.role.catalog.hasChangeTrigger && isAboutOurTrigger(cause) ? now : null;
  const isOutdated = isChecked(options, attempt)
    ? await isStale(options, execution, attempt)
    : await options.reflector.refreshAfterRefusal(attempt.role.catalog);
  return isOutdated ? now : null;
}

/**
 * Whether a name or type of our own statement did not exist, or the role lacked a privilege. If the model is as the catalog is now, the
 * catalog may have changed and changed back meanwhile: the same statement may run again. What may stay so is tried only once more.
 */
function mayHaveChangedBack(cause: unknown, wasTriedAgain: boolean): boolean {
  if (!(cause instanceof DatabaseError) || cause.kind !== 'statement' || cause.step === 0) return false;
  if (mayStay(cause)) return !wasTriedAgain;
  return cause.position !== null && isOfOutdated(cause);
}

/** The owner of a view may lack a privilege for good, and a function of users may always ask for something that is not there. */
function mayStay(cause: unknown): boolean {
  return cause instanceof DatabaseError && (cause.lacksPrivilege || isOfDropped(cause));
}

function isAboutOurTrigger({ primary }: DatabaseError): boolean {
  return primary.includes('catalog_change') || primary.includes('pgreflect');
}

async function isStale(options: ExecuteOptions, execution: Execution, attempt: Attempt): Promise<boolean> {
  try {
    await runFlight(options, execution, { ...attempt, isFresh: false }, noSteps);
    return false;
  } catch (error) {
    if (error instanceof DatabaseError && error.kind === 'stale') return true;
    throw error;
  }
}

function isOfOutdated(cause: DatabaseError): boolean {
  return isOfDropped(cause) || (cause.sqlstate !== null && outdatedStates.has(cause.sqlstate));
}

/** SQLSTATEs for statements whose tables, columns, types or functions changed after they were printed. */
const outdatedStates: ReadonlySet<string> = new Set([
  '0A000', '3F000', '42501', '42601', '42702', '42703', '42704', '42725', '42804', '42809', '42846', '42883', '42P01', '42P02', '42P10', '428C9',
]); // biome-ignore format: a table of codes
