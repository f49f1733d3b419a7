/**
 * Types the sections of docs/from-supabase.md as a reader does: each block with the addresses of this run, and lines with `export`, on the
 * page or printed, hold from then on.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { startCommand } from '../commands/run-command.ts';
import type { PageWorld } from '../docs/page-world.ts';
import { type CodePart, parsePage } from '../docs/parse-page.ts';
import { runPage } from '../docs/run-page.ts';
import { findFreePort } from '../support/free-port.ts';
import { atEnd } from '../support/when-over.ts';

/** The page. */
export const page = readFileSync(join(import.meta.dirname, '../../docs/from-supabase.md'), 'utf8');

/** Where a page is typed. */
export interface Desk {
  readonly directory: string;
  /** Changed by what is typed. */
  readonly environment: Record<string, string>;
  /** Addresses on the page, and here. */
  readonly addresses: readonly (readonly [written: string, real: string])[];
}

function toReal(text: string, { addresses }: Desk): string {
  return addresses.reduce((rest, [written, real]) => rest.replaceAll(written, real), text);
}

/** A section of the page, up to the next heading. */
function sectionOf(title: string): string {
  const [, rest] = page.split(`\n${title}\n`);
  if (rest === undefined) throw new Error(`The page has no ${title}.`);
  return rest.split(/\n##+ /)[0]!;
}

/** Types the blocks of a section that the page leaves to a test file; their answers are those of the page. */
export async function type(title: string, desk: Desk, file = 'move.test.ts'): Promise<void> {
  const { directory, environment } = desk;
  const section = sectionOf(title).replaceAll(`<!-- not run: test/migrations/${file} runs it -->\n`, '');
  for (const [, name = '', value = ''] of section.matchAll(/^export (\w+)=(\S+)$/gm))
    environment[name] = toReal(value, desk);
  const toWritten = (text: string) => {
    for (const [, name = '', value = ''] of text.matchAll(/export (\w+)='(.*)'/g)) environment[name] = value;
    return text;
  };
  const world = { directory, environment, toReal: (text: string) => toReal(text, desk), toWritten };
  expect(await runPage(parsePage(section), world as unknown as PageWorld)).toBe(section);
}

/** Starts what a section serves, until the tests of the file are over. @returns Its address. */
export async function serve(title: string, desk: Desk, env: Readonly<Record<string, string>>): Promise<string> {
  const { directory, environment } = desk;
  const block = parsePage(sectionOf(title)).parts.find(
    (part): part is CodePart => part.kind === 'code' && part.notRun?.endsWith('move.test.ts starts it') === true,
  );
  const lines = toReal(block!.body, desk).trimEnd().split('\n');
  const files = lines.flatMap((line) =>
    [...line.matchAll(/\. \.\/(\S+);/g)].map(([, name = '']) => readFileSync(join(directory, name), 'utf8')),
  );
  const variables = files.flatMap((text) =>
    [...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value] as const),
  );
  const port = await findFreePort();
  const args = lines.at(-1)!.replace('npx pgreflect ', '').split(' ');
  const options = { directory, env: { ...environment, ...Object.fromEntries(variables), ...env } };
  await startCommand([...args, '--port', String(port)], options, atEnd).until(/GraphQL and GraphiQL: |GraphiQL +http/);
  return `http://localhost:${port}`;
}
