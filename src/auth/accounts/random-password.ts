/**
 * Passwords that nobody knows, for users who sign in without one.
 */

import { type Random, randomText } from '../random.ts';
import { splitCharacterSets } from '../secrets/password-policy.ts';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** A random password with at least one character of each required set. @param length Without those. */
export function makePassword(random: Random, length: number, requiredCharacters: string): string {
  const required = splitCharacterSets(requiredCharacters).map((set) => randomText(random, set, 1));
  return `${randomText(random, alphabet, length)}${required.join('')}`;
}
