/**
 * Requests whose body comes after their sender was checked. A client may take its time for it, and lose its rights meanwhile.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';

const slow = new WeakSet<FastifyRequest>();

/** Notes whether the body is there. To be awaited before the sender is checked. */
export async function noteSlowBody(request: FastifyRequest): Promise<void> {
  // What came together with the head is parsed by then.
  await nextTurn();
  if (!request.raw.complete) slow.add(request);
}

/** Whether the sender is to be checked again, now that the body is there. */
export function hasSlowBody(request: FastifyRequest): boolean {
  return slow.has(request);
}
