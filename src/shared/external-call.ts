/** Observes calls to other services: how long they took, and how they ended; as a part of the current span, too. */
import type { ExternalCall, Observe } from './observation.ts';
import { inSpan } from './trace/current-span.ts';

/** @param isRefusal Whether the error is the other's answer, such as a refused recipient, and no failure. */
export async function observeCall<T>(
  observe: Observe,
  call: Pick<ExternalCall, 'service' | 'name'>,
  run: () => Promise<T>,
  isRefusal: (error: unknown) => boolean = () => false,
): Promise<T> {
  const since = performance.now();
  const ended = (outcome: ExternalCall['outcome']) =>
    observe({ kind: 'external_call', ...call, outcome, durationMs: performance.now() - since });
  try {
    const answer = await inSpan({ name: `${call.service} ${call.name}`, kind: 'internal' }, run);
    ended('success');
    return answer;
  } catch (error) {
    ended(isRefusal(error) ? 'refused' : 'failed');
    throw error;
  }
}
