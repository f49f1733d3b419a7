/**
 * Whether two models are equal: roles with equal models share schema and statements, before and after a reload.
 *
 * Most that differ do so in their first tables. Columns refer to few types, so a pair of these is compared once.
 */
import { invariant } from '../../shared/invariant.ts';
import { type Sliced, sliceIsOver } from '../../shared/slices.ts';
import type { Model } from './model.ts';

/** Compares them, with pauses. */
export function* isSameModel(one: Model, other: Model): Sliced<boolean> {
  const { tables, ...rest } = one;
  const { tables: otherTables, ...otherRest } = other;
  const isEqual = comparison();
  if (tables.size !== otherTables.size || !isEqual(rest, otherRest)) return false;
  const others = otherTables.values();
  for (const table of tables.values()) {
    if (sliceIsOver()) yield;
    if (!isEqual(table, others.next().value)) return false;
  }
  return true;
}

/** Compares plain data, in which maps have an order. */
function comparison(): (one: unknown, other: unknown) => boolean {
  const types = new Map<object, object>();
  const areEqual = (one: unknown, other: unknown): boolean => {
    if (Object.is(one, other)) return true;
    if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
    if (Array.isArray(one) || Array.isArray(other)) return areEqualLists(one, other);
    if (one instanceof Map && other instanceof Map) return areEqualLists([...one], [...other]);
    return areEqualObjects(one, other);
  };
  const areEqualLists = (one: unknown, other: unknown): boolean => {
    if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false;
    return one.every((item, index) => areEqual(item, other[index]));
  };
  const areEqualObjects = (one: object, other: object): boolean => {
    // A set has no keys, so any two would be equal, and roles would share what one of them may not see.
    invariant(!(one instanceof Set || other instanceof Set), 'models have no sets');
    const isType = 'cast' in one || 'zones' in one;
    if (isType && types.get(one) === other) return true;
    const keys = Object.keys(one);
    if (keys.length !== Object.keys(other).length) return false;
    for (const key of keys) {
      if (!Object.hasOwn(other, key)) return false;
      if (!areEqual(one[key as keyof typeof one], other[key as keyof typeof other])) return false;
    }
    if (isType) types.set(one, other);
    return true;
  };
  return areEqual;
}
