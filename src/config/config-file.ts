/**
 * Reads `pgreflect.toml`, or the file that `--config` or `PGREFLECT_CONFIG` names: flat keys in snake case, one per
 * option.
 *
 * Returns values as a flag's text, so that one set of parsers serves all sources. TOML itself reports duplicate keys,
 * with their line.
 */
import { parse, TomlError } from 'smol-toml';
import { authFieldNames } from './auth/auth-fields.ts';
import { isAuthFileKey } from './auth/auth-file.ts';
import type { Problem } from './config-error.ts';
import { readFile } from './given-texts.ts';
import { nearestName } from './nearest-name.ts';
import { openedBefore } from './open-brackets.ts';
import { fileKey, type OptionName, optionNames, optionOf } from './options.ts';

/** The content of a configuration file. */
export interface ConfigFile {
  /** The file's name as given; null if there is none. */
  readonly path: string | null;
  /**
   * Whether `--config` or `PGREFLECT_CONFIG` named it. One that was found in the folder may have come with a repository:
   * it gets no variable of the environment and no file outside its folder.
   */
  readonly isNamed: boolean;
  readonly values: ReadonlyMap<OptionName, readonly string[]>;
  /** The table `auth` and the fields of the auth configuration, unchecked (load-auth-config.ts reads them). */
  readonly auth: Readonly<Record<string, unknown>>;
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
}

/** The keys of the Supabase CLI's `config.toml` beside `auth`. */
const supabaseKeys = [
  'analytics', 'api', 'db', 'edge_runtime', 'experimental', 'functions', 'inbucket', 'local_smtp', 'project_id', 'realtime',
  'remotes', 'storage', 'studio',
]; // biome-ignore format: a list

/**
 * Reads the file. A missing `pgreflect.toml` is no problem; a missing file that was named is one.
 *
 * @param given The value of `--config` or `PGREFLECT_CONFIG`; null for neither.
 */
export function loadConfigFile(given: string | null, workingDirectory: string): ConfigFile {
  const path = given ?? 'pgreflect.toml';
  const isNamed = given !== null;
  let text: string;
  try {
    text = readFile(path, { workingDirectory });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    if (given === null && code === 'ENOENT') return { path: null, isNamed, ...nothing, problems: [] };
    const problem = `The configuration file "${path}" cannot be read (${code}).`;
    return { path, isNamed, ...nothing, problems: [{ problem, fix: 'Check the name and its permissions.' }] };
  }
  try {
    return { path, isNamed, ...readTable(parse(text), path) };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    // The parser's full message quotes the line, which may contain a secret.
    const reason = error.message.split('\n')[0]?.replace(/^Invalid TOML document: /, '') ?? '';
    const opened = openedBefore(text, error.line);
    const problem =
      opened === null
        ? `${path}, line ${error.line}: ${reason}.`
        : `${path}, line ${opened.line}: "${opened.bracket}" is not closed.`;
    return { path, isNamed, ...nothing, problems: [{ problem, fix: `Correct line ${opened?.line ?? error.line}.` }] };
  }
}

const nothing = { values: new Map(), auth: {}, warnings: [] } as const;

/** As if no file was found. */
export const noFile: ConfigFile = { path: null, isNamed: false, ...nothing, problems: [] };

function readTable(table: Readonly<Record<string, unknown>>, path: string): Omit<ConfigFile, 'path' | 'isNamed'> {
  const values = new Map<OptionName, readonly string[]>();
  const problems: Problem[] = [];
  const auth: Record<string, unknown> = {};
  const nameByKey = new Map(optionNames.map((name) => [fileKey(name), name]));
  for (const [key, value] of Object.entries(table)) {
    if (isAuthFileKey(key)) {
      auth[key] = value;
      continue;
    }
    if (supabaseKeys.includes(key)) continue;
    const name = nameByKey.get(key);
    const texts = toTexts(value, name !== undefined && optionOf(name).repeatable === true);
    if (name === undefined) problems.push(unknownKey(key, path, [...nameByKey.keys(), ...authFieldNames]));
    else if (texts === null) {
      problems.push({
        problem: `${path}: "${key}" must be text, a number, true or false, or a list of texts.`,
        fix: null,
      });
    } else values.set(name, texts);
  }
  const others = supabaseKeys.filter((key) => Object.hasOwn(table, key));
  const warnings =
    others.length === 0 ? [] : [`${path}: no effect here, as only its auth counts: ${others.join(', ')}.`];
  return { values, auth, problems, warnings };
}

function unknownKey(key: string, path: string, known: readonly string[]): Problem {
  const nearest = nearestName(key.replaceAll('-', '_'), known);
  const fix = nearest === null ? '`pgreflect serve --help` lists all options.' : `Did you mean "${nearest}"?`;
  return { problem: `${path}: there is no option "${key}".`, fix };
}

/** One text per value; list items are joined by commas if, on the command line, the option takes one text. */
function toTexts(value: unknown, isRepeatable: boolean): readonly string[] | null {
  const isScalar = (item: unknown) => ['string', 'number', 'boolean', 'bigint'].includes(typeof item);
  if (isScalar(value)) return [String(value)];
  if (Array.isArray(value) && value.every(isScalar))
    return isRepeatable ? value.map(String) : [value.map(String).join(',')];
  return null;
}
