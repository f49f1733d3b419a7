/**
 * The section of `--help` for start values of the auth configuration, by heading. These flags are long, so their
 * meaning is on the next line.
 */
import { type AuthReferenceEntry, authReference } from '../config/auth/auth-reference.ts';

/** The text, without a final line break. @param width Characters per line. */
export function printAuthFlags(width: number): string {
  const sections = [...authReference()].map(([heading, rows]) =>
    [`${heading}:`, ...printWords(rows, width), ...rows.map((row) => printRow(row, width))].join('\n'),
  );
  return sections.join('\n\n');
}

/** Explains the words in capitals once. */
function printWords(rows: readonly AuthReferenceEntry[], width: number): readonly string[] {
  const words = new Map(
    rows.flatMap(({ word }) => (word === null ? [] : [[word.placeholder, word.standsFor] as const])),
  );
  return [...words].flatMap(([placeholder, standsFor]) =>
    wrap(`${placeholder} is one of ${standsFor.join(', ')}.`, width, '  '),
  );
}

function printRow(
  { flag, placeholder, doc, default: fallback, environment }: AuthReferenceEntry,
  width: number,
): string {
  const value = placeholder === null ? '[true|false]' : `<${placeholder}>`;
  const facts = [...(fallback === null ? [] : [`default: ${fallback}`]), `environment: ${environment.join(', ')}`];
  return [`  ${flag} ${value}`, ...wrap(`${doc} (${facts.join('; ')})`, width, '        ')].join('\n');
}

function wrap(text: string, width: number, indent: string): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length >= width) lines.push(indent + word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
