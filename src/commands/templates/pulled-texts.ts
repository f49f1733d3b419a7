/**
 * What a directory and a project had in common last, after a pull or push: a copy for each project in the folder `.pulled` beside
 * the files. It tells who has edited a text since, the files' side or the project's.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readTexts, type TemplateTexts, writeTemplates } from './templates-files.ts';

const folder = '.pulled';

/** Texts as they were in force; none for a project that was never pulled into the directory. */
export function readPulled(directory: string, ref: string): TemplateTexts {
  const copy = join(directory, folder, ref);
  return existsSync(copy) ? readTexts(copy) : new Map();
}

/** Keeps texts for the next pull or push. */
export function writePulled(directory: string, ref: string, texts: TemplateTexts): void {
  mkdirSync(join(directory, folder), { recursive: true });
  // A commit of it would tell other checkouts of a pull that they have not made.
  writeFileSync(join(directory, folder, '.gitignore'), '*\n');
  writeTemplates(join(directory, folder, ref), texts);
}
