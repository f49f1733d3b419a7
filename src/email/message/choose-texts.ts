/**
 * Chooses the language of an email, and the texts of that language: configured translations, the configured texts, the
 * built-in ones.
 *
 * A text that a language lacks is that of the next tag: `de-CH`, `de`, the email itself.
 */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import { textFields, translationsField } from '../../config/auth/auth-template-fields.ts';
import type { Translations } from '../../config/auth/auth-translations.ts';
import type { EmailKind } from '../../config/auth/email-kinds.ts';
import { canonicalTag, lookUpTag } from '../../shared/language-tag.ts';
import { builtIn, builtInLocales, type TemplateTexts } from '../built-in/built-in.ts';
import type { TemplatePart } from './parse-options.ts';

/** The texts of an email in the template language. */
type CurrentTexts = Readonly<Record<Exclude<TemplatePart, 'text'>, string>> & {
  /** Null: the text part is made from the body. */
  readonly text: string | null;
};

/** The language of the built-in texts that are used if no other language is chosen. */
const baseLocale = 'en';

/** The languages of a user, best first. @param ofRequest Those of the request, for users without any. */
export function languagesOf(
  { locale, language, lang }: Readonly<Record<string, unknown>>,
  ofRequest: readonly string[],
): readonly string[] {
  const own = [locale, language, lang].map(canonicalTag).filter((tag) => tag !== null);
  return own.length > 0 ? own : ofRequest;
}

/** The tag whose texts an email gets; empty: the email itself. @param preferredTags Canonical tags, best first. */
export function chooseLocale(kind: EmailKind, config: AuthConfig, preferredTags: readonly string[]): string {
  const { tags, base } = choiceOf(kind, config);
  return lookUpTag(preferredTags, tags) ?? base;
}

/** What there is to choose from, and what is left without a choice. */
interface Choice {
  readonly tags: readonly string[];
  readonly base: string;
}

/** A configuration never changes, so it is read once. */
const choices = new WeakMap<AuthConfig, Map<EmailKind, Choice>>();

function choiceOf(kind: EmailKind, config: AuthConfig): Choice {
  const kinds = choices.get(config) ?? new Map<EmailKind, Choice>();
  const known = kinds.get(kind);
  if (known !== undefined) return known;
  const choice = { tags: localesOf(kind, config), base: isBuiltIn(kind, config) ? baseLocale : '' };
  choices.set(config, kinds.set(kind, choice));
  return choice;
}

/** All tags that an email has texts for. */
export function localesOf(kind: EmailKind, config: AuthConfig): readonly string[] {
  const own = Object.keys(config[translationsField(kind)] ?? {});
  return isTranslated(kind, config) ? [...new Set([...own, ...builtInLocales])] : own;
}

/** The texts of a tag; without one, those of the email itself. */
export function templateTexts(kind: EmailKind, config: AuthConfig, locale: string = ''): CurrentTexts {
  const { subject, content, text } = textFields(kind);
  const own = config[translationsField(kind)];
  const builtInLocale = isTranslated(kind, config) ? locale : baseLocale;
  const usual = builtInTexts(kind, config, builtInLocale);
  return {
    subject: translated(own, 'subject', locale) ?? (config[subject] || usual.subject),
    content: translated(own, 'content', locale) ?? (config[content] || usual.content),
    text: translated(own, 'text', locale) ?? (config[text] || null),
  };
}

/** A text of a language, or of a more general one. */
export function translated(own: Translations | null, part: TemplatePart, locale: string): string | null {
  if (own === null || locale === '') return null;
  const tags = Object.keys(own).filter((tag) => own[tag]?.[part] !== undefined);
  const tag = lookUpTag([locale], tags);
  return tag === null ? null : (own[tag]?.[part] ?? null);
}

/** What the built-in texts depend on. */
type BuiltInConfig = Pick<AuthConfig, 'mailer_compatible' | 'mailer_layout_content'>;

/** The texts that empty ones stand for. A layout of the project takes the place of the built-in page. */
export function builtInTexts(
  kind: EmailKind,
  { mailer_compatible, mailer_layout_content }: BuiltInConfig,
  locale: string = baseLocale,
): TemplateTexts {
  const tag = mailer_compatible ? baseLocale : (lookUpTag([locale], builtInLocales) ?? baseLocale);
  const { subject, content, body, plain } = builtIn(kind, tag);
  return { subject, content: mailer_compatible ? plain : mailer_layout_content ? body : content };
}

/** The text that an empty one stands for; null for a text part, which is made from the body. */
export function builtInText(
  { email, part }: { readonly email: EmailKind; readonly part: TemplatePart },
  config: BuiltInConfig,
): string | null {
  return part === 'text' ? null : builtInTexts(email, config)[part];
}

/** Whether a text is the built-in one, with the built-in page around it or without. */
export function isBuiltInText(
  field: { readonly email: EmailKind; readonly part: TemplatePart },
  text: string,
): boolean {
  const configs = [false, true].flatMap((compatible) =>
    [null, ' '].map((layout) => ({ mailer_compatible: compatible, mailer_layout_content: layout })),
  );
  return configs.some((config) => builtInText(field, config) === text);
}

/** Beside a text of your own, a built-in one of another language would be out of place. */
function isBuiltIn(kind: EmailKind, config: AuthConfig): boolean {
  return Object.values(textFields(kind)).every((field) => !config[field]);
}

function isTranslated(kind: EmailKind, config: AuthConfig): boolean {
  return isBuiltIn(kind, config) && !config.mailer_compatible;
}
