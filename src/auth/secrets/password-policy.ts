/**
 * The policy for new passwords: length, required characters, not leaked.
 *
 * Sign-in only reports violations (`weak_password` in the session) and does not refuse them.
 */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import { randomText } from '../../shared/random.ts';
import { AuthError, type WeakPasswordReason } from '../model/auth-error.ts';
import type { IsPwned } from './leaked-passwords.ts';
import { assertNotTooLong } from './passwords.ts';

type PasswordPolicy = Pick<
  AuthConfig,
  'password_min_length' | 'password_required_characters' | 'password_hibp_enabled'
>;

/** How a password violates the policy. */
export interface PasswordWeakness {
  /** One sentence per reason, joined by a blank. */
  readonly message: string;
  readonly reasons: readonly WeakPasswordReason[];
}

/** Checks a password against the policy; null if it conforms. */
export async function findWeakness(
  password: string,
  policy: PasswordPolicy,
  isPwned: IsPwned,
): Promise<PasswordWeakness | null> {
  const found: [WeakPasswordReason, string][] = [];
  if (Buffer.byteLength(password) < policy.password_min_length) {
    found.push(['length', `Password should be at least ${policy.password_min_length} characters.`]);
  }
  const sets = splitCharacterSets(policy.password_required_characters);
  if (!sets.every((set) => [...set].some((character) => password.includes(character)))) {
    found.push(['characters', `Password should contain at least one character of each: ${sets.join(', ')}.`]);
  }
  if (policy.password_hibp_enabled && (await isPwned(password))) {
    found.push(['pwned', 'Password is known to be weak and easy to guess, please choose a different one.']);
  }
  if (found.length === 0) return null;
  return { reasons: found.map(([reason]) => reason), message: found.map(([, message]) => message).join(' ') };
}

/** @throws AuthError `validation_failed` (too long), `weak_password`. */
export async function assertStrong(password: string, policy: PasswordPolicy, isPwned: IsPwned): Promise<void> {
  assertNotTooLong(password);
  const weakness = await findWeakness(password, policy, isPwned);
  if (weakness) throw new AuthError('weak_password', weakness.message, { weakPassword: weakness.reasons });
}

/** `abc:0123:\:` -> the sets; `\:` is a literal colon. */
export function splitCharacterSets(text: string): readonly string[] {
  const sets: string[] = [];
  for (const part of text.split(':')) {
    const last = sets.at(-1);
    if (last?.endsWith('\\')) sets[sets.length - 1] = `${last.slice(0, -1)}:${part}`;
    else sets.push(part);
  }
  return sets.filter((set) => set !== '');
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** A random password with at least one character of each required set. @param length Without those characters. */
export function makePassword(length: number, requiredCharacters: string): string {
  const required = splitCharacterSets(requiredCharacters).map((set) => randomText(set, 1));
  return `${randomText(alphabet, length)}${required.join('')}`;
}
