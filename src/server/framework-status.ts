/**
 * The status of an error of the HTTP framework. Errors of other programs have statuses too, such as those of servers that
 * we ask: they say nothing of the request, and count as our own failures.
 */
import type { FastifyError } from 'fastify';

/** Null for any error that neither the framework nor its file server has made. */
export function frameworkStatus(error: unknown): number | null {
  const { code, statusCode, status, expose } = (error ?? {}) as Partial<FastifyError> & {
    readonly status?: unknown;
    readonly expose?: unknown;
  };
  // The file server makes errors without a code.
  const isOfFile = typeof expose === 'boolean' && status === statusCode;
  return (isOfFile || code?.startsWith('FST_')) && statusCode !== undefined ? statusCode : null;
}
