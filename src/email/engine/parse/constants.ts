/**
 * Parses constants of the template language: strings, characters and numbers in all notations.
 *
 * Every function takes the source of one token and throws a plain `Error` with the problem; the parser adds the place.
 */
import { Complex } from '../values/value.ts';

const simpleEscapes: Readonly<Record<string, number>> = {
  a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11, '\\': 92, "'": 39, '"': 34,
}; // biome-ignore format: a table
const digitCounts: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/** The value of one character or escape: a code point, or a byte of UTF-8 (`\x` and octal). */
interface Unit {
  readonly value: number;
  readonly byte: boolean;
  readonly length: number;
}

/** The text of `"…"` or a raw string. Bytes that are not UTF-8 after unescaping become U+FFFD each. */
export function parseText(source: string): string {
  const inner = source.slice(1, -1);
  if (source[0] === '`') return inner.replaceAll('\r', '');
  if (!inner.includes('\\')) return inner;
  const bytes: number[] = [];
  for (let at = 0; at < inner.length; ) {
    const unit = readUnit(inner, at, '"');
    if (unit.byte) bytes.push(unit.value);
    else bytes.push(...Buffer.from(String.fromCodePoint(unit.value)));
    at += unit.length;
  }
  return decodeBytes(Uint8Array.from(bytes));
}

/** The code of `'x'`. */
export function parseCharacter(source: string): bigint {
  const problem = `malformed character constant: ${source}`;
  if (source[1] === "'") throw new Error(problem);
  const unit = readUnit(source, 1, "'");
  if (1 + unit.length !== source.length - 1) throw new Error(problem);
  return BigInt(unit.value);
}

function readUnit(text: string, at: number, quote: string): Unit {
  if (text[at] !== '\\') {
    const value = text.codePointAt(at) ?? 0;
    return { value, byte: false, length: value > 0xffff ? 2 : 1 };
  }
  const letter = text[at + 1] ?? '';
  const digits = digitCounts[letter];
  if (digits !== undefined) {
    const hex = text.slice(at + 2, at + 2 + digits);
    const value = /^[0-9a-fA-F]+$/.test(hex) && hex.length === digits ? Number.parseInt(hex, 16) : Number.NaN;
    const valid = value <= 0x10ffff && (value < 0xd800 || value > 0xdfff);
    if (valid) return { value, byte: letter === 'x', length: 2 + digits };
  } else if (/[0-7]/.test(letter)) {
    const octal = text.slice(at + 1, at + 4);
    const value = /^[0-7]{3}$/.test(octal) ? Number.parseInt(octal, 8) : Number.NaN;
    if (value <= 255) return { value, byte: true, length: 4 };
  } else {
    const value = simpleEscapes[letter];
    const otherQuote = (letter === '"' || letter === "'") && letter !== quote;
    if (value !== undefined && !otherQuote) return { value, byte: false, length: 2 };
  }
  throw new Error(`invalid escape \\${letter} in a constant`);
}

/** Well-formed UTF-8 characters by first byte, one byte per unit; otherwise any byte. */
const character = new RegExp(
  [
    '[\\x00-\\x7f]+|[\\xc2-\\xdf][\\x80-\\xbf]',
    '(?:\\xe0[\\xa0-\\xbf]|[\\xe1-\\xec\\xee\\xef][\\x80-\\xbf]|\\xed[\\x80-\\x9f])[\\x80-\\xbf]',
    '(?:\\xf0[\\x90-\\xbf]|[\\xf1-\\xf3][\\x80-\\xbf]|\\xf4[\\x80-\\x8f])[\\x80-\\xbf]{2}',
    '(?<stray>[\\x80-\\xff])',
  ].join('|'),
  'g',
);

/** UTF-8 to text; each invalid byte becomes U+FFFD. */
export function decodeBytes(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString('latin1')
    .replace(character, (found, stray?: string) =>
      stray === undefined ? Buffer.from(found, 'latin1').toString() : '\ufffd',
    );
}

const integerPattern =
  /^(?<sign>[+-]?)(?:0[xX](?<hex>[0-9a-fA-F_]+)|0[bB](?<binary>[01_]+)|0[oO]?(?<octal>[0-7_]+)|(?<decimal>[1-9][0-9_]*|0))$/;
const radixes = { hex: '0x', binary: '0b', octal: '0o', decimal: '' } as const;
const maxInteger = 2n ** 63n - 1n;
const maxUnsigned = 2n ** 64n - 1n;

/** The value of a number: a bigint for an integer, a number for a float; null for an integer that fails when used. */
export function parseNumber(source: string): number | bigint | Complex | null {
  if (source.endsWith('i')) {
    const imaginary = parseFloatConstant(source.slice(0, -1));
    if (imaginary !== null) return new Complex(0, imaginary);
  }
  const integer = parseInteger(source);
  const looksFloat = /[.eEpP]/.test(source);
  if (integer !== null && integer <= maxInteger && integer >= -maxInteger - 1n) {
    // `-0x1e` is a float and `0x1e` is not: Go checks for the letter of an exponent before the sign.
    return looksFloat && !/^0[xX]/.test(source) ? Number(integer) : integer;
  }
  if (integer !== null && integer > 0n && integer <= maxUnsigned && !source.startsWith('+')) return null;
  const float = parseFloatConstant(source);
  if (float === null) throw new Error(`illegal number syntax: ${JSON.stringify(source)}`);
  if (!looksFloat) throw new Error(`integer overflow: ${JSON.stringify(source)}`);
  return float;
}

/** `1+2i`. */
export function parseComplex(source: string): Complex {
  for (const { index } of source.matchAll(/[+-]/g)) {
    // The sign may belong to an exponent; then the text before it is not a number.
    const real = parseFloatConstant(source.slice(0, index));
    const imaginary = parseFloatConstant(source.slice(index, -1));
    if (real !== null && imaginary !== null) return new Complex(real, imaginary);
  }
  throw new Error(`illegal number syntax: ${JSON.stringify(source)}`);
}

function parseInteger(source: string): bigint | null {
  const groups = integerPattern.exec(source)?.groups;
  if (groups === undefined || !underscoresSeparate(source)) return null;
  for (const [name, prefix] of Object.entries(radixes)) {
    const digits = groups[name]?.replaceAll('_', '');
    if (digits === undefined || digits === '') continue;
    const value = BigInt(prefix + digits);
    return groups.sign === '-' ? -value : value;
  }
  return null;
}

/** `_` only between digits, where a base prefix counts as a digit. */
function underscoresSeparate(source: string): boolean {
  const loose = /^[+-]?0[xX]/.test(source) ? /(?<![0-9a-fA-F])_|_(?![0-9a-fA-F])/ : /(?<![0-9])_|_(?![0-9])/;
  return !loose.test(source.replace(/^([+-]?)0[xXbBoO]/, '$10'));
}

/** A float in decimal or hexadecimal (`0x` and `p`) notation; null if it is neither or out of range. */
function parseFloatConstant(source: string): number | null {
  if (!underscoresSeparate(source)) return null;
  const text = source.replaceAll('_', '');
  const hex =
    /^(?<sign>[+-]?)0[xX](?<whole>[0-9a-fA-F]*)(?:\.(?<part>[0-9a-fA-F]*))?[pP](?<exponent>[+-]?[0-9]+)$/.exec(text);
  if (hex?.groups !== undefined) {
    const { sign, whole = '', part = '', exponent = '0' } = hex.groups;
    if (whole + part === '') return null;
    const value = scaleByTwo(BigInt(`0x${whole}${part}`), Number(exponent) - 4 * part.length);
    return Number.isFinite(value) ? (sign === '-' ? -value : value) : null;
  }
  if (!/^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/.test(text)) return null;
  const value = Number(text);
  return Number.isFinite(value) ? value : null;
}

function scaleByTwo(digits: bigint, exponent: number): number {
  if (digits === 0n) return 0;
  if (Math.abs(exponent) > 100_000) return exponent > 0 ? Number.POSITIVE_INFINITY : 0;
  if (exponent >= 0) return Number(digits << BigInt(exponent));
  // Exact unless the result is subnormal; the two steps keep the power in range.
  const half = Math.trunc(exponent / 2);
  return Number(digits) * 2 ** half * 2 ** (exponent - half);
}
