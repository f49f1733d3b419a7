/**
 * The built-in translations of an email or of the page of links end with the first text of one's own. Readers of those
 * languages then get that text, which its author is told.
 */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import { linkPageField, textFields, translationsField } from '../../config/auth/auth-template-fields.ts';
import { type EmailKind, emailKindNames } from '../../config/auth/email-kinds.ts';
import { builtInLocales } from '../../email/built-in/built-in.ts';
import { builtInLinkPage } from '../../email/link-page/link-page-texts.ts';
import { findingOnWhole } from '../../email/lint/finding.ts';
import { builtInText } from '../../email/message/choose-texts.ts';
import type { TemplatePart } from '../../email/message/parse-options.ts';
import { type ChangeNote, noteOnText } from '../change-note.ts';

/** The languages of the built-in texts for which there is no translation of one's own. @param tags Of the translations. */
export function languagesWithout(tags: readonly string[]): readonly string[] {
  return builtInLocales.filter((locale) => locale !== 'en' && !tags.some((tag) => tag.split('-')[0] === locale));
}

/** The translations that a change ends, about changed fields. */
export function retiredTranslations(before: AuthConfig, after: AuthConfig): readonly ChangeNote[] {
  if (after.mailer_compatible) return [];
  const kinds: readonly (EmailKind | 'link_page')[] = [...emailKindNames, 'link_page'];
  return kinds.flatMap((kind) => {
    const own = ownField(kind, after);
    if (own === undefined || ownField(kind, before) !== undefined) return [];
    const languages = languagesWithout(Object.keys(after[translationsField(kind)] ?? {}));
    const what = kind === 'link_page' ? 'page' : 'email';
    const text = `readers of ${languages.join(', ')} get it, too: a text of your own ends the built-in translations of the ${what}. To keep them, add them as yours (templates pull --translations writes them as files)`;
    return languages.length === 0 ? [] : [{ ...noteOnText(own, findingOnWhole(text)), ended: languages }];
  });
}

/** The first field with a text of one's own. The configuration that a client has read has the built-in ones, too. */
function ownField(kind: EmailKind | 'link_page', config: AuthConfig): keyof AuthConfig | undefined {
  if (kind === 'link_page') {
    const { [linkPageField]: page } = config;
    return page && page !== builtInLinkPage('en') ? linkPageField : undefined;
  }
  const parts: readonly TemplatePart[] = ['subject', 'content', 'text'];
  const own = parts.find((part) => {
    const text = config[textFields(kind)[part]];
    return text && text !== builtInText({ email: kind, part }, config);
  });
  return own === undefined ? undefined : textFields(kind)[own];
}
