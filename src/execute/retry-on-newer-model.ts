/**
 * Decides whether a failed request runs again, and how new the model for it must be.
 */
import { DatabaseError } from '../postgres/database-error.ts';
import { type Attempt, type ExecuteOptions, type Execution, isChecked, noSteps, runFlight } from './run-flight.ts';

/**
 * Limit of a request's attempts. Normally the second attempt succeeds; more are needed only if the schema changes
 * during every attempt.
 */
export const maxAttempts = 6;

/**
 * The time after which the catalog must be read for another attempt; null if the failure is unrelated to the model.
 *
 * The flight's check found the model stale: nothing ran, and a model read after the request arrived is new enough. The
 * database refused with an error that a catalog change explains: all is rolled back, and the change may have come after
 * the check, so the model must be read from now on.
 */
export async function requiredModelTime(
  options: ExecuteOptions,
  execution: Execution,
  failure: { readonly attempt: Attempt; readonly cause: unknown; readonly arrival: number },
): Promise<number | null> {
  const { attempt, cause } = failure;
  if (!(cause instanceof DatabaseError)) return null;
  if (cause.kind === 'stale') return failure.arrival;
  if (cause.kind !== 'statement' || cause.sqlstate === null || !outdatedStates.has(cause.sqlstate)) return null;
  const now = performance.now();
  // The check itself fails if the trigger was removed meanwhile; the next model accounts for that.
  if (cause.step === 0) return attempt.role.catalog.watched && isAboutOurTrigger(cause) ? now : null;
  const isOutdated = isChecked(options, attempt)
    ? await isStale(options, execution, attempt)
    : await options.reflector.refreshIfChanged('refused');
  return isOutdated ? now : null;
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

/** SQLSTATEs for statements whose tables, columns, types or functions changed after they were printed. */
const outdatedStates: ReadonlySet<string> = new Set([
  '0A000', '3F000', '42501', '42601', '42702', '42703', '42704', '42725', '42804', '42809', '42846', '42883', '42P01', '42P02', '42P10', '428C9',
]); // biome-ignore format: a table of codes
