/**
 * Checks the value of a field that holds templates: a text, or translations of one.
 */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import { linkPageField, translationsField } from '../../config/auth/auth-template-fields.ts';
import type { Translations } from '../../config/auth/auth-translations.ts';
import { emailKindNames } from '../../email/email-kind.ts';
import type { TemplatePart } from '../../email/parse-options.ts';
import { checkLinkPage } from './check-link-page.ts';
import {
  checkMessageTemplate,
  checkTemplate,
  nothing,
  type TemplateFindings,
  templateField,
  templateFieldNames,
} from './check-template.ts';

/** The findings about one text of a field. */
interface FieldFindings {
  /** Of a translation: `de, content: `; otherwise empty. */
  readonly place: string;
  readonly findings: TemplateFindings;
}

/** Checks one text of a language. */
type CheckPart = (part: TemplatePart, text: string, config: AuthConfig) => TemplateFindings;

const translationFields: ReadonlyMap<string, CheckPart> = new Map<string, CheckPart>([
  ...emailKindNames.map((email): [string, CheckPart] => [
    translationsField(email),
    (part, text, config) => checkTemplate({ email, part }, text, config),
  ]),
  [translationsField('link_page'), (_part, text, config) => checkLinkPage(text, config)],
]);

/** Names of the fields with translations. */
export const translationFieldNames: readonly string[] = [...translationFields.keys()];

/** Names of all fields whose templates depend on the switches of the configuration. */
export const checkedFields: readonly string[] = [...templateFieldNames, linkPageField, ...translationFieldNames];

/** Checks a value; other fields and values have no findings. @param isSpent Ends the checks (check-time.ts). */
export function checkField(
  name: string,
  value: unknown,
  config: AuthConfig,
  isSpent: () => boolean,
): readonly FieldFindings[] {
  if (typeof value === 'string') return [{ place: '', findings: checkText(name, value, config) }];
  const check = translationFields.get(name);
  return check === undefined || value === null || value === undefined
    ? []
    : checkTranslations(value as Translations, (part, text) => check(part, text, config), isSpent);
}

function checkText(name: string, text: string, config: AuthConfig): TemplateFindings {
  if (name === 'sms_template' || name === 'mfa_phone_template') return checkMessageTemplate(text);
  if (name === linkPageField) return checkLinkPage(text, config);
  const field = templateField(name);
  return field === null ? nothing : checkTemplate(field, text, config);
}

function checkTranslations(
  languages: Translations,
  check: (part: TemplatePart, text: string) => TemplateFindings,
  isSpent: () => boolean,
): readonly FieldFindings[] {
  const found: FieldFindings[] = [];
  for (const [tag, texts] of Object.entries(languages)) {
    for (const [part, text] of Object.entries(texts) as [TemplatePart, string][]) {
      if (isSpent()) return found;
      found.push({ place: `${tag}, ${part}: `, findings: check(part, text) });
    }
  }
  return found;
}
