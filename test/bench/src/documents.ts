/**
 * Writes what was measured into the documents: tables between their markers, plots, and a line of the history.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nextHistory, type Past } from './history.ts';
import { plotCases, plotConnections } from './plots.ts';
import { printSections, type Report } from './report.ts';

const documents = ['README.md', 'docs/performance.md', 'test/bench/results.md'];

/** Writes the sections that were measured; the others stay as they are. Throws, before anything is written, when one has no place. */
export function writeDocuments(root: string, report: Report): void {
  const texts = documents.map((path) => ({ path: join(root, path), text: readFileSync(join(root, path), 'utf8') }));
  const sections = printSections(report);
  for (const name of sections.keys())
    if (!texts.some(({ text }) => text.includes(`<!-- ${name} -->`)))
      throw new Error(`No document has the marker "<!-- ${name} -->".`);
  for (const { path, text } of texts) writeFileSync(path, fillMarkers(text, sections));
  if (report.comparison === null) return;
  const { rows, connections } = report.comparison;
  writeFileSync(join(root, 'test/bench/results-cases.svg'), plotCases(rows));
  if (connections.length > 0)
    writeFileSync(join(root, 'test/bench/results-connections.svg'), plotConnections(connections));
  const history = join(root, 'test/bench/results-history.json');
  const past = existsSync(history) ? (JSON.parse(readFileSync(history, 'utf8')) as Past[]) : [];
  writeFileSync(history, `${JSON.stringify(nextHistory(past, report, report.comparison), null, 2)}\n`);
}

/** Puts each section between its markers, where the text has them. */
export function fillMarkers(text: string, sections: ReadonlyMap<string, string>): string {
  return [...sections].reduce(
    (filled, [name, section]) =>
      filled.replace(
        new RegExp(`(<!-- ${name} -->\\n)[\\s\\S]*?(<!-- /${name} -->)`),
        (_, begin: string, end: string) => `${begin}${section}${end}`,
      ),
    text,
  );
}
