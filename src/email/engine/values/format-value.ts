/** Formats a value with a verb and flags, as Go's fmt: lists and maps by element, mistakes as `%!d(string=x)`. */
import { EvaluationFailure } from '../template-error.ts';
import { type FloatVerb, formatFloat } from './format-float.ts';
import { canBackquote, isPrintable, quoteCharacter, quoteText } from './quote-text.ts';
import {
  Byte,
  type Complex,
  fromData,
  type ListValue,
  type MapValue,
  mapEntry,
  mapKeys,
  type Value,
  valueKind,
  valueTypeName,
} from './value.ts';

/** No flags, width or precision. `source` is `#` with `v`: values in Go source syntax. */
export const plainDirective = {
  plus: false,
  minus: false,
  sharp: false,
  space: false,
  zero: false,
  source: false,
  width: null as number | null,
  precision: null as number | null,
};

/** The directive between `%` and the verb. */
type Directive = Readonly<typeof plainDirective>;

/** Longest formatted text, in UTF-16 units; longer ones could never be sent. */
const maxFormattedLength = 4 * 1024 * 1024;

/** The printed text of a value: `%v`. Null is `<nil>` here. */
export function formatPlainValue(value: Value): string {
  return typeof value === 'string' ? value : formatValue(value, 'v', plainDirective);
}

/** The text of a value. @throws EvaluationFailure `output_limit` if it exceeds the limit. */
export function formatValue(value: Value, verb: string, directive: Directive): string {
  if (value === null || value === undefined) {
    if (verb === 'v' || verb === 'T') return pad('<nil>', directive);
    return `%!${verb}(<nil>)`;
  }
  if (verb === 'T') return pad(cut(valueTypeName(value), directive), directive);
  // In Go it only wraps errors; lists do not pass it to their elements.
  if (verb === 'w') return badVerb(value, verb, directive);
  return formatElement(value, verb, directive);
}

/** Also for values inside a list or map. */
function formatElement(value: Value, verb: string, directive: Directive): string {
  if (value === null || value === undefined) return directive.source ? 'interface {}(nil)' : '<nil>';
  switch (valueKind(value)) {
    case 'string':
      return formatText(value as string, verb, directive);
    case 'float':
      return formatNumber(value as number, verb, directive) ?? badVerb(value, verb, directive);
    case 'bool':
      return verb === 't' || verb === 'v' ? pad(String(value), directive) : badVerb(value, verb, directive);
    case 'int':
      return formatInteger(value as bigint, verb, directive) ?? badVerb(value, verb, directive);
    case 'byte':
      return formatByte(value as Byte, verb, directive);
    case 'complex':
      return formatComplex(value as Complex, verb, directive);
    case 'list':
      return formatList(value as ListValue, verb, directive);
    default:
      return formatMap(value as MapValue, verb, directive);
  }
}

function badVerb(value: Value, verb: string, directive: Directive): string {
  return `%!${verb}(${valueTypeName(value)}=${formatElement(value, 'v', directive)})`;
}

function formatList(list: ListValue, verb: string, directive: Directive): string {
  const { source } = directive;
  const parts = joinBounded(list.length, source ? ', ' : ' ', (index) =>
    formatElement(fromData(list[index]), verb, directive),
  );
  return source ? `${valueTypeName(list)}{${parts}}` : `[${parts}]`;
}

function formatMap(map: MapValue, verb: string, directive: Directive): string {
  const keys = mapKeys(map);
  const parts = joinBounded(keys.length, directive.source ? ', ' : ' ', (index) => {
    const key = keys[index] ?? '';
    return `${formatText(key.toWellFormed(), verb, directive)}:${formatElement(mapEntry(map, key), verb, directive)}`;
  });
  return directive.source ? `${valueTypeName(map)}{${parts}}` : `map[${parts}]`;
}

function joinBounded(count: number, separator: string, make: (index: number) => string): string {
  let text = '';
  for (let index = 0; index < count; index += 1) {
    if (index > 0) text += separator;
    text += make(index);
    assertFormatted(text.length);
  }
  return text;
}

/** Throws if formatted text exceeds the limit. */
export function assertFormatted(length: number): void {
  if (length > maxFormattedLength)
    throw new EvaluationFailure('output_limit', 'a formatted value is longer than any output may be');
}

function formatText(text: string, verb: string, directive: Directive): string {
  switch (verb) {
    case 'v':
      return directive.source ? formatQuoted(text, directive) : pad(cut(text, directive), directive);
    case 's':
      return pad(cut(text, directive), directive);
    case 'q':
      return formatQuoted(text, directive);
    case 'x':
    case 'X':
      return formatBytes(text, verb, directive);
    default:
      return badVerb(text, verb, directive);
  }
}

function formatQuoted(text: string, directive: Directive): string {
  const shown = cut(text, directive);
  if (directive.sharp && canBackquote(shown)) return pad(`\`${shown}\``, directive);
  return pad(quoteText(shown, directive.plus), directive);
}

function cut(text: string, { precision }: Directive): string {
  if (precision === null || precision >= text.length) return text;
  return [...text].slice(0, precision).join('');
}

function formatBytes(text: string, verb: 'x' | 'X', directive: Directive): string {
  const all = Buffer.from(text);
  const bytes = all.subarray(0, Math.min(directive.precision ?? all.length, all.length));
  if (bytes.length === 0) return pad('', directive);
  const prefix = directive.sharp ? '0x' : '';
  const hex = bytes.toString('hex');
  const shown = directive.space ? hex.replace(/..(?!$)/g, `$& ${prefix}`) : hex;
  const whole = prefix + shown;
  return pad(verb === 'X' ? whole.toUpperCase() : whole, directive);
}

const bases: Readonly<Record<string, number>> = { v: 10, d: 10, b: 2, o: 8, O: 8, x: 16, X: 16 };

/** Null: not a verb for integers. Negative numbers are in 64-bit two's complement for character verbs. */
function formatInteger(value: bigint, verb: string, directive: Directive): string | null {
  const base = bases[verb];
  if (base !== undefined) return formatDigits(value, base, verb, directive);
  const code = BigInt.asUintN(64, value);
  const character = code > 0x10ffffn ? '\ufffd' : String.fromCodePoint(Number(code)).toWellFormed();
  if (verb === 'c') return pad(character, directive);
  if (verb === 'q') return pad(quoteCharacter(character, directive.plus), directive);
  if (verb !== 'U') return null;
  const hex = code
    .toString(16)
    .toUpperCase()
    .padStart(Math.max(4, directive.precision ?? 0), '0');
  const shows = directive.sharp && code <= 0x10ffffn && isPrintable(character);
  return pad(`U+${hex}${shows ? ` '${character}'` : ''}`, { ...directive, zero: false });
}

function formatByte({ value }: Byte, verb: string, directive: Directive): string {
  if (verb === 'v' && directive.source) return formatDigits(BigInt(value), 16, 'v', { ...directive, sharp: true });
  return formatInteger(BigInt(value), verb, directive) ?? badVerb(new Byte(value), verb, directive);
}

function formatDigits(value: bigint, base: number, verb: string, directive: Directive): string {
  const { plus, minus, sharp, space, zero, width, precision } = directive;
  const blankPadding = { ...directive, zero: false };
  if (precision === 0 && value === 0n) return pad('', blankPadding);
  const sign = value < 0n ? '-' : plus ? '+' : space ? ' ' : '';
  const least = precision ?? (zero && !minus && width !== null ? width - sign.length : 0);
  let digits = (value < 0n ? -value : value).toString(base).padStart(least, '0');
  if (sharp && base === 2) digits = `0b${digits}`;
  if (sharp && base === 8 && digits[0] !== '0') digits = `0${digits}`;
  if (sharp && base === 16) digits = `0x${digits}`;
  if (verb === 'X') digits = digits.toUpperCase();
  if (verb === 'O') digits = `0o${digits}`;
  return pad(sign + digits, blankPadding);
}

const floatVerbs: Readonly<Record<string, readonly [FloatVerb, number]>> = {
  v: ['g', -1], g: ['g', -1], G: ['g', -1], b: ['b', -1], x: ['x', -1], X: ['x', -1],
  e: ['e', 6], E: ['e', 6], f: ['f', 6], F: ['f', 6],
}; // biome-ignore format: a table

/** Null: not a verb for floats. */
function formatNumber(value: number, verb: string, directive: Directive): string | null {
  const row = floatVerbs[verb];
  if (row === undefined) return null;
  const [notation, usual] = row;
  const precision = directive.precision ?? usual;
  let text = formatFloat(value, notation, precision);
  if (verb === 'G' || verb === 'E' || verb === 'X') text = text.toUpperCase();
  if (!/^[+-]/.test(text)) text = `+${text}`;
  if (directive.space && text[0] === '+' && !directive.plus) text = ` ${text.slice(1)}`;
  if (!Number.isFinite(value)) return pad(text.replace(/inf/i, 'Inf'), { ...directive, zero: false });
  if (directive.sharp && notation !== 'b') text = keepPoint(text, verb, precision);
  if (!directive.plus && text[0] === '+') return pad(text.slice(1), directive);
  const { width, zero, minus } = directive;
  if (zero && !minus && width !== null) return text[0] + text.slice(1).padStart(width - 1, '0');
  return pad(text, directive);
}

/** The flag `#`: always a point, and with `g` all significant digits. */
function keepPoint(text: string, verb: string, precision: number): string {
  const exponent = text.search(/^.0x/i.test(text) ? /p/i : /e/i);
  const end = exponent === -1 ? text.length : exponent;
  const [number, tail] = [text.slice(0, end), text.slice(end)];
  const counts = ['v', 'g', 'G', 'x'].includes(verb);
  let missing = counts ? (precision === -1 ? 6 : precision) : 0;
  const significant = number.slice(1).replace('.', '').replace(/^0+/, '');
  missing -= significant.length;
  if (!number.includes('.') && number.slice(1) === '0') missing -= 1;
  const point = number.includes('.') ? '' : '.';
  return number + point + '0'.repeat(Math.max(missing, 0)) + tail;
}

function formatComplex(value: Complex, verb: string, directive: Directive): string {
  const real = formatNumber(value.real, verb, directive);
  const imaginary = formatNumber(value.imaginary, verb, { ...directive, plus: true });
  return real === null || imaginary === null ? badVerb(value, verb, directive) : `(${real}${imaginary}i)`;
}

function pad(text: string, { width, minus, zero }: Directive): string {
  if (width === null || width <= 0) return text;
  // Go counts characters; each UTF-16 unit except the second of a pair is one.
  const count = width - (text.length - (text.match(/[\ud800-\udbff]/g)?.length ?? 0));
  if (count <= 0) return text;
  assertFormatted(text.length + count);
  return minus ? text + ' '.repeat(count) : (zero ? '0' : ' ').repeat(count) + text;
}
