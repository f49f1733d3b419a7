/**
 * Warns if a start requests other content than the database was filled with, and shows the difference. A start never
 * changes a filled database: the schema file is read once, and its text is stored for this comparison.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTwoFilesPatch, OMIT_HEADERS } from 'diff';
import { onOneLine } from '../../shared/one-line.ts';
import { type LocalProject, writePrivate } from '../shared/local-project.ts';
import type { Content } from './fill-database.ts';

/** Most lines of a difference that are shown. */
const maxLines = 30;
/** Time limit of the comparison, in milliseconds. */
const maxMs = 1000;

/** Stores the content that a database was filled with. */
export function keepContent(directory: string, { kind, scripts }: Content): void {
  if (kind === 'file') writePrivate(loadedFile(directory), scripts.map(({ text }) => text).join('\n'));
}

function loadedFile(directory: string): string {
  return join(directory, 'loaded.sql');
}

/** @param psql A command that opens the database. @returns Null if the content is the same. */
export function describeChange(directory: string, project: LocalProject, asked: Content, psql: string): string | null {
  if (project.content === null || asked.kind === 'example') return null;
  const [script] = asked.scripts;
  const flag = script === undefined ? '--empty' : `--schema-file ${script.title}`;
  const reset = `pgreflect start --reset ${flag}`;
  if (asked.kind !== project.content) {
    const held = { example: 'the example', empty: 'a database that began empty', file: 'another schema' };
    return `Warning: this project has ${held[project.content]}, so ${flag} is ignored. To delete its data and start over:\n  ${reset}`;
  }
  if (script === undefined) return null;
  const loaded = readFileSync(loadedFile(directory), 'utf8');
  if (loaded === script.text) return null;
  return `Warning: ${script.title} differs from what the database was filled with, and is not loaded again:

${printDifference(loaded, script.text)}

To keep the data, run what changed:
  ${psql}
To delete the data and load the file:
  ${reset}`;
}

function printDifference(loaded: string, text: string): string {
  const options = { context: 1, headerOptions: OMIT_HEADERS, timeout: maxMs };
  const patch = createTwoFilesPatch('', '', loaded, text, undefined, undefined, options) as string | undefined;
  if (patch === undefined) return '  (most of it)';
  const lines = patch.trimEnd().split('\n');
  const shown = lines.slice(0, maxLines).map((line) => `  ${onOneLine(line.replaceAll('\t', '  '))}`);
  const rest = lines.length - shown.length;
  return [...shown, ...(rest > 0 ? [`  ... and ${rest} more lines`] : [])].join('\n');
}
