/** Escapers for scripts: values as JSON, and texts inside strings, template literals and regular expressions. */
import { isPrintable } from '../values/quote-text.ts';
import {
  type Byte,
  fromData,
  type ListValue,
  type MapValue,
  mapEntry,
  mapKeys,
  type Value,
  valueKind,
} from '../values/value.ts';

/** Replaces a value that JSON cannot express, with the reason in a comment. */
class NotJson extends Error {}

/** A value as a script expression. Blanks around numbers and words separate them from adjacent code. */
export function escapeScriptValue(value: Value): string {
  let text: string;
  try {
    text = toJson(value);
  } catch (error) {
    if (error instanceof NotJson) return ` /* json: unsupported ${error.message} */null `;
    throw error;
  }
  return /^[\w$]|[\w$]$/.test(text) ? ` ${text} ` : text;
}

function toJson(value: Value): string {
  switch (valueKind(value)) {
    case 'nil':
      return 'null';
    case 'string':
      return quote(value as string);
    case 'float':
      return numberToJson(value as number);
    case 'byte':
      return String((value as Byte).value);
    case 'complex':
      throw new NotJson('type: complex128');
    case 'list':
      return `[${(value as ListValue).map((element) => toJson(fromData(element))).join(',')}]`;
    case 'map': {
      const map = value as MapValue;
      return `{${mapKeys(map)
        .map((key) => `${quote(key.toWellFormed())}:${toJson(mapEntry(map, key))}`)
        .join(',')}}`;
    }
    default:
      return String(value);
  }
}

function numberToJson(value: number): string {
  if (!Number.isFinite(value)) throw new NotJson(`value: ${value > 0 ? '+' : '-'}Inf`);
  return Object.is(value, -0) ? '-0' : String(value);
}

function quote(text: string): string {
  return JSON.stringify(text).replace(/[<>&\u2028\u2029]/g, unicodeEscape);
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

const shortEscapes: Readonly<Record<string, string>> = {
  '\t': '\\t', '\n': '\\n', '\f': '\\f', '\r': '\\r', '/': '\\/', '\\': '\\\\',
}; // biome-ignore format: a table

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const inString = /[\0-\x1f"&'+/<>\\`\u2028\u2029]/g;
const inTemplate = /[\0-\x1f"$&'+/<>\\`{}\u2028\u2029]/g;
const inRegexp = /[\0-\x1f"$&'()*+\-./<>?[\\\]^{|}\u2028\u2029]/g;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: end

function escapeCharacter(character: string): string {
  return shortEscapes[character] ?? unicodeEscape(character);
}

/** For a string in quotes. */
export function escapeScriptString(text: string): string {
  return text.replace(inString, escapeCharacter);
}

/** For the text of a template literal. */
export function escapeTemplateLiteral(text: string): string {
  return text.replace(inTemplate, escapeCharacter);
}

/** For a regular expression, matching the text literally; an empty text becomes an empty group. */
export function escapeRegexp(text: string): string {
  if (text === '') return '(?:)';
  return text.replace(inRegexp, (character) =>
    '$()*-.?[]^{|}'.includes(character) ? `\\${character}` : escapeCharacter(character),
  );
}

const functionEscapes: Readonly<Record<string, string>> = {
  '\\': '\\\\', "'": "\\'", '"': '\\"', '<': '\\u003C', '>': '\\u003E', '&': '\\u0026', '=': '\\u003D',
}; // biome-ignore format: a table

/** The function `js`, with its own, older rules. */
export function escapeScriptFunction(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  return text.replace(/[\0-\x1f\\'"<>&=]|[^\0-\x7f]/gu, (character) => {
    const known = functionEscapes[character];
    if (known !== undefined) return known;
    if (character > '\x7f' && isPrintable(character)) return character;
    return `\\u${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  });
}
