/**
 * Finds the value of each option a command takes: flags win over `PGREFLECT_*`, these over the names other software uses,
 * these over the configuration file, that over the default.
 *
 * Finds all problems before it gives up: what is unknown, given twice, malformed, or not available in this version.
 * load-config.ts makes a `Config` of the values; commands that need only a few read them from here.
 */
import { readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { type AuthFieldName, authField, authFieldNames } from './auth/auth-fields.ts';
import { authVariable } from './auth/auth-reference.ts';
import { ConfigError, type Problem } from './config-error.ts';
import { loadConfigFile } from './config-file.ts';
import { nearestName } from './nearest-name.ts';
import {
  environmentName,
  flagName,
  type OptionName,
  type OptionRow,
  type OptionValue,
  optionNames,
  optionRow,
} from './options.ts';

/** Where values come from; given by the process edge, so that tests can hold everything still. */
export interface Sources {
  /** Texts by option; an empty list counts as not given. */
  readonly flags: ReadonlyMap<OptionName, readonly string[]>;
  /** The same for the fields of the auth configuration. */
  readonly authFlags: ReadonlyMap<AuthFieldName, readonly string[]>;
  /** What `--config` names, else null. */
  readonly configFile: string | null;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly workingDirectory: string;
  /** Problems the command line itself has (unknown flags), reported with the others. */
  readonly problems: readonly Problem[];
}

/** The values of some options; null where nothing was given and there is no default. Repeatable options are lists. */
export type OptionValues<N extends OptionName> = {
  readonly [K in N]: K extends 'readReplicaUrl' ? readonly OptionValue<K>[] : OptionValue<K> | null;
};

/** Values, where each came from, and what is worth a warning. */
export interface LoadedOptions<N extends OptionName> {
  readonly values: OptionValues<N>;
  /** `--port`, `PORT`, `pgreflect.toml: port`; absent where the default holds. */
  readonly origins: ReadonlyMap<N, string>;
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
}

interface Given {
  readonly origin: string;
  readonly texts: readonly string[];
}

/** Finds the values of `names`; the problems are in the result, see `loadOptionsOrThrow`. */
export function loadOptions<N extends OptionName>(names: readonly N[], sources: Sources): LoadedOptions<N> {
  const file = loadConfigFile(
    sources.configFile ?? (sources.environment.PGREFLECT_CONFIG || null),
    sources.workingDirectory,
  );
  const problems: Problem[] = [...sources.problems, ...file.problems];
  const values: Record<string, unknown> = {};
  const origins = new Map<N, string>();
  for (const name of names) {
    const given =
      fromFlags(name, sources) ??
      fromEnvironment(name, sources, problems) ??
      fromTexts(`${file.path}: ${flagName(name).replaceAll('-', '_')}`, file.values.get(name));
    if (given !== null) origins.set(name, given.origin);
    values[name] = readValue(name, given, sources, problems);
  }
  return { values: values as OptionValues<N>, origins, problems, warnings: unknownVariables(sources.environment) };
}

/** As `loadOptions`. @throws ConfigError when there is any problem. */
export function loadOptionsOrThrow<N extends OptionName>(names: readonly N[], sources: Sources): LoadedOptions<N> {
  const loaded = loadOptions(names, sources);
  if (loaded.problems.length > 0) throw new ConfigError(loaded.problems);
  return loaded;
}

function fromTexts(origin: string, texts: readonly string[] | undefined): Given | null {
  return texts === undefined || texts.length === 0 ? null : { origin, texts };
}

function fromFlags(name: OptionName, sources: Sources): Given | null {
  return fromTexts(`--${flagName(name)}`, sources.flags.get(name));
}

function fromEnvironment(name: OptionName, sources: Sources, problems: Problem[]): Given | null {
  const ours = environmentName(name);
  const text = sources.environment[ours];
  const path = optionRow(name).secret ? sources.environment[`${ours}_FILE`] : undefined;
  // An empty variable counts as none: compose files write `X: ${X:-}` for "not set".
  if (text && path) {
    problems.push({ problem: `${ours} and ${ours}_FILE are both set.`, fix: 'Keep one of them.' });
  }
  if (text) return { origin: ours, texts: toTexts(name, text) };
  if (path) return fromSecretFile(name, path, sources, problems);
  for (const other of optionRow(name).ecosystem ?? []) {
    const value = sources.environment[other];
    if (value) return { origin: other, texts: toTexts(name, value) };
  }
  return null;
}

/** What has one text may give several values, with blanks or ends of lines between them. */
function toTexts(name: OptionName, text: string): readonly string[] {
  return optionRow(name).repeatable ? text.trim().split(/\s+/) : [text];
}

function fromSecretFile(name: OptionName, path: string, sources: Sources, problems: Problem[]): Given | null {
  const origin = `${environmentName(name)}_FILE`;
  try {
    return { origin, texts: toTexts(name, readText(path, sources).trim()) };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    problems.push({ problem: `${origin}: the file "${path}" cannot be read (${code}).`, fix: null });
    return null;
  }
}

function readValue(name: OptionName, given: Given | null, sources: Sources, problems: Problem[]): unknown {
  const option = optionRow(name);
  if (given === null) {
    if (option.repeatable) return [];
    return option.default === null ? null : option.parse(option.default);
  }
  if (given.texts.length > 1 && !option.repeatable) {
    problems.push({ problem: `${given.origin} is given ${given.texts.length} times.`, fix: 'Keep one of them.' });
    return null;
  }
  const values = given.texts.map((text) => {
    try {
      return parseOne(option, text, sources);
    } catch (error) {
      const shown = option.secret || option.fileOrText ? '' : ` (given: "${text.slice(0, 80)}")`;
      const reason = error instanceof Error ? error.message : String(error);
      problems.push({ problem: `${given.origin} ${reason}${shown}.`.replace(' : ', ': '), fix: null });
      return null;
    }
  });
  return option.repeatable ? values : values[0];
}

function parseOne(option: OptionRow, text: string, sources: Sources): unknown {
  return option.parse(option.fileOrText ? textOrFile(text, sources) : text);
}

/** JSON stays as it is; anything else is the name of a file. */
function textOrFile(text: string, sources: Sources): string {
  if (/^\s*[[{]/.test(text)) return text;
  try {
    return readText(text.trim(), sources);
  } catch (error) {
    throw new Error(`names a file that cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`);
  }
}

function readText(path: string, sources: Sources): string {
  return readFileSync(isAbsolute(path) ? path : join(sources.workingDirectory, path), 'utf8');
}

/** Variables that look like a mistyped one of ours. Only a warning: orchestrators invent `PGREFLECT_*` names of their own. */
function unknownVariables(environment: Sources['environment']): readonly string[] {
  const prefix = 'PGREFLECT_';
  const all = [...optionNames.flatMap(withFileName), ...authFieldNames.flatMap(withAuthFileName), 'PGREFLECT_CONFIG'];
  const known = all.map((name) => name.slice(prefix.length));
  return Object.keys(environment).flatMap((name) => {
    const rest = name.slice(prefix.length);
    if (!name.startsWith(prefix) || known.includes(rest)) return [];
    const nearest = nearestName(rest, known, 2);
    return nearest === null ? [] : [`There is no variable ${name}; did you mean ${prefix}${nearest}? It is ignored.`];
  });
}

function withFileName(name: OptionName): readonly string[] {
  const ours = environmentName(name);
  return optionRow(name).secret ? [ours, `${ours}_FILE`] : [ours];
}

function withAuthFileName(name: AuthFieldName): readonly string[] {
  const ours = authVariable(name);
  return authField(name).secret ? [ours, `${ours}_FILE`] : [ours];
}
