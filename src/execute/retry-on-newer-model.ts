/**
 * When a request that failed is worth another run on a newer model.
 */
import { DatabaseError } from '../postgres/failure.ts';
import { type Attempt, type ExecuteOptions, type Execution, isChecked, nothing, runFlight } from './run-flight.ts';

/** Runs of one request on newer and newer models. The second is the rule; more take changes that meet every single run. */
export const maxAttempts = 6;

/**
 * From when on the catalog must be read for another run; null when the failure has nothing to do with the model.
 *
 * Stale: nothing has run, and any model read after the request arrived is new enough. Refused for what a changed catalog
 * explains: everything is undone; the change may have come after the check of the same flight, so only a newer model will
 * do.
 */
export async function repeatSince(
  options: ExecuteOptions,
  execution: Execution,
  failure: { readonly attempt: Attempt; readonly cause: unknown; readonly arrival: number },
): Promise<number | null> {
  const { attempt, cause } = failure;
  if (!(cause instanceof DatabaseError)) return null;
  if (cause.kind === 'stale') return failure.arrival;
  if (cause.kind !== 'statement' || cause.sqlstate === null || !outdatedStates.has(cause.sqlstate)) return null;
  const now = performance.now();
  // The check itself fails where the trigger was taken out meanwhile; the next model knows that there is none.
  if (cause.step === 0) return attempt.role.catalog.watched && namesOurs(cause) ? now : null;
  const isOutdated = isChecked(options, attempt)
    ? await isStale(options, execution, attempt)
    : await options.reflector.refreshIfChanged('refused');
  return isOutdated ? now : null;
}

function namesOurs({ primary }: DatabaseError): boolean {
  return primary.includes('catalog_change') || primary.includes('pgreflect');
}

async function isStale(options: ExecuteOptions, execution: Execution, attempt: Attempt): Promise<boolean> {
  try {
    await runFlight(options, execution, { ...attempt, isFresh: false }, nothing);
    return false;
  } catch (error) {
    if (error instanceof DatabaseError && error.kind === 'stale') return true;
    throw error;
  }
}

/** What PostgreSQL says about statements whose tables, columns, types or functions have changed since they were printed. */
const outdatedStates: ReadonlySet<string> = new Set([
  '0A000', '3F000', '42501', '42601', '42702', '42703', '42704', '42725', '42804', '42809', '42846', '42883', '42P01', '42P02', '42P10', '428C9',
]); // biome-ignore format: a table of codes
