/**
 * Validates the body of a PATCH: checked values by field, or all problems at once (docs/management-api.md).
 *
 * One invalid field refuses the whole body. Checks across fields follow when the values are merged with the stored
 * ones.
 */
import { isDeepStrictEqual } from 'node:util';
import type { AuthConfig } from '../config/auth/auth-config.ts';
import { linkPageField } from '../config/auth/auth-template-fields.ts';
import { describeGuesses } from '../config/auth/guessed-accounts.ts';
import { nearestName } from '../config/nearest-name.ts';
import { builtInLinkPage } from '../email/link-page/link-page-texts.ts';
import { deepLink, filteredSchemes } from '../email/lint/broken-links.ts';
import { checkedFields, checkField, checkKeptTranslations } from '../email/lint/check-field.ts';
import { checkSurroundings } from '../email/lint/check-surroundings.ts';
import { templateField } from '../email/lint/check-template.ts';
import { findingOnWhole, sayFinding, type TemplateFinding } from '../email/lint/finding.ts';
import { faintColor } from '../email/message/brand.ts';
import { builtInText } from '../email/message/choose-texts.ts';
import type { TemplateSwitches } from '../email/message/parse-options.ts';
import { isObject } from '../shared/json.ts';
import { type ChangeNote, type ChangeProblem, noteOnChange, noteOnText, noteOnValue } from './change-note.ts';
import { type ConfigField, configFields } from './config-fields.ts';
import { ManagementError, refuseChange } from './management-error.ts';
import { isDigest } from './secret-digest.ts';
import { processorMs } from './templates/rendering-time.ts';
import { retiredTranslations } from './templates/retired-translations.ts';

/** Checked values. */
export interface ValidChanges {
  /** By name; null removes the stored value. */
  readonly values: ReadonlyMap<string, unknown>;
  /** Fields of the body without effect. */
  readonly ignored: readonly string[];
  readonly warnings: readonly ChangeNote[];
  /** About what is no mistake: for who asks for warnings. */
  readonly consequences: readonly ChangeNote[];
}

interface ValidationContext {
  /** The current configuration; its switches affect the meaning of templates. */
  readonly config: AuthConfig;
  /** The values that apply if nothing is stored. */
  readonly start: AuthConfig;
  /** The answer of a read: what is sent back as it was read changes nothing. */
  readonly presented: Readonly<Record<string, unknown>>;
  /** Ignore unknown names instead of refusing them. */
  readonly ignoreUnknown: boolean;
  /** Warn of emails that lead nowhere, instead of refusing them. */
  readonly allowWarnings: boolean;
}

interface Checking extends ValidationContext {
  /** Ends the checks (startCheckTime). */
  readonly isSpent: () => boolean;
}

/** They say how likely a guessed code is. */
const guessFields = ['rate_limit_email_sent', 'mailer_otp_attempts', 'mailer_otp_length'] as const;

type Body = Readonly<Record<string, unknown>>;

/** @throws ManagementError `invalid_body`, or `validation_failed` with every problem, in the order of the fields. */
export function validateChanges(body: unknown, context: ValidationContext): ValidChanges {
  if (!isObject(body)) throw new ManagementError('invalid_body');
  const given: Body = body;
  const problems: (ChangeNote | ChangeProblem)[] = [];
  const values = unsetBuiltIn(readValues(given, context, problems), context);
  const next = configAfter(values, context);
  const isSpent = startCheckTime();
  const checking = { ...context, isSpent };
  const isSwitched = switches.some((name) => !isDeepStrictEqual(next[name], context.config[name]));
  const broken = isSwitched ? checkSurroundings(next, isSpent) : [];
  const hasLayout = broken.every(({ field }) => field !== 'mailer_layout_content');
  const warnings: ChangeNote[] = [
    // A faulty layout is no fault of the emails.
    ...checkTemplates(
      values,
      sentBack(given, values, context),
      { ...checking, config: hasLayout ? next : { ...next, mailer_layout_content: null } },
      problems,
    ),
    ...faintBrand(values),
    ...(guessFields.some((name) => values.has(name))
      ? [describeGuesses(next) ?? []].flat().map((text) => noteOnChange(text))
      : []),
  ];
  if (isSwitched) {
    problems.push(...broken.map(({ field, place, finding }) => noteOnText(field, finding, place)));
    // Else each email would tell the same again.
    if (broken.length === 0) warnings.push(...checkInForce(values, checking, next, problems));
  }
  if (isSpent()) problems.push(noteOnChange(spentProblem));
  // These never refuse, and end when the time is used up.
  warnings.push(...newDeepLinks(given, next, checking));
  const unknown = Object.keys(given).filter((name) => !configFields.has(name));
  if (!context.ignoreUnknown) {
    problems.push(...describeUnknown(unknown, [...configFields.keys()]).map((text) => noteOnChange(text)));
  }
  if (problems.length > 0) refuseChange(problems);
  const inert = [...configFields.values()].filter((known) => known.inert && Object.hasOwn(given, known.name));
  return {
    values,
    ignored: [...inert.map(({ name }) => name), ...unknown],
    warnings,
    consequences: retiredTranslations(context.config, next),
  };
}

function readValues(
  given: Body,
  { presented }: ValidationContext,
  problems: ChangeNote[],
): ReadonlyMap<string, unknown> {
  const values = new Map<string, unknown>();
  for (const [name, field] of configFields) {
    if (!Object.hasOwn(given, name) || isDeepStrictEqual(given[name], presented[name])) continue;
    try {
      values.set(name, readValue(field, given[name]));
    } catch (error) {
      problems.push(noteOnValue(name, (error as Error).message));
    }
  }
  return values;
}

/** A text equal to the built-in one stays unset: as one's own it would end the built-in translations. */
function unsetBuiltIn(values: ReadonlyMap<string, unknown>, context: ValidationContext): ReadonlyMap<string, unknown> {
  const next = configAfter(values, context);
  const entries = [...values].map(([name, value]): [string, unknown] => {
    const held = templateField(name);
    const usual = name === linkPageField ? builtInLinkPage('en') : held && builtInText(held, next);
    if (typeof value !== 'string' || value !== usual) return [name, value];
    return [name, context.start[name as keyof AuthConfig] ? '' : null];
  });
  return new Map(entries);
}

/** @throws Error with the rest of a sentence. */
function readValue({ row }: ConfigField, value: unknown): unknown {
  if (value === null) {
    if (row.notNull) throw new Error('must not be null');
    return null;
  }
  // Checked against the stored secret when the values are merged.
  if (row.secret && isDigest(value)) return value;
  // PostgreSQL cannot store a lone surrogate.
  if (typeof value === 'string' && !value.isWellFormed()) throw new Error('must be well-formed Unicode text');
  return row.kind.parse(value);
}

const switches = [
  'mailer_extra_url_schemes',
  'mailer_keep_conditional_comments',
  'mailer_subject_html_escape',
  'mailer_layout_content',
  'mailer_partials',
] as const satisfies readonly (keyof TemplateSwitches)[];

/** With the values of the body: a text, the switches that it depends on and its translations may be sent together. */
function configAfter(values: ReadonlyMap<string, unknown>, { config, start }: ValidationContext): AuthConfig {
  const given = [...values].map(([name, value]) => [name, value ?? start[name as keyof AuthConfig]]);
  return { ...config, ...Object.fromEntries(given) };
}

function faintBrand(values: ReadonlyMap<string, unknown>): readonly ChangeNote[] {
  const color = values.get('mailer_brand_color');
  const problem = typeof color === 'string' ? faintColor(color) : null;
  return problem === null ? [] : [noteOnText('mailer_brand_color', findingOnWhole(problem))];
}

/** Texts of one's own that are sent as they are stored: a client is warned of them each time. */
function sentBack(given: Body, values: ReadonlyMap<string, unknown>, { config }: ValidationContext) {
  const names = checkedFields.filter((name) => Object.hasOwn(given, name) && !values.has(name));
  return names.flatMap((name): [string, unknown][] => {
    const value = config[name as keyof AuthConfig];
    return value ? [[name, value]] : [];
  });
}

function checkTemplates(
  values: ReadonlyMap<string, unknown>,
  same: readonly (readonly [name: string, value: unknown])[],
  { config, allowWarnings, isSpent }: Checking,
  problems: (ChangeNote | ChangeProblem)[],
): ChangeNote[] {
  const warnings: ChangeNote[] = [];
  for (const [name, value] of [...values, ...same]) {
    if (isSpent()) break;
    for (const { place, findings } of checkField(name, value, config, isSpent)) {
      const note = (finding: TemplateFinding) => noteOnText(name, finding, place);
      if (findings.problem !== null) problems.push(note(findings.problem));
      warnings.push(...findings.warnings.map(note));
      const links = findings.deadEnds.map(note);
      if (allowWarnings) warnings.push(...links);
      else problems.push(...links.map((link) => ({ ...link, allow_warnings: true })));
    }
  }
  const kept = checkKeptTranslations(new Set(values.keys()), config, isSpent);
  return [...warnings, ...kept.map(({ field, place, finding }) => noteOnText(field, finding, place))];
}

/** Under changed switches, unchanged templates may have another meaning or become invalid. */
function checkInForce(
  values: ReadonlyMap<string, unknown>,
  { config, allowWarnings, isSpent }: Checking,
  next: AuthConfig,
  problems: (ChangeNote | ChangeProblem)[],
): readonly ChangeNote[] {
  const warnings: ChangeNote[] = [];
  for (const name of checkedFields) {
    if (isSpent()) break;
    if (values.get(name)) continue;
    const held = templateField(name);
    const value =
      next[name as keyof AuthConfig] || (held !== null && next.mailer_layout_content ? builtInText(held, next) : null);
    for (const { place, findings } of checkField(name, value, next, isSpent)) {
      const note = (finding: TemplateFinding) => noteOnText(name, finding, { ...place, in_force: true });
      if (findings.problem !== null) problems.push(note(findings.problem));
      if (findings.deadEnds.length === 0) continue;
      // A dead end that was there before has been allowed.
      const before = checkField(name, config[name as keyof AuthConfig], config, isSpent);
      const known = before.flatMap((one) =>
        isDeepStrictEqual(one.place, place) ? one.findings.deadEnds.map(sayFinding) : [],
      );
      const added = findings.deadEnds.filter((finding) => !known.includes(sayFinding(finding))).map(note);
      if (allowWarnings) warnings.push(...added);
      else problems.push(...added.map((link) => ({ ...link, allow_warnings: true })));
    }
  }
  return warnings;
}

/** Unchanged templates with links that a changed list of redirects, or of schemes, makes unusable. */
function newDeepLinks(given: Body, next: AuthConfig, { config, isSpent }: Checking): readonly ChangeNote[] {
  const before = filteredSchemes(config);
  if (filteredSchemes(next).every((scheme) => before.includes(scheme))) return [];
  const unchanged = checkedFields.filter((name) => !Object.hasOwn(given, name));
  return unchanged.flatMap((name) => {
    const value = next[name as keyof AuthConfig];
    return (value && !isSpent() ? checkField(name, value, next, isSpent) : []).flatMap(({ place, findings }) =>
      findings.warnings
        .filter((finding) => finding.name === deepLink)
        .map((finding) => noteOnText(name, finding, { ...place, in_force: true })),
    );
  });
}

/** Most unknown names reported; a body may contain any number. */
const maxUnknown = 20;

/** Describes unknown fields. Names are quoted, shortened: they are the caller's own. */
export function describeUnknown(names: readonly string[], known: readonly string[]): readonly string[] {
  const shown = names.slice(0, maxUnknown).map((name) => {
    // A template is named without its part more often than it is mistyped.
    const longer = known.find((one) => one.startsWith(`${name}_`) && /^[^_]+$/.test(one.slice(name.length + 1)));
    const nearest = longer ?? nearestName(name.slice(0, 80), known);
    return `Unknown field "${name.slice(0, 80)}"${nearest === null ? '' : ` (did you mean "${nearest}"?)`}`;
  });
  const more = names.length - shown.length;
  return more === 0 ? shown : [...shown, `and ${more} more unknown fields`];
}

/**
 * Time for the templates of a change together, in milliseconds of processor time: all requests wait for the checks. All
 * emails in nine languages of usual length take a tenth of it.
 */
const maxCheckMs = 3000;

/** What is wrong with a change whose checks were given up. */
const spentProblem = `The templates take longer than ${maxCheckMs} ms to check. Send fewer or simpler ones`;

/** Starts the time. @returns Whether it is used up: no further template must be checked. */
function startCheckTime(): () => boolean {
  const startMs = processorMs();
  return () => processorMs() - startMs > maxCheckMs;
}
