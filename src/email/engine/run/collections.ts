/** `len`, `index` and `slice`: texts are measured in UTF-8 bytes. */
import { decodeBytes } from '../parse/constants.ts';
import { failValue } from '../template-error.ts';
import {
  Byte,
  fromData,
  type ListValue,
  type MapValue,
  mapEntry,
  sizeOfMap,
  type Value,
  valueKind,
  valueTypeName,
} from '../values/value.ts';

/** Bytes of a text, elements of a list, entries of a map. */
export function lengthOf(value: Value): bigint {
  switch (valueKind(value)) {
    case 'string':
      return BigInt(Buffer.byteLength(value as string));
    case 'list':
      return BigInt((value as ListValue).length);
    case 'map':
      return BigInt(sizeOfMap(value as MapValue));
    default:
      return failValue(`error calling len: len of type ${valueTypeName(value)}`);
  }
}

/** The element at successive indexes or keys. */
export function indexInto(item: Value, indexes: readonly Value[]): Value {
  if (item === null || item === undefined) failValue('error calling index: index of untyped nil');
  let current: Value = item;
  for (const index of indexes) {
    switch (valueKind(current)) {
      case 'map':
        if (typeof index !== 'string')
          failValue(`error calling index: value has type ${valueTypeName(index)}; should be string`);
        current = mapEntry(current as MapValue, index);
        break;
      case 'list': {
        const list = current as ListValue;
        current = fromData(list[toIndex('index', index, list.length - 1)]);
        break;
      }
      case 'string': {
        const bytes = Buffer.from(current as string);
        current = new Byte(bytes[toIndex('index', index, bytes.length - 1)] ?? 0);
        break;
      }
      case 'nil':
        failValue('error calling index: index of nil pointer');
        break;
      default:
        failValue(`error calling index: can't index item of type ${valueTypeName(current)}`);
    }
  }
  return current;
}

/** Part of a text or list. Bytes of a cut character become U+FFFD each. */
export function sliceOf(item: Value, indexes: readonly Value[]): Value {
  const kind = valueKind(item);
  if (kind === 'nil') failValue('error calling slice: slice of untyped nil');
  if (indexes.length > 3) failValue(`error calling slice: too many slice indexes: ${indexes.length}`);
  if (kind !== 'string' && kind !== 'list')
    failValue(`error calling slice: can't slice item of type ${valueTypeName(item)}`);
  if (kind === 'string' && indexes.length === 3) failValue('error calling slice: cannot 3-index slice a string');
  const whole = kind === 'string' ? Buffer.from(item as string) : (item as ListValue);
  const [from = 0, to = whole.length, limit = whole.length] = indexes.map((index) =>
    toIndex('slice', index, whole.length),
  );
  if (from > to) failValue(`error calling slice: invalid slice index: ${from} > ${to}`);
  if (to > limit) failValue(`error calling slice: invalid slice index: ${to} > ${limit}`);
  const part = whole.slice(from, to);
  return part instanceof Uint8Array ? decodeBytes(part) : part;
}

function toIndex(name: string, index: Value, largest: number): number {
  const number = index instanceof Byte ? BigInt(index.value) : index;
  if (typeof number !== 'bigint')
    failValue(`error calling ${name}: cannot index slice/array with type ${valueTypeName(index)}`);
  if (number < 0n || number > BigInt(largest)) failValue(`error calling ${name}: index out of range: ${number}`);
  return Number(number);
}
