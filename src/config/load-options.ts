/**
 * Loads the options of a command: given texts (given-texts.ts) override the configuration file, which overrides the
 * default.
 *
 * Collects all problems first: unknown, repeated, malformed or unavailable options. load-config.ts makes a `Config` of
 * the values; commands that need few options use this directly.
 */
import { resolve } from 'node:path';
import { type AuthFieldName, authFieldNames } from './auth/auth-fields.ts';
import { authSetting } from './auth/auth-reference.ts';
import { ConfigError, type Problem } from './config-error.ts';
import { type ConfigFile, loadConfigFile, noFile } from './config-file.ts';
import { isBelow, namesIt } from './found-file.ts';
import { findTexts, type Given, readFile, type Setting, type TextSources, wrongText } from './given-texts.ts';
import { nearestName } from './nearest-name.ts';
import {
  environmentName,
  fileKey,
  flagName,
  type OptionName,
  type OptionValue,
  optionNames,
  optionOf,
} from './options.ts';
import { isList } from './value-kinds.ts';

/** The sources of values; passed in, so that tests can fix them. */
export interface Sources extends TextSources {
  /** Texts by option; an empty list counts as not given. */
  readonly flags: ReadonlyMap<OptionName, readonly string[]>;
  /** The same for the fields of the auth configuration. */
  readonly authFlags: ReadonlyMap<AuthFieldName, readonly string[]>;
  /** The value of `--config`, otherwise null. */
  readonly configFile: string | null;
  /** No file is read, not even that of the working directory. */
  readonly withoutFile?: boolean;
  /** Problems of the command line itself (unknown flags), reported with the others. */
  readonly problems: readonly Problem[];
}

/** Option values; null if not given and without a default. Repeatable options are lists. */
export type OptionValues<N extends OptionName> = {
  readonly [K in N]: K extends 'readReplicaUrl' ? readonly OptionValue<K>[] : OptionValue<K> | null;
};

/** Values, their origins, and warnings. */
export interface LoadedOptions<N extends OptionName> {
  readonly values: OptionValues<N>;
  /** `--port`, `PORT`, `pgreflect.toml: port`; absent for defaults. */
  readonly origins: ReadonlyMap<N, string>;
  /** The absolute paths of files with values. */
  readonly files: ReadonlyMap<N, string>;
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
  readonly file: ConfigFile;
}

/** Loads the options `names`; problems are in the result, see `loadOptionsOrThrow`. */
export function loadOptions<N extends OptionName>(names: readonly N[], sources: Sources): LoadedOptions<N> {
  const { configFile, withoutFile, environment, workingDirectory } = sources;
  const file = withoutFile
    ? noFile
    : loadConfigFile(configFile ?? (environment.PGREFLECT_CONFIG || null), workingDirectory);
  const problems: Problem[] = [...sources.problems, ...file.problems];
  const values: Record<string, unknown> = {};
  const origins = new Map<N, string>();
  const files = new Map<N, string>();
  for (const name of names) {
    const onFile = (path: string) => {
      files.set(name, path);
      sources.onFile?.(path);
    };
    const texts = file.values.get(name);
    const given =
      findTexts(optionSetting(name), sources.flags.get(name), { ...sources, onFile }, problems) ??
      (texts === undefined ? null : { origin: `${file.path}: ${fileKey(name)}`, texts });
    if (given !== null) origins.set(name, given.origin);
    const folder = given !== null && given.texts === texts && !file.isNamed ? sources.workingDirectory : null;
    values[name] = readValue(name, given, { ...sources, onFile, folder }, problems);
  }
  const warnings = [...file.warnings, ...unknownVariables(sources.environment)];
  return { values: values as OptionValues<N>, origins, files, problems, warnings, file };
}

/** As `loadOptions`. @throws ConfigError for any problem. */
export function loadOptionsOrThrow<N extends OptionName>(names: readonly N[], sources: Sources): LoadedOptions<N> {
  const loaded = loadOptions(names, sources);
  if (loaded.problems.length > 0) throw new ConfigError(loaded.problems);
  return loaded;
}

function optionSetting(name: OptionName): Setting {
  const { ecosystem, secret, repeatable, kind } = optionOf(name);
  const names = { flag: flagName(name), variable: environmentName(name), others: ecosystem ?? [] };
  return { ...names, secret: secret === true, repeatable: repeatable === true, isList: isList(kind) };
}

/** `folder`: files must be below it; null: they may be anywhere. */
type ValueSources = Sources & { readonly folder: string | null };

function readValue(name: OptionName, given: Given | null, sources: ValueSources, problems: Problem[]): unknown {
  const { kind, default: usual, fileOrText, secret, repeatable } = optionOf(name);
  if (given === null) {
    if (repeatable) return [];
    return usual === null ? null : kind.parseText(usual);
  }
  const values = given.texts.map((text) => {
    try {
      return kind.parseText(fileOrText ? textOrFile(text, sources) : text);
    } catch (error) {
      problems.push({ problem: wrongText(given.origin, error, secret || fileOrText ? null : text), fix: null });
      return null;
    }
  });
  return repeatable ? values : values[0];
}

/** JSON is used directly; other text is the name of a file. */
function textOrFile(text: string, sources: ValueSources): string {
  const { workingDirectory, folder } = sources;
  if (/^\s*[[{]/.test(text)) return text;
  if (folder !== null && !isBelow(resolve(workingDirectory, text.trim()), folder))
    throw new Error(`names a file outside the folder of pgreflect.toml; ${namesIt('pgreflect.toml')}`);
  try {
    return readFile(text.trim(), sources);
  } catch (error) {
    throw new Error(`names a file that cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`);
  }
}

/**
 * Variables that look like a mistyped one of ours. Only a warning: orchestrators add `PGREFLECT_*` names of their own.
 */
function unknownVariables(environment: Sources['environment']): readonly string[] {
  const prefix = 'PGREFLECT_';
  const settings = [...optionNames.map(optionSetting), ...authFieldNames.map(authSetting)];
  const names = settings.flatMap(({ variable, secret }) => (secret ? [variable, `${variable}_FILE`] : [variable]));
  const known = [...names, 'PGREFLECT_CONFIG'].map((name) => name.slice(prefix.length));
  return Object.keys(environment).flatMap((name) => {
    const rest = name.slice(prefix.length);
    if (!name.startsWith(prefix) || known.includes(rest)) return [];
    const nearest = nearestName(rest, known, 2);
    return nearest === null ? [] : [`There is no variable ${name}; did you mean ${prefix}${nearest}? It is ignored.`];
  });
}
