/**
 * The templates of the page: emails, their translations, and what is shared beside them, the layout, the partials and the
 * page of links. Each has one to three texts in fields of the configuration; here is which, and what they are.
 */
import type { SharedTemplate } from '../../../../management/templates/draft-schemas.ts';
import type { EmailGroup } from './email-names.ts';

/** Subject, body and text part. A shared template has a body only. */
export interface EmailTexts {
  readonly subject: string;
  readonly content: string;
  /** Empty: made from the body. */
  readonly text: string;
}

type TextPart = keyof EmailTexts;

/** An email or a shared template. Names of fields that it does not have are empty. */
export interface DescribedEmail {
  /** `recovery`, `layout`, `link_page`, `partials/footer`. */
  readonly email: string;
  readonly group: EmailGroup;
  readonly parts: readonly TextPart[];
  readonly subjectField: string;
  readonly contentField: string;
  readonly textField: string;
  readonly translationsField: string;
  readonly enabledField: string | null;
  readonly variables: readonly string[];
  /** Languages of built-in texts, which apply while there is no text of one's own. */
  readonly builtInLocales: readonly string[];
  readonly defaults: EmailTexts;
  /** Of a partial: its name in the field. */
  readonly partial?: string;
  /** Of a translation, see `translationOf`; absent: the email itself. */
  readonly locale?: string;
  /** The texts that readers of the translation get for empty ones; empty: the server knows the built-in one. */
  readonly inherited?: EmailTexts;
  /** The texts that apply if nothing is stored. */
  readonly start: EmailTexts;
  readonly sample: Readonly<Record<string, unknown>>;
}

/** The configuration of a project. */
export type AuthConfig = Readonly<Record<string, unknown>>;

type Translations = Readonly<Record<string, Partial<EmailTexts>>>;

/** Built-in emails have no text part. */
export type AnsweredEmail = Omit<DescribedEmail, 'defaults' | 'parts' | 'partial' | 'locale' | 'inherited'> & {
  readonly defaults: Omit<EmailTexts, 'text'>;
};

const none: EmailTexts = { subject: '', content: '', text: '' };

/** An email of the list. */
export function toEmail(email: AnsweredEmail): DescribedEmail {
  return { ...email, parts: ['subject', 'content', 'text'], defaults: { ...email.defaults, text: '' } };
}

/** A shared template of the list. @param builtInLocales Of all built-in texts. */
export function toShared(shared: SharedTemplate, builtInLocales: readonly string[]): DescribedEmail {
  const { name, contentField, translationsField, variables, defaults, start, sample } = shared;
  return {
    email: name,
    group: 'shared',
    parts: ['content'],
    subjectField: '',
    contentField,
    textField: '',
    translationsField: translationsField ?? '',
    enabledField: null,
    variables,
    sample,
    builtInLocales: translationsField === null ? [] : builtInLocales,
    defaults: { ...none, ...defaults },
    start: { ...none, content: start.content || defaults.content },
  };
}

/** Start of the names of partials. */
export const partialsPath = 'partials/';

const partialsField = 'mailer_partials';

/** A partial, with the variables of the layout. */
export function toPartial(layout: DescribedEmail, partial: string): DescribedEmail {
  const email = `${partialsPath}${partial}`;
  return { ...layout, email, partial, contentField: partialsField, defaults: none, start: none };
}

/** The stored partials. */
export function partialsIn(config: AuthConfig): Readonly<Record<string, string>> {
  return (config[partialsField] ?? {}) as Readonly<Record<string, string>>;
}

/** The translations in a configuration. */
export function translationsIn(config: AuthConfig, { translationsField }: DescribedEmail): Translations {
  return (config[translationsField] ?? {}) as Translations;
}

/** The texts in a configuration, or in a version of it; empty ones of a translation are missing. */
export function textsIn(config: AuthConfig, email: DescribedEmail): EmailTexts {
  const { locale, partial, subjectField, contentField, textField, start, defaults } = email;
  if (locale !== undefined) return { ...none, ...translationsIn(config, email)[locale] };
  if (partial !== undefined) return { ...none, content: partialsIn(config)[partial] ?? '' };
  const { [subjectField]: subject, [contentField]: content, [textField]: text } = config;
  return {
    subject: String(subject ?? start.subject) || defaults.subject,
    content: String(content ?? start.content) || defaults.content,
    text: String(text ?? start.text),
  };
}

/** The change of the configuration that stores texts. */
export function changeOf(config: AuthConfig, email: DescribedEmail, texts: EmailTexts): AuthConfig {
  const { locale, partial, parts, subjectField, contentField, textField, translationsField } = email;
  if (locale !== undefined) {
    const translation = Object.fromEntries(parts.map((part) => [part, texts[part]]));
    return { [translationsField]: { ...translationsIn(config, email), [locale]: translation } };
  }
  if (partial !== undefined) return { [partialsField]: { ...partialsIn(config), [partial]: texts.content } };
  const fields = { subject: subjectField, content: contentField, text: textField };
  return Object.fromEntries(parts.map((part) => [fields[part], toStored(email, texts, part)]));
}

/** A text equal to the built-in one is not stored: a later release may improve it. Null: the start value. */
function toStored({ defaults, start }: DescribedEmail, texts: EmailTexts, part: TextPart): string | null {
  if (texts[part] === start[part]) return null;
  return texts[part] === defaults[part] ? '' : texts[part];
}

/** The change that removes a translation or a partial; null if it is not stored. */
export function removalOf(config: AuthConfig, email: DescribedEmail): AuthConfig | null {
  const { locale, partial = '', translationsField } = email;
  const [field, name, all] =
    locale === undefined
      ? [partialsField, partial, partialsIn(config)]
      : [translationsField, locale, translationsIn(config, email)];
  if (!Object.hasOwn(all, name)) return null;
  const { [name]: _removed, ...others } = all as Readonly<Record<string, unknown>>;
  return { [field]: others };
}

/** Names of the fields that hold the texts. */
export function fieldsOf({ locale, subjectField, contentField, textField, translationsField }: DescribedEmail) {
  return locale === undefined ? [subjectField, contentField, textField] : [translationsField];
}

/** The texts that a reader gets: of a translation, those that it lacks are inherited. */
export function completeTexts({ inherited }: DescribedEmail, texts: EmailTexts): EmailTexts {
  return inherited === undefined ? texts : fillTexts(texts, inherited);
}

/** The texts, with others for empty ones. */
function fillTexts({ subject, content, text }: EmailTexts, others: EmailTexts): EmailTexts {
  return { subject: subject || others.subject, content: content || others.content, text: text || others.text };
}

/** Whether the texts are the same. */
export function areSame(a: EmailTexts, b: EmailTexts): boolean {
  return a.subject === b.subject && a.content === b.content && a.text === b.text;
}

/** The email in a language, whose defaults are the texts of the email itself. */
export function translationOf(config: AuthConfig, email: DescribedEmail, locale: string): DescribedEmail {
  const defaults = textsIn(config, email);
  let inherited = areSame(defaults, email.defaults) ? none : defaults;
  const subtags = locale.split('-');
  for (let count = 1; count < subtags.length; count++) {
    const general = subtags.slice(0, count).join('-');
    inherited = fillTexts({ ...none, ...translationsIn(config, email)[general] }, inherited);
  }
  return { ...email, locale, defaults, inherited };
}
