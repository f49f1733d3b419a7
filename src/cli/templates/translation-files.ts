/**
 * Translations as files, for `pgreflect templates pull|push|diff`: `NAME.TAG.html`, `NAME.TAG.txt` and
 * `NAME.TAG.subject` are the texts of an email in a language, `link_page.TAG.html` those of the page of links.
 *
 * The API has one field for all languages of an email. Here each text has a name of its own: `FIELD.TAG.PART`.
 */
import { translationsField } from '../../config/auth/auth-template-fields.ts';
import type { Translation } from '../../config/auth/auth-translations.ts';
import { type EmailKind, emailKindNames } from '../../config/auth/email-kinds.ts';
import { isObject } from '../../shared/json.ts';
import { canonicalTag } from '../../shared/language-tag.ts';
import { failCommand } from '../shared/command.ts';

type Part = keyof Translation;

const endings: Readonly<Record<Part, string>> = { content: 'html', text: 'txt', subject: 'subject' };

const names = [...emailKindNames, 'link_page'] as const;

const pattern = /^(mailer_templates_(\w+)_translations)\.([\w-]+)\.(subject|content|text)$/;

/** Whether a name is that of a text in a language. */
export function isTranslation(field: string): boolean {
  return pattern.test(field);
}

/** The field of the same text without a language: its limits are those of the translation. */
export function fieldOfPart(field: string): string {
  const [, , name, , part] = pattern.exec(field) ?? [];
  return part === 'subject' ? `mailer_subjects_${name}` : `mailer_templates_${name}_${part}`;
}

/** `mailer_templates_recovery_translations.de.content` -> `recovery.de.html`; null for other fields. */
export function placeOfTranslation(field: string): string | null {
  const [, , name, tag, part] = pattern.exec(field) ?? [];
  return part === undefined ? null : `${name}.${tag}.${endings[part as Part]}`;
}

/**
 * The name of a file's text; null for other files.
 *
 * @param emailOf The email of a name; null: the file is left alone.
 * @throws CommandError if there is no such language.
 */
export function translationIn(file: string, emailOf: (name: string) => EmailKind | null): string | null {
  const [, given = '', language = '', ending] = /^([^.]+)\.([^.]+)\.(html|txt|subject)$/.exec(file) ?? [];
  const part = (Object.keys(endings) as Part[]).find((one) => endings[one] === ending);
  if (part === undefined) return null;
  const name = given === 'link_page' ? given : emailOf(given);
  if (name === null) return null;
  const tag = canonicalTag(language);
  if (tag === null) failCommand(`${file}: "${language}" is no language tag.`, 'Name the file like recovery.de.html.');
  return `${translationsField(name)}.${tag}.${part}`;
}

/** All texts in languages of a configuration, as the management API answers it. */
export function translationsOf(config: Readonly<Record<string, unknown>>): readonly (readonly [string, string])[] {
  return names.flatMap((name) => {
    const field = translationsField(name);
    return Object.entries(languagesOf(config, field)).flatMap(([tag, texts]) =>
      Object.entries(texts).map(([part, text]) => [`${field}.${tag}.${part}`, text] as const),
    );
  });
}

/** The fields of changed texts: with all languages, and without texts that are empty. */
export function translationValues(
  changes: readonly (readonly [field: string, text: string])[],
  config: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const values: Record<string, Record<string, Translation>> = {};
  for (const [name, text] of changes) {
    const [, field = '', , tag = '', part = ''] = pattern.exec(name) ?? [];
    values[field] ??= { ...languagesOf(config, field) };
    values[field][tag] = { ...values[field][tag], [part]: text };
  }
  return values;
}

function languagesOf(config: Readonly<Record<string, unknown>>, field: string): Readonly<Record<string, Translation>> {
  const value = config[field];
  return isObject(value) ? (value as Readonly<Record<string, Translation>>) : {};
}
