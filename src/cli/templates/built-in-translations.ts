/**
 * The built-in translations of emails: an email with a text of its own no longer has them. `templates pull
 * --translations` writes them as files, to be stored as translations of one's own.
 */
import { translationsField } from '../../config/auth/auth-template-fields.ts';
import { type EmailKind, emailKindNames } from '../../config/auth/email-kinds.ts';
import { templateField, templateFieldNames } from '../../email/lint/check-template.ts';
import { builtInTexts, isBuiltInText } from '../../email/message/choose-texts.ts';
import { languagesWithout } from '../../management/templates/retired-translations.ts';
import { isObject } from '../../shared/json.ts';
import type { TextsByField } from './templates-files.ts';

type ConfigJson = Readonly<Record<string, unknown>>;

/** Emails that have a text of their own in `texts`. */
export function ownEmails(texts: TextsByField): ReadonlySet<EmailKind> {
  const own = templateFieldNames.flatMap((field) => {
    const [held, text] = [templateField(field), texts.get(field)];
    return held === null || !text || isBuiltInText(held, text) ? [] : [held.email];
  });
  return new Set(own);
}

/** The languages whose built-in texts an email with its own text lacks. */
export function lostLanguages(email: EmailKind, config: ConfigJson, files: TextsByField): readonly string[] {
  if (config.mailer_compatible === true) return [];
  const field = translationsField(email);
  const stored = config[field];
  const inFiles = [...files].filter(([name, text]) => name.startsWith(`${field}.`) && text !== '');
  const tags = [...Object.keys(isObject(stored) ? stored : {}), ...inFiles.map(([name]) => name.split('.')[1] ?? '')];
  return languagesWithout(tags);
}

/** The built-in translations that emails with their own text lack, by field. */
export function lostTranslations(config: ConfigJson, files: TextsByField, inForce: TextsByField): TextsByField {
  const { mailer_layout_content: layout } = config;
  const given = { mailer_compatible: false, mailer_layout_content: typeof layout === 'string' ? layout : null };
  const own = ownEmails(new Map([...inForce, ...files]));
  const texts = emailKindNames
    .filter((email) => own.has(email))
    .flatMap((email) =>
      lostLanguages(email, config, files).flatMap((locale) => {
        const { subject, content } = builtInTexts(email, given, locale);
        const field = `${translationsField(email)}.${locale}`;
        return [[`${field}.subject`, subject] as const, [`${field}.content`, content] as const];
      }),
    );
  return new Map(texts);
}
