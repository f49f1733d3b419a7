/**
 * Finds the start values of the auth configuration: flags win over `PGREFLECT_*`, these over the names of the original
 * (`GOTRUE_*`), these over the tables of the configuration file.
 *
 * Reports all problems at once. Templates that live elsewhere are only named here: a template that cannot be had is no
 * problem, because a mistake in a mail must not keep users from signing in.
 */
import { readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { Problem } from '../config-error.ts';
import { type AuthConfig, type AuthValues, checkAuthConfig, layerAuthConfig } from './auth-config.ts';
import type { FieldKind } from './auth-field.ts';
import { type AuthFieldName, authField, authFieldNames, originalVariable } from './auth-fields.ts';
import { type AuthFileValue, readAuthTables } from './auth-file.ts';
import { authFlagName, authVariable } from './auth-reference.ts';
import { type EmailName, emailOfContent } from './auth-template-fields.ts';
import { locateTemplate, type TemplateSource, type TemplateSources } from './auth-template-source.ts';

/** Where the values come from; given by the process edge, so that tests can hold everything still. */
export interface AuthSources {
  /** Texts by field, as flags gave them; an empty list counts as not given. */
  readonly flags: ReadonlyMap<AuthFieldName, readonly string[]>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What a configuration file says, parsed: the table `auth`, and fields under their own names. */
  readonly file: Readonly<Record<string, unknown>>;
  /** Name of that file in messages; `content_path` is relative to its directory. */
  readonly fileName: string;
  readonly fileDirectory: string;
  readonly workingDirectory: string;
}

/** Start values, where each came from, and what is wrong or worth a word. */
export interface LoadedAuthConfig {
  /** Defaults where nothing was given. */
  readonly config: AuthConfig;
  /** What was given, without defaults: the layer below the stored values. */
  readonly given: AuthValues;
  /** `GOTRUE_SITE_URL`, `pgreflect.toml: auth.site_url`; absent where the default holds. */
  readonly origins: ReadonlyMap<AuthFieldName, string>;
  /** Bodies of emails that are not in `given`. */
  readonly templates: TemplateSources;
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
}

interface Given {
  readonly origin: string;
  /** Text of a variable or flag, or a value of the file. */
  readonly value: { readonly kind: 'text'; readonly text: string } | AuthFileValue;
}

interface Findings {
  readonly problems: Problem[];
  readonly warnings: string[];
  readonly templates: Partial<Record<EmailName, TemplateSource>>;
}

/** Reads the start values. Touches no file but those that hold secrets. */
export function loadAuthConfig(sources: AuthSources): LoadedAuthConfig {
  const findings: Findings = { problems: [], warnings: [], templates: {} };
  const file = readAuthTables(sources, findings);
  const given: Record<string, unknown> = {};
  const origins = new Map<AuthFieldName, string>();
  for (const name of authFieldNames) {
    const found =
      fromFlag(name, sources, findings) ?? fromEnvironment(name, sources, findings) ?? file.get(name) ?? null;
    if (found === null) continue;
    const value = readValue(name, found, sources, findings);
    if (value === undefined) continue;
    given[name] = value;
    origins.set(name, found.origin);
  }
  const config = layerAuthConfig(given);
  const contradictions = checkAuthConfig(config).map((text) => ({
    problem: `${text}.`,
    fix: 'Change one of them.',
  }));
  return { ...findings, config, given, origins, problems: [...findings.problems, ...contradictions] };
}

function fromFlag(name: AuthFieldName, { flags }: AuthSources, { problems }: Findings): Given | null {
  const texts = flags.get(name) ?? [];
  const origin = `--${authFlagName(name)}`;
  if (texts.length > 1) {
    problems.push({ problem: `${origin} is given ${texts.length} times.`, fix: 'Keep one of them.' });
  }
  return texts[0] === undefined ? null : { origin, value: { kind: 'text', text: texts[0] } };
}

function fromEnvironment(name: AuthFieldName, { environment, workingDirectory }: AuthSources, findings: Findings) {
  const ours = authVariable(name);
  const path = authField(name).secret ? environment[`${ours}_FILE`] : undefined;
  const names = [ours, originalVariable(name)];
  // An empty variable counts as none: compose files write `X: ${X:-}` for "not set".
  const found = names.find((variable) => variable !== null && environment[variable]);
  if (path && environment[ours]) {
    findings.problems.push({ problem: `${ours} and ${ours}_FILE are both set.`, fix: 'Keep one of them.' });
  } else if (path) {
    const text = readSecretFile(`${ours}_FILE`, isAbsolute(path) ? path : join(workingDirectory, path), findings);
    return text === null ? null : { origin: `${ours}_FILE`, value: { kind: 'text' as const, text } };
  }
  if (!found) return null;
  return { origin: found, value: { kind: 'text' as const, text: environment[found] ?? '' } };
}

function readSecretFile(origin: string, path: string, { problems }: Findings): string | null {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    problems.push({ problem: `${origin}: the file cannot be read (${code}).`, fix: null });
    return null;
  }
}

/** The checked value; undefined where there is none: it has been reported then, or is noted as a template. */
function readValue(name: AuthFieldName, found: Given, sources: AuthSources, findings: Findings): unknown {
  const { origin, value } = found;
  const { kind, secret, doc } = authField(name);
  try {
    const email = emailOfContent(name);
    const source = email === null ? null : sourceOf(found, sources);
    if (email !== null && source !== null) findings.templates[email] = source;
    return source !== null || value.kind === 'template' ? undefined : readPlain(kind, value);
  } catch (error) {
    const shown = secret || value.kind !== 'text' ? '' : ` (given: "${value.text.slice(0, 80)}")`;
    const problem = `${origin} ${(error as Error).message}${shown}.`.replace(' : ', ': ');
    findings.problems.push({ problem, fix: doc });
    return undefined;
  }
}

/** Where the body of an email is; null where it is the value itself. @throws Error */
function sourceOf({ origin, value }: Given, { workingDirectory }: AuthSources): TemplateSource | null {
  if (value.kind === 'template') return value.source;
  return value.kind === 'text' ? locateTemplate(value.text, origin, workingDirectory) : null;
}

/** @throws Error with the rest of a sentence. */
function readPlain(kind: FieldKind<unknown>, value: Exclude<Given['value'], { readonly kind: 'template' }>): unknown {
  if (value.kind === 'text') return kind.fromText(value.text);
  // TOML has numbers and booleans of its own; texts may stand for them, as a duration does.
  return typeof value.value === 'string' && kind.type !== 'string'
    ? kind.fromText(value.value)
    : kind.fromJson(value.value);
}
