/** Translations in the auth configuration: an object from a language tag to the texts of an email in that language. */
import { isObject } from '../../shared/json.ts';
import { canonicalTag } from '../../shared/language-tag.ts';
import type { Schema } from '../../shared/schema.ts';
import { object } from './auth-field.ts';

/** Texts in one language; an absent one is that of the next tag: `de-CH`, `de`, the email itself. */
export type Translation = Readonly<Partial<Record<'subject' | 'content' | 'text', string>>>;

/** By canonical tag. */
export type Translations = Readonly<Record<string, Translation>>;

/** Checks of the parts, as those of the email itself have. */
type PartKinds = Readonly<Partial<Record<keyof Translation, Schema<string>>>>;

const maxLanguages = 100;

/** @param parts The parts that exist. */
export function translations(parts: PartKinds): Schema<Translations> {
  return object((value) => readTranslations(value, parts));
}

function readTranslations(value: Readonly<Record<string, unknown>>, parts: PartKinds): Translations {
  const entries = Object.entries(value);
  if (entries.length > maxLanguages) throw new Error(`must have at most ${maxLanguages} languages`);
  const read: Record<string, Translation> = {};
  for (const [name, texts] of entries) {
    const tag = canonicalTag(name);
    const shown = JSON.stringify(name.slice(0, 40));
    if (tag === null) throw new Error(`has ${shown}, which is no language tag such as de or pt-BR`);
    if (Object.hasOwn(read, tag)) throw new Error(`has ${tag} twice`);
    const translation = readTexts(tag, texts, parts);
    if (Object.keys(translation).length > 0) read[tag] = translation;
  }
  return read;
}

/** Empty and null texts are absent. @throws Error with the rest of a sentence */
function readTexts(tag: string, texts: unknown, parts: PartKinds): Translation {
  const names = Object.keys(parts);
  if (!isObject(texts)) throw new Error(`must have an object with ${names.join(', ')} for ${tag}`);
  const read: Partial<Record<keyof Translation, string>> = {};
  for (const [part, text] of Object.entries(texts)) {
    const kind = Object.hasOwn(parts, part) ? parts[part as keyof Translation] : undefined;
    const shown = JSON.stringify(part.slice(0, 40));
    if (kind === undefined) throw new Error(`has ${shown} for ${tag}; a language has ${names.join(', ')}`);
    if (text === null || text === '') continue;
    try {
      read[part as keyof Translation] = kind.parse(text);
    } catch (error) {
      throw new Error(`has a ${part} for ${tag} that ${(error as Error).message}`);
    }
  }
  return read;
}
