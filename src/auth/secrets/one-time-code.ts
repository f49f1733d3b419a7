/**
 * One-time codes and their hashes: the email carries the code, the database the hash.
 *
 * The hash covers the address as well, so a code works only for the address it was sent to. Links carry a random token,
 * not the hash of the guessable code. The PKCE flow marks both with a prefix.
 */
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { sameText } from '../../shared/same-text.ts';

/** Start of the hashes of the PKCE flow. */
export const pkcePrefix = 'pkce_';

/** A code of `digits` decimal digits, all equally likely. Lengths other than 6 to 10 count as 6. */
export function makeCode(digits: number): string {
  const length = digits >= 6 && digits <= 10 ? digits : 6;
  return String(randomInt(10 ** length)).padStart(length, '0');
}

/** Hex of SHA-224 over address and code. @param address An email address in lower case, or digits. */
export function hashCode(address: string, code: string): string {
  return createHash('sha224').update(address).update(code).digest('hex');
}

/** The token of a link: random text with the length of a hash. */
export function makeLinkToken(): string {
  return randomBytes(28).toString('hex');
}

/** Whether a link or hash belongs to the PKCE flow. */
export function isPkceHash(hash: string): boolean {
  return hash.startsWith(pkcePrefix);
}

/** Whether the stored value is that hash, with or without the prefix. Compares in constant time. */
export function matchesHash(stored: string, hash: string): boolean {
  const bare = stored.startsWith(pkcePrefix) ? stored.slice(pkcePrefix.length) : stored;
  return sameText(bare, hash);
}
