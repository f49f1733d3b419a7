/** Names the SQL files of the folder where the example is loaded although nobody has asked for it. */
import { readdirSync } from 'node:fs';
import { onOneLine } from '../../shared/one-line.ts';
import { quoteForShell } from '../../shared/quote-for-shell.ts';
import type { LocalProject } from '../shared/local-project.ts';
import type { Content } from './fill-database.ts';

/** Most files that are named. */
const maxNamed = 5;

/** @returns Null where there is none, or the database is filled already. */
export function unusedScripts(
  folder: string,
  project: Pick<LocalProject, 'content'>,
  content: Pick<Content, 'kind'>,
): string | null {
  if (project.content !== null || content.kind !== 'example') return null;
  const entries = readdirSync(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isFile() && entry.name.endsWith('.sql')).map(({ name }) => name);
  const [first] = names;
  if (first === undefined) return null;
  const shown = inOrder(names).slice(0, maxNamed).map(onOneLine).join(', ');
  const rest = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : '';
  const reset = 'pgreflect start --reset --schema-file';
  const commands =
    names.length === 1
      ? `  ${reset} ${quoteForShell(first)}`
      : `  cat ${inOrder(names).slice(0, maxNamed).map(quoteForShell).join(' ')} > all.sql\n  ${reset} all.sql`;
  return `Not loaded, because no --schema-file names it: ${shown}${rest}. To load ${names.length === 1 ? 'it' : 'them'} instead of the example:\n${commands}`;
}

/** Tables come before their rows. */
function inOrder(names: readonly string[]): readonly string[] {
  const isOfRows = (name: string) => Number(/data|seed/i.test(name));
  return [...names].sort((one, other) => isOfRows(one) - isOfRows(other) || (one < other ? -1 : 1));
}
