/** Formats floats in all of Go's notations: rounds half to even on the binary value, unlike JavaScript's `toFixed`. */

/** Decimal digits without leading or trailing zeros, the value being `0.digits × 10^point`. */
interface Decimal {
  readonly digits: string;
  readonly point: number;
}

/** `e f g` decimal, `b` and `x` binary exponents; callers handle upper-case verbs. */
export type FloatVerb = 'b' | 'e' | 'f' | 'g' | 'x';

/**
 * The text of a float, with `-` if negative.
 *
 * @param precision Digits after the point (`e f x`) or significant digits (`g`); -1: as many as the value needs.
 */
export function formatFloat(value: number, verb: FloatVerb, precision: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  const size = Math.abs(value);
  if (verb === 'b') return sign + formatBinary(size);
  if (verb === 'x') return sign + formatHexadecimal(size, precision);
  if (precision < 0) return sign + formatShortest(size, verb);
  const exact = exactDecimal(size);
  if (verb === 'f') return sign + fixed(roundDecimal(exact, exact.point + precision), precision);
  if (verb === 'e') return sign + exponential(roundDecimal(exact, precision + 1), precision);
  const significant = Math.max(precision, 1);
  return sign + general(roundDecimal(exact, significant), significant);
}

function formatShortest(size: number, verb: 'e' | 'f' | 'g'): string {
  const decimal = shortestDecimal(size);
  const { digits, point } = decimal;
  if (verb === 'e') return exponential(decimal, Math.max(digits.length - 1, 0));
  if (verb === 'f') return fixed(decimal, Math.max(digits.length - point, 0));
  return general(decimal, 6);
}

function general(decimal: Decimal, threshold: number): string {
  const { digits, point } = decimal;
  const exponent = digits === '' ? 0 : point - 1;
  if (exponent < -4 || exponent >= threshold) return exponential(decimal, Math.max(digits.length - 1, 0));
  return fixed(decimal, Math.max(digits.length - point, 0));
}

function shortestDecimal(size: number): Decimal {
  if (size === 0) return { digits: '', point: 0 };
  const [mantissa = '', exponent = '0'] = size.toExponential().split('e');
  return { digits: mantissa.replace('.', '').replace(/0+$/, ''), point: Number(exponent) + 1 };
}

const floatBits = new DataView(new ArrayBuffer(8));

/** Mantissa and exponent, where value = mantissa × 2^exponent. */
function split(size: number): { readonly mantissa: bigint; readonly exponent: number } {
  floatBits.setFloat64(0, size);
  const bits = floatBits.getBigUint64(0);
  const fraction = bits & (2n ** 52n - 1n);
  const biased = Number((bits >> 52n) & 0x7ffn);
  return biased === 0
    ? { mantissa: fraction, exponent: -1074 }
    : { mantissa: fraction | (2n ** 52n), exponent: biased - 1075 };
}

function exactDecimal(size: number): Decimal {
  if (size === 0) return { digits: '', point: 0 };
  const { mantissa, exponent } = split(size);
  const whole = exponent >= 0 ? mantissa << BigInt(exponent) : mantissa * 5n ** BigInt(-exponent);
  const digits = whole.toString();
  return { digits: digits.replace(/0+$/, ''), point: digits.length + Math.min(exponent, 0) };
}

/** Keeps that many digits, rounding half to even; fewer than zero gives zero. */
function roundDecimal({ digits, point }: Decimal, count: number): Decimal {
  if (count >= digits.length) return { digits, point };
  if (count < 0) return { digits: '', point: 0 };
  const kept = digits.slice(0, count);
  const rest = digits.slice(count);
  const odd = /[13579]$/.test(kept);
  const up = rest[0]! > '5' || (rest[0] === '5' && (rest.length > 1 || odd));
  if (!up) return trimmed(kept, point);
  const raised = (BigInt(kept === '' ? '0' : kept) + 1n).toString();
  return trimmed(raised, point + raised.length - count);
}

function trimmed(digits: string, point: number): Decimal {
  const significant = digits.replace(/0+$/, '');
  return { digits: significant, point: significant === '' ? 0 : point };
}

function fixed({ digits, point }: Decimal, places: number): string {
  const whole = point > 0 ? digits.slice(0, point).padEnd(point, '0') : '0';
  if (places === 0) return whole;
  const part = point > 0 ? digits.slice(point) : '0'.repeat(Math.min(-point, places)) + digits;
  return `${whole}.${part.slice(0, places).padEnd(places, '0')}`;
}

function exponential({ digits, point }: Decimal, places: number): string {
  const exponent = digits === '' ? 0 : point - 1;
  const first = digits[0] ?? '0';
  const part = places === 0 ? '' : `.${digits.slice(1, places + 1).padEnd(places, '0')}`;
  return `${first}${part}e${signed(exponent)}`;
}

/** With its sign and at least two digits. */
function signed(exponent: number): string {
  return (exponent < 0 ? '-' : '+') + String(Math.abs(exponent)).padStart(2, '0');
}

function formatBinary(size: number): string {
  const { mantissa, exponent } = split(size);
  return `${mantissa}p${exponent < 0 ? '-' : '+'}${Math.abs(exponent)}`;
}

function formatHexadecimal(size: number, precision: number): string {
  if (size === 0) return `0x0${precision > 0 ? `.${'0'.repeat(precision)}` : ''}p+00`;
  let { mantissa, exponent } = split(size);
  // One bit before the point, 60 bits (15 hexadecimal digits) after it.
  const length = mantissa.toString(2).length;
  exponent += length - 1;
  mantissa <<= BigInt(61 - length);
  if (precision >= 0 && precision < 15) {
    const shift = BigInt(4 * (15 - precision));
    const rest = mantissa & ((1n << shift) - 1n);
    const half = 1n << (shift - 1n);
    let kept = mantissa >> shift;
    if (rest > half || (rest === half && (kept & 1n) === 1n)) kept += 1n;
    mantissa = kept << shift;
    if (mantissa >> 61n > 0n) {
      mantissa >>= 1n;
      exponent += 1;
    }
  }
  const all = (mantissa & (2n ** 60n - 1n)).toString(16).padStart(15, '0');
  const digits = precision < 0 ? all.replace(/0+$/, '') : all.slice(0, precision).padEnd(precision, '0');
  return `0x1${digits === '' ? '' : `.${digits}`}p${signed(exponent)}`;
}
