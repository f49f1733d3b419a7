/**
 * The built-in translations of emails: an email with a text of its own no longer has them. `templates pull
 * --translations` writes them as files, to be stored as translations of one's own.
 */
import { translationsField } from '../../config/auth/auth-template-fields.ts';
import type { EmailKind } from '../../config/auth/email-kinds.ts';
import { templateField, templateFieldNames } from '../../email/lint/check-template.ts';
import { builtInTexts, isBuiltInText } from '../../email/message/choose-texts.ts';
import { languagesWithout } from '../../management/templates/retired-translations.ts';
import { isObject } from '../../shared/json.ts';
import type { TextsByField } from './templates-files.ts';

type ConfigJson = Readonly<Record<string, unknown>>;

/** The built-in translations that emails with their own text lack, by field. */
export function lostTranslations(config: ConfigJson, files: TextsByField, inForce: TextsByField): TextsByField {
  if (config.mailer_compatible === true) return new Map();
  const { mailer_layout_content: layout } = config;
  const given = { mailer_compatible: false, mailer_layout_content: typeof layout === 'string' ? layout : null };
  const texts = ownEmails(new Map([...inForce, ...files])).flatMap((email) => {
    const field = translationsField(email);
    const own = Object.keys(isObject(config[field]) ? config[field] : {});
    const inFiles = [...files].flatMap(([name, text]) =>
      name.startsWith(`${field}.`) && text !== '' ? [name.split('.')[1] ?? ''] : [],
    );
    return languagesWithout([...own, ...inFiles]).flatMap((locale) => {
      const { subject, content } = builtInTexts(email, given, locale);
      return [[`${field}.${locale}.subject`, subject] as const, [`${field}.${locale}.content`, content] as const];
    });
  });
  return new Map(texts);
}

function ownEmails(texts: TextsByField): readonly EmailKind[] {
  const own = templateFieldNames.flatMap((field) => {
    const [held, text] = [templateField(field), texts.get(field)];
    return held === null || !text || isBuiltInText(held, text) ? [] : [held.email];
  });
  return [...new Set(own)];
}
