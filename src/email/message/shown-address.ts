/**
 * The hidden form of the recipient's address, `a***@example.com`, that a link carries for the page that asks first.
 *
 * The link carries it, because a page that looked the token up would tell every scanner whether it is still valid. A
 * stamp binds it to the token: a forged link cannot name another address than the one the link was sent to.
 */
import { createHmac } from 'node:crypto';

/** `ada@example.com` -> `a***@example.com`. */
export function maskAddress(address: string): string {
  const [first = ''] = address;
  const at = address.lastIndexOf('@');
  return `${first}***${at === -1 ? '' : address.slice(at)}`;
}

/** The hidden address with its stamp. @param key From `deriveKey`. */
export function stampAddress(key: Buffer, linkToken: string, address: string): string {
  const shown = maskAddress(address);
  return `${shown}.${stampOf(key, linkToken, shown)}`;
}

/** The hidden address of a link; empty if it has none, or one that was not stamped for this token. @param keys From `deriveKeys`. */
export function readStamped(keys: readonly Buffer[], linkToken: string, stamped: string): string {
  const end = stamped.lastIndexOf('.');
  const shown = stamped.slice(0, Math.max(0, end));
  return keys.some((key) => stamped.slice(end + 1) === stampOf(key, linkToken, shown)) ? shown : '';
}

/** 22 characters: 128 bits. */
function stampOf(key: Buffer, linkToken: string, shown: string): string {
  const hmac = createHmac('sha256', key).update(JSON.stringify([linkToken, shown]));
  return hmac.digest('base64url').slice(0, 22);
}
