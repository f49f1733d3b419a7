/** Checks the value of a field that holds templates: a text, or translations of one. */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import {
  enabledFieldOf,
  linkPageField,
  textFields,
  translationsField,
} from '../../config/auth/auth-template-fields.ts';
import type { Translations } from '../../config/auth/auth-translations.ts';
import { emailKindNames } from '../../config/auth/email-kinds.ts';
import { unknownLanguage } from '../../shared/language-tag.ts';
import type { TemplatePart } from '../message/parse-options.ts';
import { checkLinkPage } from './check-link-page.ts';
import {
  checkMessageTemplate,
  checkTemplate,
  languageMistakes,
  nothing,
  type TemplateField,
  type TemplateFindings,
  templateField,
  templateFieldNames,
} from './check-template.ts';
import { findingOnWhole, type TemplateFinding } from './finding.ts';
import { ownText } from './language-variables.ts';

/** Which text of a field: of translations, otherwise empty. */
type TextPlace = { readonly language?: string; readonly part?: TemplatePart };

/** The findings about one text of a field. */
interface FieldFindings {
  readonly place: TextPlace;
  readonly findings: TemplateFindings;
}

/** Checks one text of a language. */
type CheckPart = (part: TemplatePart, text: string, config: AuthConfig) => TemplateFindings;

const translationFields: ReadonlyMap<string, CheckPart> = new Map<string, CheckPart>([
  ...emailKindNames.map((email): [string, CheckPart] => [
    translationsField(email),
    (part, text, config) => checkTemplate({ email, part, base: ownText(part, email, config) }, text, config),
  ]),
  [translationsField('link_page'), (_part, text, config) => checkLinkPage(text, config)],
]);

/** Names of the fields with translations. */
export const translationFieldNames: readonly string[] = [...translationFields.keys()];

/** Names of all fields whose templates depend on the switches of the configuration. */
export const checkedFields: readonly string[] = [...templateFieldNames, linkPageField, ...translationFieldNames];

/** Checks a value; other fields and values have no findings. @param isSpent Ends the checks (startCheckTime). */
export function checkField(
  name: string,
  value: unknown,
  config: AuthConfig,
  isSpent: () => boolean,
): readonly FieldFindings[] {
  if (typeof value === 'string') return [{ place: {}, findings: checkText(name, value, config) }];
  const check = translationFields.get(name);
  return check === undefined || value === null || value === undefined
    ? []
    : checkTranslations(value as Translations, (part, text) => check(part, text, config), isSpent);
}

/** A translation that differs from a changed text of its email. */
interface LanguageFinding {
  readonly field: string;
  readonly place: TextPlace;
  readonly finding: TemplateFinding;
}

/** The findings about translations that stay as they are, because a text of their email changes. */
export function checkKeptTranslations(
  changed: ReadonlySet<string>,
  config: AuthConfig,
  isSpent: () => boolean,
): readonly LanguageFinding[] {
  return emailKindNames.flatMap((email) => {
    const field = translationsField(email);
    if (changed.has(field)) return [];
    return Object.entries(config[field] ?? {}).flatMap(([tag, texts]) =>
      (Object.entries(texts) as [TemplatePart, string][]).flatMap(([part, text]) => {
        const base = changed.has(textFields(email)[part]) && !isSpent() ? ownText(part, email, config) : null;
        const found = base === null ? [] : languageMistakes(text, base, config);
        return found.map((finding) => ({ field, place: { language: tag, part }, finding }));
      }),
    );
  });
}

function checkText(name: string, text: string, config: AuthConfig): TemplateFindings {
  if (name === 'sms_template' || name === 'mfa_phone_template') return checkMessageTemplate(text);
  if (name === linkPageField) return checkLinkPage(text, config);
  const field = templateField(name);
  return field === null ? nothing : checkTemplate({ ...field, offBy: offBy(field, config) }, text, config);
}

/** Told once an email, with its body. */
function offBy({ part, email }: TemplateField, config: AuthConfig): string | null {
  const name = part === 'content' ? enabledFieldOf(email) : null;
  return name === null || config[name] ? null : name;
}

function checkTranslations(
  languages: Translations,
  check: (part: TemplatePart, text: string) => TemplateFindings,
  isSpent: () => boolean,
): readonly FieldFindings[] {
  const found: FieldFindings[] = [];
  for (const [tag, texts] of Object.entries(languages)) {
    let unknown = unknownLanguage(tag);
    for (const [part, text] of Object.entries(texts) as [TemplatePart, string][]) {
      if (isSpent()) return found;
      const findings = check(part, text);
      const strange = unknown === null ? [] : [findingOnWhole(unknown, 'unknown-language')];
      found.push({
        place: { language: tag, part },
        findings: { ...findings, warnings: [...strange, ...findings.warnings] },
      });
      // Told once.
      unknown = null;
    }
  }
  return found;
}
