/**
 * Fails a test file that has made the product send a statement with a name that others could capture (qualified-names.ts).
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { findBareNames } from './qualified-names.ts';
import { childFile, noteSent, type SentStatement, takeSent } from './sent-statements.ts';

/** @throws Error with each such statement, its names, and the start of its text. */
export function checkSentStatements(): void {
  if (existsSync(childFile)) {
    const lines = readFileSync(childFile, 'utf8').split('\n');
    rmSync(childFile);
    for (const line of lines) if (line.endsWith('}')) noteSent(JSON.parse(line) as SentStatement);
  }
  const problems: string[] = [];
  for (const statement of takeSent()) {
    const names = bareNames(statement);
    const path = statement.path === 'pinned' ? 'the pinned path' : 'a path that is not pinned';
    if (names.length > 0) problems.push(`with ${path}: ${names.join(', ')} in: ${statement.text.slice(0, 2000)}`);
  }
  if (problems.length > 0) throw new Error(`Names that others could capture:\n\n${problems.join('\n\n')}`);
}

function bareNames({ text, path }: SentStatement): readonly string[] {
  try {
    return findBareNames(text, path);
  } catch (problem) {
    return [`what cannot be parsed (${String(problem)})`];
  }
}
