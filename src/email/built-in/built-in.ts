/**
 * The built-in subjects and bodies of the emails, in nine languages.
 *
 * The management API returns them for fields that are not set, as a starting point for your own.
 */
import { type EmailKind, emailKinds } from '../../config/auth/email-kinds.ts';
import type { BaseTexts, LanguageTexts } from './language-texts.ts';
import { layOut, printBody, printPlain } from './layout.ts';
import { german } from './texts/de.ts';
import { english } from './texts/en.ts';
import { spanish } from './texts/es.ts';
import { french } from './texts/fr.ts';
import { italian } from './texts/it.ts';
import { japanese } from './texts/ja.ts';
import { dutch } from './texts/nl.ts';
import { polish } from './texts/pl.ts';
import { portuguese } from './texts/pt.ts';

/** Subject and body of an email, both in the template language. */
export interface TemplateTexts {
  readonly subject: string;
  readonly content: string;
}

/** Texts by language. */
export const languages = {
  en: english,
  de: german,
  fr: french,
  es: spanish,
  it: italian,
  pt: portuguese,
  nl: dutch,
  pl: polish,
  ja: japanese,
} as const satisfies Readonly<Record<string, LanguageTexts>>;

/** A language of the built-in texts. */
export type BuiltInLocale = keyof typeof languages;

/** All of them, the base first. */
export const builtInLocales = Object.keys(languages) as readonly BuiltInLocale[];

interface BuiltInTexts extends TemplateTexts {
  /** The content without the page around it, for a layout of the project. */
  readonly body: string;
  /** The content for `mailer_compatible`: HTML alone, as Supabase Auth sends. */
  readonly plain: string;
}

const made = new Map<string, BuiltInTexts>();

/** The texts of an email. @param locale A tag without them has the English ones. */
export function builtIn(kind: EmailKind, locale: string): BuiltInTexts {
  const language = builtInLocales.find((name) => name === locale) ?? 'en';
  const key = `${language} ${kind}`;
  const known = made.get(key);
  if (known !== undefined) return known;
  const texts = make(kind, language);
  made.set(key, texts);
  return texts;
}

/** The emails of a language, in English where it lacks one. */
export function emailTexts(locale: BuiltInLocale): BaseTexts['emails'] {
  return { ...english.emails, ...languages[locale].emails };
}

function make(kind: EmailKind, locale: BuiltInLocale): BuiltInTexts {
  const { orCode, methods }: LanguageTexts = languages[locale];
  const { subject, heading = subject, lead, button = null, end } = emailTexts(locale)[kind];
  const named = (value: string, of: readonly (keyof LanguageTexts['methods'])[]) => {
    const cases = of.map((name) => `if eq ${value} "${name}" }}${methods[name]}{{ else`);
    return `{{ ${cases.join(' ')} }}{{ ${value} }}{{ end }}`;
  };
  const { hasCode } = emailKinds[kind];
  const parts = {
    heading,
    button,
    hasCode,
    end,
    lead: lead
      .replace('{factor}', () => named('.FactorType', ['totp', 'phone']))
      .replace('{provider}', () => named('.Provider', ['email', 'phone'])),
    codeLine: hasCode && button !== null ? orCode : null,
  };
  const body = printBody(parts);
  return { subject, body, content: layOut(body, { locale, heading }), plain: printPlain(parts) };
}
