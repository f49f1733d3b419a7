/**
 * The last common state of a directory and a project, after a pull or push: a copy per project in the folder `.pulled`.
 * It tells which side has edited a text since.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readTexts, type TemplateTexts, writeTemplates } from './templates-files.ts';

const folder = '.pulled';

/** The texts then; none for a project that was never pulled into the directory. */
export function readPulled(directory: string, ref: string): TemplateTexts {
  const copy = join(directory, folder, ref);
  return existsSync(copy) ? readTexts(copy) : new Map();
}

/** Stores the texts for the next pull or push. */
export function writePulled(directory: string, ref: string, texts: TemplateTexts): void {
  mkdirSync(join(directory, folder), { recursive: true });
  // If committed, it would claim to other checkouts a pull that they have not made.
  writeFileSync(join(directory, folder, '.gitignore'), '*\n');
  writeTemplates(join(directory, folder, ref), texts);
}
