/** How a request ended, for the metrics and for what operators see of the last hour. */
import type { RequestObservation } from '../../shared/observation.ts';

/** How requests end. `refused`: by a rate limit, or because of overload. */
export const outcomes = ['success', 'client_error', 'server_error', 'refused', 'aborted'] as const;

/** One of them. */
export type RequestOutcome = (typeof outcomes)[number];

/** Codes that are no fault of the client although their status may be 200. */
const serverCodes: ReadonlySet<string> = new Set([
  'INTERNAL',
  'UNAVAILABLE',
  'TIMEOUT',
  'unexpected_failure',
  'request_timeout',
]);

/** How it ended. */
export function outcomeOf({ aborted, shed, status, codes }: RequestObservation): RequestOutcome {
  if (aborted) return 'aborted';
  if (shed || status === 429) return 'refused';
  if (status >= 500) return 'server_error';
  if (codes.length === 0) return status < 400 ? 'success' : 'client_error';
  return codes.some((code) => serverCodes.has(code)) ? 'server_error' : 'client_error';
}
