/** A link to a row that the role does not see must be answered as one to a row that is not there. */
import { isDeepStrictEqual } from 'node:util';
import type { Value } from './values.ts';
import type { Key } from './write.ts';

/** Has the names of hidden rows, among these, name no rows. @returns Whether all could be changed. */
export function nameNoRows(keys: readonly Key[], hidden: readonly Key[]): boolean {
  const isSame = (one: Key, other: Key) =>
    one.table === other.table && one.name === other.name && isDeepStrictEqual(one.values, other.values);
  return hidden.every((each) => {
    const same = keys.filter((key) => isSame(key, each));
    const last = each.values.at(-1);
    if (last === undefined || last === null) return false;
    for (const key of same) key.values = [...key.values.slice(0, -1), unused(last)];
    return true;
  });
}

/** A value of the same type that no row has. */
function unused(value: NonNullable<Value>): Value {
  if (typeof value === 'number') return value + 700_000_000;
  const text = String(value);
  return /^[\da-f]{8}-/.test(text) ? text.replace(/^.{8}/, 'ffffffff') : `${text}~`;
}
