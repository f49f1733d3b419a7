/**
 * The values of the template language, and their conversion from the caller's data.
 *
 * JavaScript numbers are always floats (as in the data); integers of the language are bigints. `null` is a null of the
 * data, `undefined` is "no value", for a missing key. Only own properties of plain objects and entries of maps are
 * data; other members of objects are inaccessible.
 */

/** An unsigned 8-bit integer: the result of `index` on a string. */
export class Byte {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

/** A complex constant. */
export class Complex {
  readonly real: number;
  readonly imaginary: number;
  constructor(real: number, imaginary: number) {
    this.real = real;
    this.imaginary = imaginary;
  }
}

/** A list of the data; read its elements with `fromData`. */
export type ListValue = readonly unknown[];

/** A map of the data: a plain object or a Map with text keys. Read it with `mapEntry` and `mapKeys`. */
export type MapValue = Readonly<Record<string, unknown>> | ReadonlyMap<unknown, unknown>;

/** Any value of the language. */
export type Value = undefined | null | boolean | string | number | bigint | Byte | Complex | ListValue | MapValue;

/** The kinds that comparisons, `printf` and error messages distinguish. */
type ValueKind = 'nil' | 'bool' | 'string' | 'float' | 'int' | 'byte' | 'complex' | 'list' | 'map';

/** Converts anything to a value; other types (functions, symbols, class instances) become no value. */
export function fromData(raw: unknown): Value {
  switch (typeof raw) {
    case 'string':
      return raw.isWellFormed() ? raw : raw.toWellFormed();
    case 'number':
    case 'boolean':
    case 'undefined':
      return raw;
    case 'bigint':
      return Number(raw);
    case 'object':
      return raw === null || Array.isArray(raw) || isMap(raw) ? (raw as Value) : undefined;
    default:
      return undefined;
  }
}

function isMap(raw: object): boolean {
  if (raw instanceof Map) return true;
  const prototype: unknown = Object.getPrototypeOf(raw);
  return prototype === Object.prototype || prototype === null;
}

/** The kind of a value; null and no value are both `nil`. */
export function valueKind(value: Value): ValueKind {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'number':
      return 'float';
    case 'bigint':
      return 'int';
    case 'boolean':
      return 'bool';
    default:
      if (value === null || value === undefined) return 'nil';
      if (Array.isArray(value)) return 'list';
      if (value instanceof Byte) return 'byte';
      return value instanceof Complex ? 'complex' : 'map';
  }
}

/** Go's names of the kinds, in messages and `%T`. */
const typeNames = {
  nil: '<nil>',
  bool: 'bool',
  string: 'string',
  float: 'float64',
  int: 'int',
  byte: 'uint8',
  complex: 'complex128',
  list: '[]interface {}',
  map: 'map[string]interface {}',
} as const satisfies Record<ValueKind, string>;

/** The name of a value's type. */
export function valueTypeName(value: Value): string {
  return typeNames[valueKind(value)];
}

/** Entry of a map, no value for a missing key. */
export function mapEntry(map: MapValue, key: string): Value {
  if (map instanceof Map) return fromData(map.get(key));
  return Object.hasOwn(map, key) ? fromData((map as Record<string, unknown>)[key]) : undefined;
}

/** Keys of a map in the order of their UTF-8 bytes. */
export function mapKeys(map: MapValue): string[] {
  const keys = map instanceof Map ? [...map.keys()].filter((key) => typeof key === 'string') : Object.keys(map);
  return keys.sort(compareBytes);
}

/** Compares in UTF-8 order, which for well-formed text is by code point: below 0, 0, above 0. */
export function compareBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index += 1) {
    const [left, right] = [a.charCodeAt(index), b.charCodeAt(index)];
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/** Surrogates stand for code points above all others. */
function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** Whether a value counts as true in conditions. */
export function isTruthy(value: Value): boolean {
  switch (typeof value) {
    case 'string':
      return value !== '';
    case 'number':
      return value !== 0;
    case 'bigint':
      return value !== 0n;
    case 'boolean':
      return value;
    default:
      if (value === null || value === undefined) return false;
      if (Array.isArray(value)) return value.length > 0;
      if (value instanceof Byte) return value.value !== 0;
      if (value instanceof Complex) return value.real !== 0 || value.imaginary !== 0;
      return sizeOfMap(value as MapValue) > 0;
  }
}

/** Number of entries. */
export function sizeOfMap(map: MapValue): number {
  return map instanceof Map ? map.size : Object.keys(map).length;
}
