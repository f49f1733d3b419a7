/** Which keys the objects to insert have. */
import type { RowKey } from './slot.ts';

/** Which of the keys a row has: `1` or `0` for each. */
export function patternOf(keys: readonly RowKey[], has: (key: RowKey) => boolean): string {
  return keys.map((key) => (has(key) ? '1' : '0')).join('');
}

/** Whether an object sets the column; a null instead of a generated key or of related objects sets nothing. */
export function setsKey(row: InputRow, { fieldName, isGenerated, related }: RowKey): boolean {
  if (isGenerated ? hasValue(row, fieldName) : Object.hasOwn(row, fieldName)) return true;
  return related.some((name) => hasValue(row, name));
}

type InputRow = Readonly<Record<string, unknown>>;

/** Whether an object has the key, with a value other than null. */
export function hasValue(row: InputRow, name: string): boolean {
  return Object.hasOwn(row, name) && row[name] !== null;
}

/** Most values of rows that are told apart, in one operation, for 400 kB of text: planning them takes less than 100 ms. */
export const maxCells = 20_000;

/** Of rows with these patterns: that of each, one more than the most at most, or the only one if all are equal. */
export function patternsOf(ofRows: readonly string[]): readonly string[] {
  const isSame = ofRows.every((pattern) => pattern === ofRows[0]);
  return ofRows.slice(0, isSame ? 1 : maxCells + 1);
}
