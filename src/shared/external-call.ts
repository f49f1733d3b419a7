/** Observes calls to other services: how long they took, and how they ended; as a part of the current span, too. */
import type { ExternalCall, Observe } from './observation.ts';
import { inSpan } from './trace/current-span.ts';

/** How a call did not succeed. */
export type FailedOutcome = Exclude<ExternalCall['outcome'], 'success'>;

/** @param outcomeOf What an error of the call is; default: a failure. */
export async function observeCall<T>(
  observe: Observe,
  call: Pick<ExternalCall, 'service' | 'name'>,
  run: () => Promise<T>,
  outcomeOf: (error: unknown) => FailedOutcome = () => 'failed',
): Promise<T> {
  const since = performance.now();
  const ended = (outcome: ExternalCall['outcome']) =>
    observe({ kind: 'external_call', ...call, outcome, durationMs: performance.now() - since });
  try {
    const answer = await inSpan({ name: `${call.service} ${call.name}`, kind: 'internal' }, run);
    ended('success');
    return answer;
  } catch (error) {
    ended(outcomeOf(error));
    throw error;
  }
}
