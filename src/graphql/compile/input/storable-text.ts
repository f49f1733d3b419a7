/**
 * Text that PostgreSQL cannot store: NUL, and lone surrogates, which would be replaced on the way. Refused before
 * anything runs, because the server's message names no place.
 */
import type { Path } from './slot.ts';
import { agreed, isDistinct } from './variable-path.ts';

/** NUL, or a surrogate, which most texts lack. */
const suspicious = /[\0\ud800-\udfff]/;

/** The fault of a text, null if PostgreSQL can store it. */
export function textProblem(text: string): string | null {
  if (!suspicious.test(text)) return null;
  if (text.includes('\0')) return 'the character U+0000';
  return text.isWellFormed() ? null : 'half of a surrogate pair';
}

/** The first string in a value that cannot be stored, with its fault (`the character U+0000`); null for none. */
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
    // Checked here as well, so that paths are made only for candidates.
    if (typeof item === 'string' ? textProblem(item) === null : typeof item !== 'object') continue;
    const found = findUnstorable(item, [...path, step]);
    if (found !== null) return found;
  }
  return null;
}

/** Prefix of the keys of values in the document that are read like variables, before the name of the argument. */
export const lifted = '@';

/** `$objects[0].title`; `updates[0].set` for a value in the document. */
export function printPath(path: Path): string {
  const [variable, ...rest] = path.filter((step) => step !== agreed && !isDistinct(step));
  // A key of the coerced variables may end with `#` and the type of its place.
  const name = String(variable).split('#')[0]!;
  // A list in the document that is read like a variable (lifted-lists.ts).
  const start = name.startsWith(lifted) ? name.slice(lifted.length) : `$${name}`;
  return `${start}${rest.map((step) => (typeof step === 'number' || step === '*' ? `[${step}]` : `.${step}`)).join('')}`;
}
