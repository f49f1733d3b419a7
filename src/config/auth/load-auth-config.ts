/**
 * Loads the start values of the auth configuration: flags and environment (given-texts.ts) override the configuration
 * file.
 *
 * Reports all problems at once. Email bodies in files are only located here: an unreadable one is no problem, because a
 * mistake in an email must not prevent sign-ins.
 */
import type { Schema } from '../../shared/schema.ts';
import type { Problem } from '../config-error.ts';
import { findTexts, type TextSources, wrongText } from '../given-texts.ts';
import { type AuthConfig, type AuthValues, checkAuthConfig, layerAuthConfig } from './auth-config.ts';
import { type AuthFieldName, authField, authFieldNames } from './auth-fields.ts';
import { type AuthFileValue, readAuthTables } from './auth-file.ts';
import { authSetting } from './auth-reference.ts';
import { emailOfContent } from './auth-template-fields.ts';
import { locateTemplate, type TemplateSource, type TemplateSources } from './auth-template-source.ts';
import type { EmailKind } from './email-kinds.ts';

/** The sources of values; passed in, so that tests can fix them. */
export interface AuthSources extends TextSources {
  /** Texts by field, from flags; an empty list counts as not given. */
  readonly flags: ReadonlyMap<AuthFieldName, readonly string[]>;
  /** The parsed configuration file: the table `auth`, and fields under their own names. */
  readonly file: Readonly<Record<string, unknown>>;
  /** Name of that file in messages; `content_path` is relative to its directory. */
  readonly fileName: string;
  /** As `ConfigFile.isNamed`. */
  readonly isNamed: boolean;
}

/** Start values, their origins, problems and warnings. */
export interface LoadedAuthConfig {
  /** With defaults. */
  readonly config: AuthConfig;
  /** Without defaults: the layer below the stored values. */
  readonly given: AuthValues;
  /** `GOTRUE_SITE_URL`, `pgreflect.toml: auth.site_url`; absent for defaults. */
  readonly origins: ReadonlyMap<AuthFieldName, string>;
  /** Sources of email bodies that are not in `given`. */
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
  readonly templates: Partial<Record<EmailKind, TemplateSource>>;
}

/** Loads the start values. Reads no files except those with secrets. */
export function loadAuthConfig(sources: AuthSources): LoadedAuthConfig {
  const findings: Findings = { problems: [], warnings: [], templates: {} };
  const file = readAuthTables(sources, findings);
  const given: Record<string, unknown> = {};
  const origins = new Map<AuthFieldName, string>();
  for (const name of authFieldNames) {
    const text = findTexts(authSetting(name), sources.flags.get(name), sources, findings.problems);
    const found =
      text === null ? file.get(name) : { ...text, value: { kind: 'text', text: text.texts[0] ?? '' } as const };
    if (found === undefined) continue;
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

/** The checked value; undefined if it was reported as a problem or noted as a template. */
function readValue(name: AuthFieldName, found: Given, sources: AuthSources, findings: Findings): unknown {
  const { origin, value } = found;
  const { kind, secret, doc } = authField(name);
  try {
    const email = emailOfContent(name);
    const source = email === null ? null : sourceOf(found, sources);
    if (email !== null && source !== null) findings.templates[email] = source;
    return source !== null || value.kind === 'template' ? undefined : readPlain(kind, value);
  } catch (error) {
    const shown = secret || value.kind !== 'text' ? null : value.text;
    findings.problems.push({ problem: wrongText(origin, error, shown), fix: doc });
    return undefined;
  }
}

/** The source of an email body; null if the value is the body itself. @throws Error */
function sourceOf({ origin, value }: Given, { workingDirectory }: AuthSources): TemplateSource | null {
  if (value.kind === 'template') return value.source;
  return value.kind === 'text' ? locateTemplate(value.text, origin, workingDirectory) : null;
}

/** Whether its values are texts; a port may be given as a number as well. */
function isText({ json }: Schema<unknown>): boolean {
  return [json.type].flat().includes('string');
}

/** A checked value of a text or of the file. @throws Error with the rest of a sentence. */
export function readPlain(
  kind: Schema<unknown>,
  value: Exclude<Given['value'], { readonly kind: 'template' }>,
): unknown {
  if (value.kind === 'text') return kind.parseText(value.text);
  // TOML has numbers and booleans; texts may replace them, for example a duration.
  return typeof value.value === 'string' && !isText(kind) ? kind.parseText(value.value) : kind.parse(value.value);
}
