/**
 * The comparison functions: values of the same basic kind compare, others are faults, and null equals only null.
 */
import { failValue } from '../template-error.ts';
import { Byte, type Complex, compareBytes, kindOf, type Value } from './value.ts';

/** How strict comparisons are. */
export interface Comparison {
  /** Values of different kinds are not equal, rather than a fault. Told the message of the fault. */
  readonly tolerate: ((message: string) => void) | null;
}

const incompatible = 'incompatible types for comparison';

/** `eq`: whether the first equals any of the others, which are looked at in order. */
export function equalsAny(values: readonly Value[], comparison: Comparison): boolean {
  const [first, ...others] = values;
  if (others.length === 0) failValue('error calling eq: missing argument for comparison');
  return others.some((other) => equals(first, other, comparison));
}

function equals(a: Value, b: Value, { tolerate }: Comparison): boolean {
  const [left, right] = [basicKind(a), basicKind(b)];
  if (left === 'nil' || right === 'nil') return left === right;
  if (left === 'collection' && right === 'collection')
    failValue('error calling eq: non-comparable type: lists and maps cannot be compared');
  if (left !== right) {
    const message = `error calling eq: ${incompatible}: ${left} and ${right}`;
    if (tolerate === null) failValue(message);
    tolerate(message);
    return false;
  }
  if (left === 'int') return integerOf(a) === integerOf(b);
  if (left !== 'complex') return a === b;
  const [x, y] = [a as Complex, b as Complex];
  return x.real === y.real && x.imaginary === y.imaginary;
}

type BasicKind = 'nil' | 'bool' | 'string' | 'float' | 'int' | 'complex' | 'collection';

function basicKind(value: Value): BasicKind {
  const kind = kindOf(value);
  if (kind === 'byte') return 'int';
  return kind === 'list' || kind === 'map' ? 'collection' : kind;
}

function integerOf(value: Value): bigint {
  return value instanceof Byte ? BigInt(value.value) : (value as bigint);
}

/** Below 0, 0 or above 0 for numbers of one kind and for texts. `name` is that of the function, for the message. */
export function compareOrder(name: string, a: Value, b: Value): number {
  const [left, right] = [basicKind(a), basicKind(b)];
  const without = ['nil', 'collection'];
  if (without.includes(left) || without.includes(right))
    failValue(`error calling ${name}: invalid type for comparison`);
  if (left !== right) failValue(`error calling ${name}: ${incompatible}: ${left} and ${right}`);
  switch (left) {
    case 'string':
      return compareBytes(a as string, b as string);
    case 'float':
      return (a as number) < (b as number) ? -1 : Number((a as number) > (b as number));
    case 'int':
      return integerOf(a) < integerOf(b) ? -1 : Number(integerOf(a) > integerOf(b));
    default:
      return failValue(`error calling ${name}: invalid type for comparison`);
  }
}
