/** Whether a browser on this machine asks: with `pgreflect start`, it may see what others need an access token for. */
import type { FastifyRequest } from 'fastify';
import { isLoopbackHost } from '../../shared/loopback.ts';

/**
 * Captured emails contain codes and links that sign in. "On this machine" therefore requires that the browser itself requested a
 * loopback name. Refused are: requests caused by pages of other sites, names that resolve to 127.0.0.1, and proxies on
 * this machine. `serve` never counts a request as local, because a proxy may add no header that reveals it.
 */
export function isFromHere({ headers, socket }: FastifyRequest): boolean {
  if (!/^((::ffff:)?127\.|::1$)/.test(socket.remoteAddress ?? '')) return false;
  if (['x-forwarded-for', 'x-forwarded-host', 'forwarded', 'x-real-ip', 'via'].some((name) => name in headers))
    return false;
  if (!isLoopbackHost(headers.host)) return false;
  const site = headers['sec-fetch-site'];
  // A link from another page may open this; a request that could read or frame the answer may not.
  if (site === 'cross-site' || site === 'same-site') return headers['sec-fetch-dest'] === 'document';
  const { origin } = headers;
  return origin === undefined || origin === `http://${headers.host}` || origin === `https://${headers.host}`;
}
