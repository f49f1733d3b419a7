/**
 * Email bodies in files and at addresses: read at the start and when they change, and merged into the start values.
 *
 * The texts of an email are used together. If one is unreadable or invalid, the previous ones stay, or the built-in
 * ones if there were none. Each mistake is observed once, with its place.
 */
import { type AuthConfig, type AuthValues, layerAuthConfig } from '../../config/auth/auth-config.ts';
import { textFields } from '../../config/auth/auth-template-fields.ts';
import type { TemplateSource, TemplateSources } from '../../config/auth/auth-template-source.ts';
import { type EmailKind, emailKindNames } from '../../config/auth/email-kinds.ts';
import { parseTemplate } from '../../email/engine/template.ts';
import { TemplateError } from '../../email/engine/template-error.ts';
import { checkField, translationFieldNames } from '../../email/lint/check-field.ts';
import { checkSurroundings } from '../../email/lint/check-surroundings.ts';
import { mistakesIn } from '../../email/lint/check-template.ts';
import { describeFault } from '../../email/lint/describe-fault.ts';
import { sayFinding, type TemplateFinding } from '../../email/lint/finding.ts';
import { builtInText } from '../../email/message/choose-texts.ts';
import { parseOptions, type TemplatePart } from '../../email/message/parse-options.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Observe } from '../../shared/observation.ts';
import { noteOnText } from '../change-note.ts';
import type { ConfigStore } from '../config-store.ts';
import { createTemplateReader, type TemplateReader } from './template-reader.ts';

/** The start values, and the sources of bodies that they do not contain. */
export interface AuthStart {
  readonly authValues: AuthValues;
  readonly authTemplates: TemplateSources;
}

interface ConfiguredTemplatesParts {
  readonly store: ConfigStore;
  readonly clock: Clock;
  readonly observe: Observe;
}

/** Interval of checking the files, and the addresses that are due, in milliseconds. */
const lookMs = 500;

/** The texts of an email; null: the built-in one. */
type Texts = Readonly<Record<TemplatePart, string | null>>;

type Readers = ReadonlyMap<EmailKind, TemplateReader>;

/** Keeps the start values of a store current. The constructor reads nothing. */
export class ConfiguredTemplates {
  readonly #parts: ConfiguredTemplatesParts;
  #authValues: AuthValues = {};
  #readers: Readers = new Map();
  /** The last valid ones. */
  readonly #good = new Map<EmailKind, Texts>();
  /** The last message about each email. */
  readonly #told = new Map<EmailKind, string>();
  /** What is wrong with the layout and the partials. */
  #broken: readonly string[] = [];
  /** Sources being read: a slow address must not delay others. */
  readonly #busy = new Set<TemplateReader>();
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(parts: ConfiguredTemplatesParts) {
    this.#parts = parts;
  }

  /**
   * Sets start values, the first time or again, for example after the configuration file changed. Resolves when every
   * body was read or failed, after 10 s at most.
   */
  async replace({ authValues, authTemplates }: AuthStart): Promise<void> {
    const { clock } = this.#parts;
    await this.#end();
    if (this.#stopped) return;
    // The start value: users who may change the stored configuration must not choose hosts that the gateway reads from.
    const siteUrl = layerAuthConfig(authValues).site_url;
    const sources = Object.entries(authTemplates) as [EmailKind, TemplateSource][];
    const readers = new Map(sources.map(([email, source]) => [email, createTemplateReader(source, siteUrl, clock)]));
    this.#authValues = authValues;
    this.#readers = readers;
    await Promise.all([...readers.values()].map((reader) => reader.read()));
    if (this.#stopped || readers !== this.#readers) return;
    this.#apply();
    if (readers.size === 0) return;
    this.#timer = setInterval(() => {
      for (const reader of readers.values()) void this.#look(reader);
    }, lookMs).unref();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#end();
  }

  async #end(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([...this.#readers.values()].map((reader) => reader.stop()));
  }

  async #look(reader: TemplateReader): Promise<void> {
    if (this.#busy.has(reader)) return;
    this.#busy.add(reader);
    const isChanged = await reader.read();
    this.#busy.delete(reader);
    const isCurrent = !this.#stopped && [...this.#readers.values()].includes(reader);
    if (isChanged && isCurrent) this.#apply();
  }

  #apply(): void {
    const values: Record<string, unknown> = { ...this.#authValues };
    const broken = checkSurroundings(this.#parts.store.configWith(this.#authValues), () => false);
    // They would break the built-in emails, too.
    if (broken.length > 0) for (const name of ['mailer_layout_content', 'mailer_partials']) delete values[name];
    const config = this.#parts.store.configWith(values as AuthValues);
    const faulty = faultyTranslations(values, config);
    for (const { name } of faulty) delete values[name];
    this.#tellBroken([
      ...broken.map(({ field, place, finding }) => noteOnText(field, finding, place).message),
      ...faulty.map(({ problem }) => problem),
    ]);
    for (const email of emailKindNames) {
      const texts = this.#textsOf(email, config);
      for (const part of parts) setOrDelete(values, textFields(email)[part], texts[part]);
    }
    this.#parts.store.setStartValues(values as AuthValues);
  }

  #tellBroken(broken: readonly string[]): void {
    for (const problem of broken.filter((one) => !this.#broken.includes(one))) {
      const hint = 'Emails are sent without this start value.';
      this.#parts.observe({ kind: 'warning', message: problem, hint });
    }
    this.#broken = broken;
  }

  #textsOf(email: EmailKind, config: AuthConfig): Texts {
    const reader = this.#readers.get(email);
    const fields = textFields(email);
    // One equal to the built-in text is unset, as one that is stored.
    const own = (part: TemplatePart, text = this.#authValues[fields[part]] ?? null) =>
      text === builtInText({ email, part }, config) ? null : text;
    const given: Texts = {
      subject: own('subject'),
      content: own('content', reader?.text ?? undefined),
      text: own('text'),
    };
    const looks = parts.map((part) => lookAt(part, given[part], email, config));
    const problem = reader?.problem ?? looks.find((look) => look.problem !== null)?.problem ?? null;
    if (problem === null) {
      this.#good.set(email, given);
      this.#warn(
        email,
        looks.flatMap(({ mistakes }) => mistakes),
      );
      return given;
    }
    const kept = this.#good.get(email) ?? null;
    this.#tell(email, problem, kept !== null);
    return kept ?? { subject: null, content: null, text: null };
  }

  #tell(email: EmailKind, problem: string, isKept: boolean): void {
    if (this.#told.get(email) === problem) return;
    this.#told.set(email, problem);
    const source = this.#sourceOf(email);
    this.#parts.observe({ kind: 'template_refused', email, source, problem, kept: isKept ? 'previous' : 'built-in' });
  }

  /** As for a text stored through the management API. */
  #warn(email: EmailKind, mistakes: readonly string[]): void {
    const all = mistakes.join('\n');
    if ((this.#told.get(email) ?? '') === all) return;
    this.#told.set(email, all);
    for (const mistake of mistakes)
      this.#parts.observe({ kind: 'warning', message: `Email ${email}, ${this.#sourceOf(email)}: ${mistake}` });
  }

  #sourceOf(email: EmailKind): string {
    return this.#readers.get(email)?.name ?? 'configuration';
  }
}

/** Fields with a translation that would fail for every email. The email itself, or the built-in one, is sent instead. */
function faultyTranslations(values: Readonly<Record<string, unknown>>, config: AuthConfig) {
  return translationFieldNames.flatMap((name) => {
    const faults = checkField(name, values[name], config, () => false).flatMap(({ place, findings: { problem } }) =>
      problem === null ? [] : [noteOnText(name, problem, place).message],
    );
    return faults.slice(0, 1).map((problem) => ({ name, problem }));
  });
}

const parts = ['subject', 'content', 'text'] as const satisfies readonly TemplatePart[];

/** Findings about a text: why it is unusable, or probable mistakes. */
interface Look {
  readonly problem: string | null;
  readonly mistakes: readonly string[];
}

function lookAt(part: TemplatePart, text: string | null, email: EmailKind, config: AuthConfig): Look {
  if (text === null || text === '') return { problem: null, mistakes: [] };
  try {
    const template = parseTemplate(text, parseOptions(part, config));
    const { warnings, deadEnds } = mistakesIn(template, { part, email }, config);
    return { problem: null, mistakes: sayEach([...warnings, ...deadEnds]).map((mistake) => `${part}: ${mistake}`) };
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    const { message, line, column } = describeFault(error, text, email);
    const place = line === null ? '' : `, line ${line}, column ${column}`;
    return { problem: `${part}${place}: ${message}`, mistakes: [] };
  }
}

/** Mistakes of one kind as one sentence: a unit of CSS can stand in hundreds of places. */
function sayEach(mistakes: readonly TemplateFinding[]): readonly string[] {
  const kinds = Map.groupBy(mistakes, ({ message, name }) => `${name} ${message}`);
  return [...kinds.values()].map(([first, ...others]) => {
    const count = others.length === 0 ? '' : `, the first of ${others.length + 1}`;
    return `${sayFinding(first!)}${count}`;
  });
}

function setOrDelete(values: Record<string, unknown>, name: string, value: string | null): void {
  if (value === null) delete values[name];
  else values[name] = value;
}
