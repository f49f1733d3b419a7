/**
 * The id of a request: the client's `X-Request-Id` where it is harmless, else a new one. It is logged and sent back, so
 * only short ids of a safe alphabet are taken over.
 */
import { randomUUID } from 'node:crypto';

const harmless = /^[A-Za-z0-9][A-Za-z0-9._:@/+=-]{0,127}$/;

/** Takes over the given id of at most 128 characters, or makes a UUID. */
export function requestId(given: string | readonly string[] | undefined): string {
  return typeof given === 'string' && harmless.test(given) ? given : randomUUID();
}
