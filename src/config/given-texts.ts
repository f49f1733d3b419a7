/**
 * Finds what was given for a setting on the command line and in the environment: flags win over `PGREFLECT_*`, or the file that
 * `PGREFLECT_*_FILE` names, these over the names other software uses.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Problem } from './config-error.ts';

/** Where an option, or a field of the auth configuration, may be given. */
export interface Setting {
  /** Without the hyphens before it. */
  readonly flag: string;
  /** `PGREFLECT_PORT` */
  readonly variable: string;
  /** Names other software gives it. */
  readonly others: readonly string[];
  /** May be read from a file; never shown in messages. */
  readonly secret: boolean;
  readonly repeatable: boolean;
}

/** Texts, and the name that gave them. */
export interface Given {
  /** `--port`, `PORT` */
  readonly origin: string;
  readonly texts: readonly string[];
}

/** The part of the sources that is looked at. */
export interface TextSources {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
}

/** Null where nothing was given. What is wrong is added to `problems`. */
export function findTexts(
  { flag, variable, others, secret, repeatable }: Setting,
  flags: readonly string[] | undefined,
  { environment, workingDirectory }: TextSources,
  problems: Problem[],
): Given | null {
  if (flags !== undefined && flags.length > 0) {
    if (flags.length > 1 && !repeatable)
      problems.push({ problem: `--${flag} is given ${flags.length} times.`, fix: 'Keep one of them.' });
    return { origin: `--${flag}`, texts: flags };
  }
  const file = `${variable}_FILE`;
  const path = secret ? environment[file] : undefined;
  // An empty variable counts as none: compose files write `X: ${X:-}` for "not set".
  const found = (path ? [variable] : [variable, ...others]).find((name) => environment[name]);
  const toTexts = (text: string) => (repeatable ? text.trim().split(/\s+/) : [text]);
  if (found !== undefined) {
    if (path) problems.push({ problem: `${variable} and ${file} are both set.`, fix: 'Keep one of them.' });
    return { origin: found, texts: toTexts(environment[found] ?? '') };
  }
  if (!path) return null;
  try {
    return { origin: file, texts: toTexts(readFile(path, workingDirectory).trim()) };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    problems.push({ problem: `${file}: the file "${path}" cannot be read (${code}).`, fix: null });
    return null;
  }
}

/** The text of a file below the working directory. @throws An error of the operating system. */
export function readFile(path: string, workingDirectory: string): string {
  return readFileSync(resolve(workingDirectory, path), 'utf8');
}

/** What is wrong with the text of a setting. @param shown The text; null where nobody may see it. */
export function wrongText(origin: string, error: unknown, shown: string | null): string {
  const reason = error instanceof Error ? error.message : String(error);
  const given = shown === null ? '' : ` (given: "${shown.slice(0, 80)}")`;
  return `${origin} ${reason}${given}.`.replace(' : ', ': ');
}
