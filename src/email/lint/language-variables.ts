/**
 * Compares a text of a language with the text of the email itself: both should use the same variables. What a built-in
 * text uses is not compared, because its look needs more than its words.
 */
import type { AuthConfig } from '../../config/auth/auth-config.ts';
import { textFields } from '../../config/auth/auth-template-fields.ts';
import type { EmailKind } from '../../config/auth/email-kinds.ts';
import { parseTemplate, variablePaths } from '../engine/template.ts';
import { placeOf, TemplateError } from '../engine/template-error.ts';
import { isBuiltInText } from '../message/choose-texts.ts';
import { parseOptions, type TemplatePart, type TemplateSwitches } from '../message/parse-options.ts';
import { findingAt, findingOnWhole, type TemplateFinding } from './finding.ts';

/** They choose the language, so only one of the texts needs them. */
const ofLanguage = ['Locale', 'Data.locale', 'Data.language', 'Data.lang'];

/** Maximum differences reported per text and kind. */
const maxDifferences = 20;

/** The text of the email itself, which translations are compared with; null: a built-in one. */
export function ownText(part: TemplatePart, email: EmailKind, config: AuthConfig): string | null {
  const text = config[textFields(email)[part]];
  return !text || isBuiltInText({ email, part }, text) ? null : text;
}

/** The differences. @param base The text of the email itself. @param maxMs Time limit of reading each text. */
export function differentVariables(
  source: string,
  base: string,
  switches: TemplateSwitches,
  maxMs: number,
): readonly TemplateFinding[] {
  const [own, others] = [source, base].map((text) => variablesIn(text, switches, maxMs));
  // Both are checked by themselves, too.
  if (own === undefined || others === undefined || own === null || others === null) return [];
  const lacking = missingFrom(own, others).map(([name, used]) => {
    const at = base.indexOf(`.${name}`, used);
    const { line, column } = placeOf(base, Math.max(at, 0));
    // Else it stands in a partial.
    const where = at >= 0 ? ` in line ${line}, column ${column}` : '';
    const what = `this language does not use .${shorten(name)}, which the email itself uses${where}`;
    return findingOnWhole(what, 'language-variables');
  });
  const added = missingFrom(others, own).map(([name, used]) => {
    const what = `this language uses .${shorten(name)}, which the email itself does not use`;
    const at = source.indexOf(`.${name}`, used);
    if (at < 0) return findingOnWhole(what, 'language-variables');
    return findingAt(source, { at, length: name.length + 1 }, what, 'language-variables');
  });
  return [...lacking, ...added];
}

type Variables = ReadonlyMap<string, number>;

/** Without the layout, which is around both. Null: the text has a fault. */
function variablesIn(text: string, switches: TemplateSwitches, maxMs: number): Variables | null {
  try {
    const options = { ...parseOptions('text', switches), maxMs };
    return variablePaths(parseTemplate(text, options));
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return null;
  }
}

/** What `others` have and `own` has not. `.Data` as a whole stands for each of its members. */
function missingFrom(own: Variables, others: Variables): readonly (readonly [name: string, at: number])[] {
  const hasAll = own.has('Data') || others.has('Data');
  return [...others]
    .filter(([name]) => !own.has(name) && !ofLanguage.includes(name))
    .filter(([name]) => !(hasAll && [...own.keys()].some((one) => isData(one)) && isData(name)))
    .slice(0, maxDifferences);
}

function isData(name: string): boolean {
  return name === 'Data' || name.startsWith('Data.');
}

/** A template may have names of any length. */
export function shorten(name: string): string {
  return name.slice(0, 80);
}
