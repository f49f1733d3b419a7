/**
 * The auth tables of the configuration file: `[auth]`, `[auth.email.smtp]` and so on, or top-level fields under their
 * own names.
 *
 * A key that resembles one of ours is a problem, because silently ignoring a mistyped setting is the worst outcome.
 * Keys of the Supabase CLI without effect are a warning, so that its files work unchanged.
 */
import { existsSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import type { Problem } from '../config-error.ts';
import { isBelow, namesIt } from '../found-file.ts';
import type { TextSources } from '../given-texts.ts';
import { nearestName } from '../nearest-name.ts';
import { type AuthFieldName, authField, authFieldNames, isAuthFieldName } from './auth-fields.ts';
import { smsProviders } from './auth-sms-fields.ts';
import type { TemplateSource } from './auth-template-source.ts';

/** A TOML value converted to the field's meaning (inverted switches included), or the source of an email body. */
export type AuthFileValue =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'template'; readonly source: TemplateSource };

/** A field's value in the file, and its place. */
interface AuthFileEntry {
  /** `pgreflect.toml: auth.email.otp_length` */
  readonly origin: string;
  readonly value: AuthFileValue;
}

interface FileSources extends TextSources {
  readonly file: Readonly<Record<string, unknown>>;
  readonly fileName: string;
  readonly isNamed: boolean;
}

interface Report {
  readonly problems: Problem[];
  readonly warnings: string[];
}

const fieldByPlace: ReadonlyMap<string, AuthFieldName> = new Map(
  authFieldNames.flatMap((name) => {
    const { file } = authField(name);
    return file === undefined ? [] : [[file, name] as const];
  }),
);
const tables = new Set([...fieldByPlace.keys()].flatMap(withParents));

/** Whether a top-level key is a field, or the table of all others. */
export function isAuthFileKey(key: string): boolean {
  return key === 'auth' || isAuthFieldName(key);
}

/** Reads each field's value from the file. Problems and warnings go to `report`. */
export function readAuthTables(sources: FileSources, report: Report): ReadonlyMap<AuthFieldName, AuthFileEntry> {
  const entries = new Map<AuthFieldName, AuthFileEntry>();
  const add = (name: AuthFieldName, place: string, value: unknown) => {
    const origin = `${sources.fileName}: ${place}`;
    const earlier = entries.get(name);
    if (earlier) {
      const problem = `${origin} says the same as ${earlier.origin.slice(sources.fileName.length + 2)}.`;
      report.problems.push({ problem, fix: 'Keep one of them.' });
      return;
    }
    const converted = convert(name, { place, origin, value }, sources, report);
    if (converted !== null) entries.set(name, { origin, value: converted });
  };
  for (const [key, value] of Object.entries(sources.file)) {
    if (isAuthFieldName(key)) add(key, key, value);
    else if (key === 'auth') readTable('auth', value, { add, sources, report });
  }
  return entries;
}

interface TableReader {
  readonly add: (name: AuthFieldName, place: string, value: unknown) => void;
  readonly sources: FileSources;
  readonly report: Report;
}

function readTable(path: string, table: unknown, reader: TableReader): void {
  if (!isTable(table)) {
    const problem = `${reader.sources.fileName}: "${path}" must be a table.`;
    reader.report.problems.push({ problem, fix: `Write [${path}].` });
    return;
  }
  const isOff = table.enabled === false;
  for (const [key, value] of Object.entries(table)) {
    const place = `${path}.${key}`;
    const name = fieldByPlace.get(place) ?? fieldByPlace.get(place.replace(/content_path$/, 'content'));
    // Files of the Supabase CLI name secrets of disabled features, and their mail server counts only if enabled.
    if (isOff && (place === 'auth.email.smtp.host' || isUnset(value, reader.sources))) continue;
    if (name !== undefined) reader.add(name, place, value);
    else if (place === 'auth.email.smtp.enabled') assertSwitch(place, value, reader);
    else if (isProviderSwitch(path, key)) addProvider(path, place, value, reader);
    else if (tables.has(place)) readTable(place, value, reader);
    else if (!saysNothing(place, value)) reportUnknown(path, key, reader);
  }
}

/** The Supabase CLI's file enables providers of text messages one by one: `[auth.sms.twilio] enabled = true`. */
function isProviderSwitch(path: string, key: string): boolean {
  return key === 'enabled' && smsProviders.some((provider) => path === `auth.sms.${provider}`);
}

function addProvider(path: string, place: string, value: unknown, reader: TableReader): void {
  if (value === true) reader.add('sms_provider', place, path.slice('auth.sms.'.length));
  else assertSwitch(place, value, reader);
}

function assertSwitch(place: string, value: unknown, { sources, report }: TableReader): void {
  if (typeof value === 'boolean') return;
  report.problems.push({ problem: `${sources.fileName}: ${place} must be true or false.`, fix: null });
}

/** Features that are not here and switched off: files of the Supabase CLI name each of them from the start. */
function saysNothing(place: string, value: unknown): boolean {
  if (place === 'auth.enabled') return value === true;
  // Of a feature that `auth.web3` switches on.
  if (place === 'auth.rate_limit.web3') return true;
  if (!isTable(value)) return false;
  return value.enabled === false || Object.values(value).every((part) => isTable(part) && part.enabled === false);
}

function reportUnknown(path: string, key: string, { sources, report }: TableReader): void {
  const known = [...fieldByPlace.keys(), ...tables]
    .filter((place) => place.startsWith(`${path}.`))
    .map((place) => place.slice(path.length + 1))
    .filter((rest) => !rest.includes('.'));
  const nearest = nearestName(key, known, 2);
  if (nearest === null) report.warnings.push(`${sources.fileName}: "${path}.${key}" has no effect here.`);
  else {
    const problem = `${sources.fileName}: there is no setting "${path}.${key}".`;
    report.problems.push({ problem, fix: `Did you mean "${nearest}"?` });
  }
}

/** The value in the field's meaning; null if invalid, which is reported. */
function convert(
  name: AuthFieldName,
  { place, origin, value }: { readonly place: string; readonly origin: string; readonly value: unknown },
  sources: FileSources,
  { problems }: Report,
): AuthFileValue | null {
  try {
    const resolved = resolveVariables(value, sources);
    if (place.endsWith('.content_path'))
      return { kind: 'template', source: toFile(resolved, { place, origin }, sources) };
    return { kind: 'json', value: place === name ? resolved : (authField(name).convert?.(resolved) ?? resolved) };
  } catch (error) {
    const fix = sources.isNamed && isUnset(value, sources) ? variableFix(place) : null;
    problems.push({ problem: `${origin} ${(error as Error).message}.`, fix });
    return null;
  }
}

/** The Supabase CLI reads `.env` by itself. What stands in `[auth]` itself cannot be switched off. */
function variableFix(place: string): string {
  const set = 'Set it, as by `set -a; . ./.env; set +a`';
  return /^auth\.\w+$/.test(place) ? `${set}.` : `${set}, or switch off what it is for: enabled = false.`;
}

/**
 * The file of a body, as the Supabase CLI finds it: bodies of emails are relative to the project, those of notifications
 * to its `supabase`. Here, both may be relative to either. @throws Error
 */
function toFile(
  path: unknown,
  { place, origin }: { readonly place: string; readonly origin: string },
  { fileName, isNamed, workingDirectory }: FileSources,
): TemplateSource {
  if (typeof path !== 'string' || path === '') throw new Error('must be the name of a file');
  const own = resolve(workingDirectory, dirname(fileName));
  const isInside = basename(own) === 'supabase';
  const other = isInside ? dirname(own) : resolve(own, 'supabase');
  const isOtherFirst = isInside && place.startsWith('auth.email.template.');
  const paths = (isOtherFirst ? [other, own] : [own, other]).map((folder) => resolve(folder, path));
  // With neither, the first is the one to tell of.
  const found = paths.find((one) => existsSync(one)) ?? paths[0]!;
  if (!isNamed && !isBelow(found, own)) throw new Error(`leads out of the folder of ${fileName}; ${namesIt(fileName)}`);
  return { kind: 'file', path: found, origin };
}

/** The name in `env(NAME)` as the whole text; undefined for any other value. */
function variableIn(value: unknown): string | undefined {
  return typeof value === 'string' ? /^env\(([A-Za-z_][A-Za-z0-9_]*)\)$/.exec(value)?.[1] : undefined;
}

function isUnset(value: unknown, { environment, isNamed }: FileSources): boolean {
  const name = variableIn(value);
  return name !== undefined && (!isNamed || environment[name] === undefined);
}

/** Resolves `env(NAME)` as the whole text to the variable. @throws Error if it is not set, or nobody named the file. */
function resolveVariables(value: unknown, sources: FileSources): unknown {
  if (Array.isArray(value)) return value.map((item) => resolveVariables(item, sources));
  const name = variableIn(value);
  if (name === undefined) return value;
  if (!sources.isNamed) {
    throw new Error(
      `names the variable ${name}, which a file that was only found does not get; ${namesIt(sources.fileName)}`,
    );
  }
  const text = sources.environment[name];
  if (text === undefined) throw new Error(`names the variable ${name}, which is not set`);
  return text;
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** `auth.email.smtp.host` -> `auth`, `auth.email`, `auth.email.smtp`. */
function withParents(place: string): readonly string[] {
  const parts = place.split('.').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('.'));
}
