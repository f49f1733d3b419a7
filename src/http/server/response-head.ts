/**
 * The head of every answer, whoever writes it: the framework's hooks, or we ourselves where its way would cost too much.
 */
import type { ServerResponse } from 'node:http';
import { anyOriginHeaders } from './cors.ts';
import { retryAfterSeconds } from './error-body.ts';

/** Browsers believe the type that we say. */
export const sniffHeaders = { 'x-content-type-options': 'nosniff' } as const;

/** What every answer has; a route may say something else about caching. */
export function commonHeaders(id: string) {
  return { 'x-request-id': id, 'cache-control': 'no-store', ...sniffHeaders };
}

/** What tells one answer from another. */
export interface RawHead {
  readonly id: string;
  readonly type: string;
  /** Null: not known yet. */
  readonly bytes: number | null;
  /** Names and values in turn, in place of those for all origins. */
  readonly more?: readonly string[];
}

/** Writes a head past the framework, which would put the same headers together one by one. */
export function writeRawHead(
  response: ServerResponse,
  status: number,
  { id, type, bytes, more = anyOrigin }: RawHead,
): void {
  const own = ['content-type', `${type}; charset=utf-8`, 'x-request-id', id];
  if (bytes !== null) own.push('content-length', String(bytes));
  const retryAfter = retryAfterSeconds(status);
  if (retryAfter !== null) own.push('retry-after', String(retryAfter));
  response.writeHead(status, own.concat(fixed, more));
}

const anyOrigin = Object.entries(anyOriginHeaders).flat();
const fixed = ['vary', 'Accept-Encoding', 'cache-control', 'no-store', ...Object.entries(sniffHeaders).flat()];
