/** Random text for secrets that people or clients keep. */
import { randomInt } from 'node:crypto';

/** A text of `length` characters of `alphabet`, chosen uniformly. */
export function randomText(alphabet: string, length: number): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');
}
