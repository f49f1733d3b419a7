/**
 * Fails a test file that has made the product send a statement with a name that others could capture (qualified-names.ts), or that
 * `safeupdate` refuses (unlimited-writes.ts).
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { findBareNames } from './qualified-names.ts';
import { childFile, noteSent, type SentStatement, takeSent } from './sent-statements.ts';
import { findUnlimitedWrites } from './unlimited-writes.ts';

/** @throws Error with each such statement, its names, and the start of its text. */
export function checkSentStatements(): void {
  if (existsSync(childFile)) {
    const lines = readFileSync(childFile, 'utf8').split('\n');
    rmSync(childFile);
    for (const line of lines) if (line.endsWith('}')) noteSent(JSON.parse(line) as SentStatement);
  }
  const problems: string[] = [];
  const unlimited: string[] = [];
  for (const statement of takeSent()) {
    if (isUnlimited(statement)) unlimited.push(statement.text.slice(0, 2000));
    const names = bareNames(statement);
    const path = statement.path === 'pinned' ? 'the pinned path' : 'a path that is not pinned';
    if (names.length > 0) problems.push(`with ${path}: ${names.join(', ')} in: ${statement.text.slice(0, 2000)}`);
  }
  if (problems.length > 0) throw new Error(`Names that others could capture:\n\n${problems.join('\n\n')}`);
  if (unlimited.length > 0) throw new Error(`Writes without a where:\n\n${unlimited.join('\n\n')}`);
}

function isUnlimited({ text }: SentStatement): boolean {
  // Most statements read.
  return /\b(?:update|delete)\b/i.test(text) && findUnlimitedWrites(text).length > 0;
}

function bareNames({ text, path }: SentStatement): readonly string[] {
  try {
    return findBareNames(text, path);
  } catch (problem) {
    return [`what cannot be parsed (${String(problem)})`];
  }
}
