/** Language tags: their canonical form, and the lookup of RFC 4647 that finds the best of those that exist. */
import { once } from './once.ts';

/** Longer tags are ignored, to bound the work. */
const maxLength = 100;

/**
 * The canonical form: `de-ch` -> `de-CH`. Null for what is no language tag or names no language (`und-DE`). An
 * underscore counts as a hyphen, because providers send `de_CH`.
 */
export function canonicalTag(text: unknown): string | null {
  if (typeof text !== 'string' || text.length > maxLength) return null;
  try {
    const [tag = null] = Intl.getCanonicalLocales(text.trim().replaceAll('_', '-'));
    return tag === null || /^und(-|$)/.test(tag) ? null : tag;
  } catch {
    return null;
  }
}

/**
 * What is wrong with a canonical tag that no reader can have: `french`, or the country `jp` in place of `ja`. Null: nothing.
 * Languages of three letters are too many to know.
 */
export function unknownLanguage(tag: string): string | null {
  const { language } = new Intl.Locale(tag);
  if (language.length === 3 || languageNames().of(language) !== undefined) return null;
  const meant = languageNamed(language) ?? languageOfCountry(language);
  return `there is no language "${language}"${meant === null ? '' : ` (did you mean ${meant}?)`}`;
}

// Of four megabytes, which most processes never need.
const languageNames = once(() => new Intl.DisplayNames('en', { type: 'language', fallback: 'none' }));

/** `French` -> `fr`, of the languages with two letters; null: it is no name of one. */
export function languageNamed(name: string): string | null {
  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  const codes = letters.flatMap((first) => letters.map((second) => `${first}${second}`));
  return codes.find((code) => languageNames().of(code)?.toLowerCase() === name.toLowerCase()) ?? null;
}

/** The language that most people of a country speak: `jp` -> `ja`. */
function languageOfCountry(code: string): string | null {
  const country = code.toUpperCase();
  const countries = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
  if (code.length !== 2 || countries.of(country) === undefined) return null;
  return new Intl.Locale(`und-${country}`).maximize().language;
}

/** The most specific of the tags for the first wish that has one: `de-CH`, then `de`. Null: none. */
export function lookUpTag(preferredTags: readonly string[], tags: readonly string[]): string | null {
  for (const wish of preferredTags) {
    for (let range = wish; range !== ''; range = shorten(range)) if (tags.includes(range)) return range;
  }
  return null;
}

/** Without the last subtag; a single letter before it only introduces it. */
function shorten(range: string): string {
  return range.replace(/(?:^|-)[^-]*$/, '').replace(/-[a-zA-Z0-9]$/, '');
}
