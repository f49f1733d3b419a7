/**
 * Who may read the captured emails (operations.md, "HTTP surface"): holders of an access token, and with `pgreflect start` also
 * people on this machine.
 *
 * Emails carry codes and links that sign people in. "On this machine" therefore means that the browser asked for a
 * loopback name itself: a page of another site that makes the browser ask, a name that somebody points at 127.0.0.1, and
 * a proxy on this machine that forwards strangers are all refused. What a server stands behind cannot be told from its requests:
 * a proxy may send no header that tells of it, so `serve` takes nobody's word for being local.
 */
import type { FastifyRequest } from 'fastify';

/** Whether a token is an access token that may read this project's configuration. */
export type VerifyAccessToken = (token: string) => boolean | Promise<boolean>;

/**
 * Whether the request may read the inbox.
 *
 * @param isOpen Whether people on this machine need no token.
 */
export async function mayReadInbox(
  request: FastifyRequest,
  { isOpen, verify }: { readonly isOpen: boolean; readonly verify: VerifyAccessToken },
): Promise<boolean> {
  if (isOpen && isLocal(request)) return true;
  const token = givenToken(request.headers.authorization);
  return token !== null && (await verify(token));
}

function isLocal({ headers, socket }: FastifyRequest): boolean {
  if (!isLoopbackAddress(socket.remoteAddress ?? '')) return false;
  if (['x-forwarded-for', 'x-forwarded-host', 'forwarded', 'x-real-ip', 'via'].some((name) => name in headers))
    return false;
  if (!isLoopbackHost(headers.host ?? '')) return false;
  const site = headers['sec-fetch-site'];
  // A link on another page may lead here; anything that could read the answer, or frame it, may not.
  if (site === 'cross-site' || site === 'same-site') return headers['sec-fetch-dest'] === 'document';
  const { origin } = headers;
  return origin === undefined || origin === `http://${headers.host}` || origin === `https://${headers.host}`;
}

function isLoopbackAddress(address: string): boolean {
  return /^(::ffff:)?127\./.test(address) || address === '::1';
}

function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase().replace(/:\d+$/, '');
  return /^([a-z0-9-]+\.)*localhost$/.test(name) || /^127(\.\d{1,3}){3}$/.test(name) || name === '[::1]';
}

/** A Bearer token, or the password of a browser's log-in window. */
function givenToken(authorization: string | undefined): string | null {
  const [, scheme = '', value = ''] = /^(\w+) +(\S+)$/.exec(authorization ?? '') ?? [];
  if (scheme.toLowerCase() === 'bearer') return value;
  if (scheme.toLowerCase() !== 'basic') return null;
  const pair = Buffer.from(value, 'base64').toString('utf8');
  return pair.slice(pair.indexOf(':') + 1) || null;
}
