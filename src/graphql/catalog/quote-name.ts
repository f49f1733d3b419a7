/**
 * SQL names as people write them: quoted only if PostgreSQL requires it. For messages and SQL that an operator pastes;
 * system statements quote every name.
 */
import { reservedWords } from './reserved-words.ts';

const reserved: ReadonlySet<string> = new Set(reservedWords.split(' '));

/** One identifier, `loan` or `"Loan"`. */
export function quoteName(name: string): string {
  const isPlain = /^[a-z_][a-z0-9_$]*$/.test(name) && !reserved.has(name);
  return isPlain ? name : quoteAlways(name);
}

/** One identifier in quotes, `"loan"`. */
export function quoteAlways(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Identifiers joined by dots, `lib.loan.due_on`. */
export function quotePath(...names: readonly string[]): string {
  return names.map(quoteName).join('.');
}
