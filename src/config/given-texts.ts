/**
 * Finds a setting on the command line and in the environment: flags override `PGREFLECT_*` (or the file of
 * `PGREFLECT_*_FILE`), which overrides other software's names.
 */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Problem } from './config-error.ts';

/** The names of an option or auth configuration field. */
export interface Setting {
  /** Without the hyphens before it. */
  readonly flag: string;
  /** `PGREFLECT_PORT` */
  readonly variable: string;
  /** Other software's names. */
  readonly others: readonly string[];
  /** May be read from a file; never quoted in messages. */
  readonly secret: boolean;
  readonly repeatable: boolean;
  /** Several texts are one list, with commas between them. */
  readonly isList: boolean;
}

/** The texts, and where they were given. */
export interface Given {
  /** `--port`, `PORT` */
  readonly origin: string;
  readonly texts: readonly string[];
}

/** The sources of texts. */
export interface TextSources {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
  /** Is told the path of each file with a value. */
  readonly onFile?: (path: string) => void;
}

/** Null if nothing was given. Adds problems to `problems`. */
export function findTexts(
  { flag, variable, others, secret, repeatable, isList }: Setting,
  flags: readonly string[] | undefined,
  sources: TextSources,
  problems: Problem[],
): Given | null {
  const { environment } = sources;
  if (flags !== undefined && flags.length > 0) {
    if (isList) return { origin: `--${flag}`, texts: [flags.join(',')] };
    if (flags.length > 1 && !repeatable)
      problems.push({ problem: `--${flag} is given ${flags.length} times.`, fix: 'Keep one of them.' });
    return { origin: `--${flag}`, texts: flags };
  }
  const file = `${variable}_FILE`;
  const path = secret ? environment[file] : undefined;
  // An empty variable counts as absent: compose files write `X: ${X:-}` for "not set".
  const found = (path ? [variable] : [variable, ...others]).find((name) => environment[name]);
  const toTexts = (text: string) => (repeatable ? text.trim().split(/\s+/) : [text]);
  if (found !== undefined) {
    if (path) problems.push({ problem: `${variable} and ${file} are both set.`, fix: 'Keep one of them.' });
    return { origin: found, texts: toTexts(environment[found] ?? '') };
  }
  if (!path) return null;
  try {
    return { origin: file, texts: toTexts(readFile(path, sources).trim()) };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    problems.push({ problem: `${file}: the file "${path}" cannot be read (${code}).`, fix: null });
    return null;
  }
}

/** The text of a file below the working directory. @throws An error of the operating system. */
export function readFile(path: string, { workingDirectory, onFile }: Omit<TextSources, 'environment'>): string {
  const found = resolve(workingDirectory, path);
  onFile?.(found);
  return readFileSync(found, 'utf8');
}

/** Describes an invalid text of a setting. @param shown The text; null for a secret. */
export function wrongText(origin: string, error: unknown, shown: string | null): string {
  const reason = error instanceof Error ? error.message : String(error);
  const given = shown === null ? '' : ` (given: "${shown.slice(0, 80)}")`;
  return `${origin} ${reason}${given}.`.replace(' : ', ': ');
}
