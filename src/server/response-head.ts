/** The head of every response, written by the framework's hooks, or directly where those would cost too much. */
import type { ServerResponse } from 'node:http';
import { anyOriginHeaders } from './cors.ts';

/** Browsers must not guess the content type. */
export const sniffHeaders = { 'x-content-type-options': 'nosniff' } as const;

/** Headers of every response; a route may override caching. */
export function commonHeaders(id: string) {
  return { 'x-request-id': id, 'cache-control': 'no-store', ...sniffHeaders };
}

/** The variable parts of a head. */
interface RawHead {
  readonly id: string;
  readonly type: string;
  readonly bytes: number;
}

/** Writes the head of a success, with the CORS headers for all origins, without the framework, which would assemble the same headers one by one. */
export function writeRawHead(response: ServerResponse, { id, type, bytes }: RawHead): void {
  const own = ['content-type', `${type}; charset=utf-8`, 'x-request-id', id, 'content-length', String(bytes)];
  response.writeHead(200, own.concat(fixed, anyOrigin));
}

const anyOrigin = Object.entries(anyOriginHeaders).flat();
const fixed = ['vary', 'Accept-Encoding', 'cache-control', 'no-store', ...Object.entries(sniffHeaders).flat()];
