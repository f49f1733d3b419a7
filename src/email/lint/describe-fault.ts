/** Describes the fault of a template for its author: where it starts, what is probably missing, and Go's own words. */
import type { EmailKind } from '../../config/auth/email-kinds.ts';
import { located } from '../engine/compose.ts';
import type { Template } from '../engine/template.ts';
import { offsetOf, TemplateError, type TemplatePlace } from '../engine/template-error.ts';
import { findingAt, findingOnWhole, type TemplateFinding } from './finding.ts';
import { meantVariable } from './meant-variable.ts';

/** @param email Whose template it is; null: that of a text message. */
export function describeFault(error: TemplateError, source: string, email: EmailKind | null): TemplateFinding {
  const { code, message, line, column, unclosed } = error;
  if (unclosed !== null) {
    // Go reports the end of the text, which is not where the mistake is.
    const missing = code === 'syntax' ? 'has no {{ end }}' : 'is never closed: look for a missing quote, > or end tag';
    const { text, ...place } = unclosed;
    return { ...place, message: `\`${text}\` ${missing} (${message})`, name: null, length: text.length };
  }
  if (line === null || column === null) return findingOnWhole(message);
  const open = code === 'syntax' ? openAction(source, offsetOf(source, { line, column })) : null;
  if (open !== null) return findingAt(source, open, `\`${open.text}\` ${open.problem} (${message})`);
  const hint = hintAt(source, offsetOf(source, { line, column }), code) ?? hintOf(error, email);
  return { message: hint === null ? message : `${message} (${hint})`, name: null, line, column, length: null };
}

/** Whether a value did not fit a comparison, which is false then. */
export function isComparison(message: string): boolean {
  return /\bcomparison\b/.test(message);
}

/** Notes what a value does not fit, with what to write instead: once for each place, as loops come by often. */
export function noteWrongValue(
  found: Map<string, TemplateFinding>,
  { composed }: Template,
  said: string,
  place: TemplatePlace,
) {
  const { message, line, column } = located(composed, new TemplateError('wrong_value', said, place));
  const hint = defaultHint(said);
  const name = isComparison(said) ? 'comparison' : null;
  const finding = {
    message: hint === null ? message : `${message} (${hint})`,
    name,
    line,
    column,
    length: null,
  } as const;
  const key = JSON.stringify([line, column, line === null ? message : null]);
  if (!found.has(key)) found.set(key, finding);
}

/** Comparisons that an editor for HTML has escaped. */
const comparisons = ['gt', 'lt', 'ge', 'le', 'ne'];

/** A hint about the characters at the place of a fault; null: none. */
function hintAt(source: string, offset: number, code: TemplateError['code']): string | null {
  const rest = source.slice(offset, offset + 100);
  if (/^&(?:quot|apos|#34|#39);/.test(rest)) return 'write plain quotes: "pro", not &quot;';
  const [, entity = ''] = /^&(\w{2});/.exec(rest) ?? [];
  if (comparisons.includes(entity)) return `write ${entity} before the values: {{ if ${entity} .Data.age 18.0 }}`;
  if (code === 'syntax' && rest.startsWith('/*')) return 'write a comment without blanks at its ends: {{/* note */}}';
  const [, name, argument] = (code === 'unknown_function' && /^(\w+)([ \t]+["\w.$(])?/.exec(rest)) || [];
  const isCalled = argument !== undefined || /\|\s{0,9}$/.test(source.slice(Math.max(0, offset - 10), offset));
  if (name === undefined || !isCalled || defaultHint(`function "${name}" not defined`) !== null) return null;
  return `there is no function ${name}: compare with eq, or use the value as it is`;
}

interface OpenAction {
  readonly at: number;
  readonly length: number;
  readonly text: string;
  readonly problem: string;
}

/** The action around an offset, where its end is missing. */
function openAction(source: string, offset: number): OpenAction | null {
  const at = source.lastIndexOf('{{', offset);
  if (at === -1) return null;
  const rest = source.slice(at + 2, at + 2 + maxAction);
  const end = /\}\}|\{\{|\n|</.exec(rest);
  if (end?.[0] === '}}') return null;
  const inside = rest.slice(0, Math.min(end?.index ?? rest.length, maxShown)).trimEnd();
  // A comparison and an action over several lines have an end.
  if (end !== null && end[0] !== '{{' && /^[^{]*?\}\}/s.test(rest.slice(end.index))) return null;
  const single = inside.indexOf('}');
  const text = `{{${single === -1 ? inside : inside.slice(0, single + 1)}`;
  const close = inside.startsWith('/*') ? '*/}}' : '}}';
  const problem = single === -1 ? `is never closed: write ${close} behind it` : 'is closed by one brace: write }}';
  return { at, length: text.length, text, problem };
}

const maxAction = 2000;
const maxShown = 60;

function hintOf({ code, message }: TemplateError, email: EmailKind | null): string | null {
  const usual = defaultHint(message);
  if (usual !== null) return usual;
  const [, name] = (code === 'unknown_function' && /^function "(.*)" not defined$/s.exec(message)) || [];
  if (name === undefined) return null;
  const meant = email === null ? null : meantVariable(name, email);
  return meant === null ? 'a variable begins with a dot: {{ .Data.name }}' : `did you mean ${meant}?`;
}

function defaultHint(message: string): string | null {
  return defaultMistakes.find(([words]) => words.test(message))?.[1] ?? null;
}

const orWrite = 'for a value where there is none, write {{ or .Data.name "there" }}';
const comparison = 'compare with eq, ne, lt, le, gt or ge: {{ if eq .Data.plan "pro" }}';

/** Go's messages for common mistakes, and what to write. */
const defaultMistakes: readonly (readonly [RegExp, string])[] = [
  [/^unexpected "[{}]" in |^bad character U\+007D /, 'write an action with two braces on each side: {{ .Name }}'],
  [/ U\+20(?:18|19|1A|1C|1D|1E) /, 'write straight quotes: "de"'],
  [/ U\+(?:00AD|200[B-F]|2060|FEFF) /, 'it is an invisible character: remove it'],
  [/ U\+00A0 /, 'it is a no-break space: write a normal one'],
  [/^(?:malformed|unterminated) character constant/, 'write text in double quotes: "de"'],
  [/^unterminated quoted string$/, 'write a " at its end'],
  [/^function "(?:endif|endwith|endfor|endrange|endblock|fi)" not defined$/, 'write {{ end }}'],
  [/^function "(?:elseif|elsif|elif)" not defined$/, 'write {{ else if … }}'],
  [/^function "(?:for|foreach|each)" not defined$/, 'write {{ range … }}'],
  [/^function "default" not defined$/, orWrite],
  [/^function "(?:upper|lower|title|capitalize|trim|date|join|replace)" not defined$/,
    'there is none of this name: use the value as it is'],
  [/^function "(?:now|contains|hasPrefix|hasSuffix|startsWith|endsWith)" not defined$/,
    'there is no such function: compare with eq, or use the value as it is'],
  [/^unexpected "\|" in command$/, orWrite],
  [/^unexpected "[#/]" in command$/, 'write {{ if … }} and {{ end }}'],
  [/^unexpected "!" in command$/, 'write a comment as {{/* … */}}'],
  [/^unexpected "&" in |^bad character U\+0026 /, 'join conditions with and: {{ if and .Data.a .Data.b }}'],
  [/^unexpected "\|" in (?:if|with|parenthesized pipeline)$/, 'join conditions with or: {{ if or .Data.a .Data.b }}'],
  [/^unexpected "!" in (?:if|with|parenthesized pipeline)$/, 'negate with not: {{ if not .Data.name }}'],
  [/^unexpected "[=!<>]" in operand$|^bad character U\+00(?:3D|3C|3E|21) /, comparison],
  [/^bad character U\+002D /, 'write {{ index .Data "first-name" }}'],
  [/^bad character U\+005B /, 'write {{ index .Data.list 0 }}'],
  [/: missing argument for comparison$/, 'write two values: {{ if eq .Data.plan "pro" }}'],
  [/: invalid type for comparison$/, 'where it may be missing: {{ if and .Data.age (gt .Data.age 18.0) }}'],
  [/ comparison: (?:float and int|int and float)$/, 'numbers of the metadata have decimals: write 18.0'],
  [/ comparison: (?:\w+ and string|string and \w+)$/, 'only a text equals a text'],
  [/ branches end in different contexts: /, 'a tag or quote that begins in one branch must begin in the other, too'],
  [/^".*" in (?:attribute name|unquoted attr)/s, 'look for a missing quote before it'],
]; // biome-ignore format: a table
