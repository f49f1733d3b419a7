/** The comparison functions: values of one basic kind are comparable; others are faults or unequal. */
import { failValue } from '../template-error.ts';
import { Byte, type Complex, compareBytes, type Value, valueKind } from '../values/value.ts';

/** Called with the message of a fault that is tolerated as unequal or empty. */
export type Tolerate = (message: string) => void;

const incompatible = 'incompatible types for comparison';

/** `eq`: whether the first equals any of the others, checked in order. */
export function equalsAny(name: string, values: readonly Value[], tolerate: Tolerate | null): boolean {
  const [first, ...others] = values;
  if (others.length === 0) failValue(`error calling ${name}: missing argument for comparison`);
  return others.some((other) => {
    const problem = whyIncomparable(first, other);
    if (problem === null) return equals(first, other);
    const message = `error calling ${name}: ${problem}`;
    if (tolerate === null) failValue(message);
    tolerate(message);
    return false;
  });
}

function whyIncomparable(a: Value, b: Value): string | null {
  const [left, right] = [basicKind(a), basicKind(b)];
  if (left === 'nil' || right === 'nil') return null;
  if (left !== right) return `${incompatible}: ${left} and ${right}`;
  return left === 'collection' ? 'non-comparable type: lists and maps cannot be compared' : null;
}

function equals(a: Value, b: Value): boolean {
  const [left, right] = [basicKind(a), basicKind(b)];
  if (left === 'nil' || right === 'nil') return left === right;
  if (left === 'int') return integerOf(a) === integerOf(b);
  if (left !== 'complex') return a === b;
  const [x, y] = [a as Complex, b as Complex];
  return x.real === y.real && x.imaginary === y.imaginary;
}

type BasicKind = 'nil' | 'bool' | 'string' | 'float' | 'int' | 'complex' | 'collection';

function basicKind(value: Value): BasicKind {
  const kind = valueKind(value);
  if (kind === 'byte') return 'int';
  return kind === 'list' || kind === 'map' ? 'collection' : kind;
}

function integerOf(value: Value): bigint {
  return value instanceof Byte ? BigInt(value.value) : (value as bigint);
}

/** Below 0, 0 or above 0 for numbers of one kind and for texts. `name` is the function's, for the message. */
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
