/**
 * The fast path of coercion, for values that fit their types. Returns the same as graphql-js's `coerceInputValue`, or
 * `undefined` to let graphql-js accept or refuse the value.
 *
 * Measured with a hundred objects: graphql-js reads all fields of the type for each, and makes objects that engines
 * store as hash tables, which slows all later steps.
 */
import {
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLLeafType,
  getNullableType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import { hasDefault, inOrder, inputFieldsOf } from './input-fields.ts';
import { textProblem } from './storable-text.ts';

/** An object without methods that engines do not store as a hash table, unlike the result of `Object.create(null)`. */
export const PlainRecord = function PlainRecord() {} as unknown as new () => Record<string, unknown>;
PlainRecord.prototype = Object.freeze(Object.create(null));

/** Whether two lists of keys are equal, including the order. */
export function haveSameKeys(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((key, index) => key === right[index]);
}

/**
 * The coerced value; undefined if refused, or left to graphql-js: `@oneOf`, iterables other than
 * arrays, text that PostgreSQL cannot store, and very deep values.
 *
 * @param level Depth of the value.
 */
export type InputCoercer = (value: unknown, level: number) => unknown;

/** Deeper values fit no document within the limits. */
const maxLevels = 200;

const coercers = new WeakMap<GraphQLInputType, InputCoercer>();

/** The cached coercer of a type. */
export function coercerOf(type: GraphQLInputType): InputCoercer {
  const known = coercers.get(type);
  if (known !== undefined) return known;
  const made = makeCoercer(type);
  coercers.set(type, made);
  return made;
}

function makeCoercer(type: GraphQLInputType): InputCoercer {
  if (isNonNullType(type)) {
    const coerce = coercerOf(getNullableType(type) as GraphQLInputType);
    return (value, level) => (value === null ? undefined : coerce(value, level));
  }
  if (isListType(type)) return coerceList(coercerOf(type.ofType as GraphQLInputType));
  return isInputObjectType(type) ? coerceObject(type) : coerceLeaf(type);
}

function coerceLeaf(type: GraphQLLeafType): InputCoercer {
  return (value) => {
    if (value === null) return null;
    try {
      const coerced = type.coerceInputValue(value);
      return typeof coerced === 'string' && textProblem(coerced) !== null ? undefined : coerced;
    } catch {
      return undefined;
    }
  };
}

function coerceList(coerceItem: InputCoercer): InputCoercer {
  return (value, level) => {
    if (value === null) return null;
    if (level > maxLevels) return undefined;
    if (!Array.isArray(value)) {
      const item = typeof value === 'object' && Symbol.iterator in value ? undefined : coerceItem(value, level + 1);
      return item === undefined ? undefined : [item];
    }
    const items: unknown[] = [];
    for (const item of value) {
      const coerced = coerceItem(item, level + 1);
      if (coerced === undefined) return undefined;
      items.push(coerced);
    }
    return items;
  };
}

/** Coercers of an object's members, in the order in which they count, for the keys that a client sent. */
interface ObjectCoercers {
  readonly keys: readonly string[];
  readonly members: readonly { readonly name: string; readonly coerce: InputCoercer }[];
}

function coerceObject(type: GraphQLInputObjectType): InputCoercer {
  // Objects of a list, and of a client's requests, mostly have the same keys.
  let last: ObjectCoercers | null = null;
  return (value, level) => {
    if (value === null) return null;
    if (typeof value !== 'object' || Array.isArray(value) || level > maxLevels) return undefined;
    const keys = Object.keys(value);
    const coercers: ObjectCoercers | null =
      last !== null && haveSameKeys(last.keys, keys) ? last : coercersOf(type, keys);
    if (coercers === null) return undefined;
    last = coercers;
    const object = new PlainRecord();
    for (const { name, coerce } of coercers.members) {
      const coerced = coerce((value as Readonly<Record<string, unknown>>)[name], level + 1);
      if (coerced === undefined) return undefined;
      object[name] = coerced;
    }
    return object;
  };
}

/** Null if a key is not a field, or a missing field is required or has a default that graphql-js must make. */
function coercersOf(type: GraphQLInputObjectType, keys: readonly string[]): ObjectCoercers | null {
  if (type.isOneOf) return null;
  const { byName, always } = inputFieldsOf(type);
  const members: (ObjectCoercers['members'][number] & { readonly index: number })[] = [];
  for (const key of keys) {
    const placed = byName.get(key);
    if (placed === undefined) return null;
    members.push({ name: key, coerce: coercerOf(placed.field.type), index: placed.index });
  }
  for (const { field, index } of always) {
    if (keys.includes(field.name)) continue;
    if (!hasDefault(field)) return null;
    const value = field.default === undefined ? undefined : coercerOf(field.type)(field.default.value, 0);
    if (value === undefined) return null;
    members.push({ name: field.name, coerce: () => value, index });
  }
  return { keys, members: inOrder(type, members) };
}
