/** SQL names as people write them, quoted if needed: for messages and SQL to paste. System statements quote all. */
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
