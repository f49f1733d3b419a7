/**
 * Text that PostgreSQL cannot hold: the character NUL, and halves of surrogate pairs, which are no characters and would
 * be replaced on their way to the server. Refused before anything runs, because the server's own message names no place.
 */
import type { Path } from './slot.ts';

/** NUL, or part of a surrogate pair, which most texts have none of. */
const suspicious = /[\0\ud800-\udfff]/;

/** What is wrong with a text, null where PostgreSQL can hold it. */
export function textProblem(text: string): string | null {
  if (!suspicious.test(text)) return null;
  if (text.includes('\0')) return 'the character U+0000';
  return text.isWellFormed() ? null : 'half of a surrogate pair';
}

/** The first string inside a value that cannot be stored, with what is wrong (`the character U+0000`); null without one. */
export function findUnstorable(
  value: unknown,
  path: Path = [],
): { readonly path: Path; readonly problem: string } | null {
  if (typeof value === 'string') {
    const problem = textProblem(value);
    return problem === null ? null : { path, problem };
  }
  if (value === null || typeof value !== 'object') return null;
  const entries = Array.isArray(value) ? value.entries() : Object.entries(value);
  for (const [step, item] of entries) {
    // Asked here as well, so that a path is made for what may be refused and for nothing else.
    if (typeof item === 'string' ? textProblem(item) === null : typeof item !== 'object') continue;
    const found = findUnstorable(item, [...path, step]);
    if (found !== null) return found;
  }
  return null;
}

/** `$objects[0].title`. */
export function printPath(path: Path): string {
  const [variable, ...rest] = path;
  // A key of the coerced variables may carry the type of the place after a `#`.
  const name = String(variable).split('#')[0];
  return `$${name}${rest.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('')}`;
}
