/** Compares secrets without telling by the time where they differ. */
import { hash, timingSafeEqual } from 'node:crypto';

/** Compares two texts in constant time. */
export function sameText(a: string, b: string): boolean {
  const digest = (text: string) => hash('sha256', text, 'buffer');
  return timingSafeEqual(digest(a), digest(b)) && a.length === b.length;
}

/** Compares a signature with the right one in constant time. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
