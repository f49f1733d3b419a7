/**
 * Reads `pgreflect.toml`, or the file that `--config` or `PGREFLECT_CONFIG` names: flat keys in snake case, one per option.
 *
 * Gives the values as the text a flag would have, so that one set of parsers serves all sources. A key that stands twice in
 * the file is a mistake of TOML itself and is reported with its line.
 */
import { parse, TomlError } from 'smol-toml';
import { authFieldNames } from './auth/auth-fields.ts';
import { isAuthFileKey } from './auth/auth-file.ts';
import type { Problem } from './config-error.ts';
import { readFile } from './given-texts.ts';
import { nearestName } from './nearest-name.ts';
import { fileKey, type OptionName, optionNames, optionOf } from './options.ts';

/** What a configuration file says. */
export interface ConfigFile {
  /** The file's name as given; null where there is none. */
  readonly path: string | null;
  readonly values: ReadonlyMap<OptionName, readonly string[]>;
  /** The table `auth` and the fields of the auth configuration, unchecked (load-auth-config.ts reads them). */
  readonly auth: Readonly<Record<string, unknown>>;
  readonly problems: readonly Problem[];
}

/**
 * Reads the file; a missing `pgreflect.toml` is no problem, a missing file that was named is one.
 *
 * @param given What `--config` or `PGREFLECT_CONFIG` says; null for neither.
 */
export function loadConfigFile(given: string | null, workingDirectory: string): ConfigFile {
  const path = given ?? 'pgreflect.toml';
  let text: string;
  try {
    text = readFile(path, workingDirectory);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    if (given === null && code === 'ENOENT') return { path: null, values: new Map(), auth: {}, problems: [] };
    const problem = `The configuration file "${path}" cannot be read (${code}).`;
    return { path, values: new Map(), auth: {}, problems: [{ problem, fix: 'Check the name and its permissions.' }] };
  }
  try {
    return { path, ...readTable(parse(text), path) };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    // The full message of the parser shows the line itself, which may hold a secret.
    const reason = error.message.split('\n')[0]?.replace(/^Invalid TOML document: /, '') ?? '';
    const problem = `${path}, line ${error.line}: ${reason}.`;
    return { path, values: new Map(), auth: {}, problems: [{ problem, fix: `Correct line ${error.line}.` }] };
  }
}

function readTable(table: Readonly<Record<string, unknown>>, path: string): Omit<ConfigFile, 'path'> {
  const values = new Map<OptionName, readonly string[]>();
  const problems: Problem[] = [];
  const auth: Record<string, unknown> = {};
  const nameByKey = new Map(optionNames.map((name) => [fileKey(name), name]));
  for (const [key, value] of Object.entries(table)) {
    if (isAuthFileKey(key)) {
      auth[key] = value;
      continue;
    }
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
  return { values, auth, problems };
}

function unknownKey(key: string, path: string, known: readonly string[]): Problem {
  const nearest = nearestName(key.replaceAll('-', '_'), known);
  const fix = nearest === null ? '`pgreflect serve --help` lists all options.' : `Did you mean "${nearest}"?`;
  return { problem: `${path}: there is no option "${key}".`, fix };
}

/** One text per value; the items of a list become one text joined by commas, as on the command line, where an option has one text. */
function toTexts(value: unknown, isRepeatable: boolean): readonly string[] | null {
  const isScalar = (item: unknown) => ['string', 'number', 'boolean', 'bigint'].includes(typeof item);
  if (isScalar(value)) return [String(value)];
  if (Array.isArray(value) && value.every(isScalar))
    return isRepeatable ? value.map(String) : [value.map(String).join(',')];
  return null;
}
