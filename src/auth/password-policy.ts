/**
 * What a new password must be like: long enough, of the required characters, not known from leaks.
 *
 * Log-in does not refuse by the policy, it only reports (`weak_password` in the session).
 */
import { createHash } from 'node:crypto';
import type { AuthConfig } from '../config/auth-config.ts';
import { AuthError, type WeakPasswordReason } from './auth-error.ts';
import { assertNotTooLong } from './passwords.ts';

/** The fields that make the policy. */
export type PasswordPolicy = Pick<
  AuthConfig,
  'password_min_length' | 'password_required_characters' | 'password_hibp_enabled'
>;

/** Whether a password is in a public list of leaked ones. Resolves to false where nobody can tell. */
export type IsPwned = (password: string) => Promise<boolean>;

/** What is wrong with a password. */
export interface PasswordWeakness {
  /** One sentence per reason, joined by a blank. */
  readonly message: string;
  readonly reasons: readonly WeakPasswordReason[];
}

/** What the policy has against a password; null for nothing. */
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

/** `abc:0123:\:` -> the sets; a colon behind a backslash is a character. */
export function splitCharacterSets(text: string): readonly string[] {
  const sets: string[] = [];
  for (const part of text.split(':')) {
    const last = sets.at(-1);
    if (last?.endsWith('\\')) sets[sets.length - 1] = `${last.slice(0, -1)}:${part}`;
    else sets.push(part);
  }
  return sets.filter((set) => set !== '');
}

/** How long the list of leaked passwords may take to answer, in milliseconds. */
const pwnedTimeoutMs = 5000;

/**
 * Asks the public list by the first five digits of the password's SHA-1, so that nobody there learns the password.
 *
 * Where the list cannot be asked, every password counts as unknown to it.
 */
export function createPwnedCheck(fetchText: typeof fetch): IsPwned {
  return async (password) => {
    const digest = createHash('sha1').update(password).digest('hex').toUpperCase();
    try {
      const address = `https://api.pwnedpasswords.com/range/${digest.slice(0, 5)}`;
      const signal = AbortSignal.timeout(pwnedTimeoutMs);
      const response = await fetchText(address, { headers: { 'Add-Padding': 'true' }, signal });
      if (!response.ok) return false;
      const lines = (await response.text()).split(/\r?\n/);
      // Padding has the count 0.
      return lines.some((line) => line.startsWith(`${digest.slice(5)}:`) && !line.endsWith(':0'));
    } catch {
      return false;
    }
  };
}
