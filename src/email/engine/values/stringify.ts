/**
 * The two conversions of values to text before escaping: for contexts of a body, and for the functions `html`, `js` and
 * `urlquery`, which show a missing value.
 */
import { formatPlainValue } from './format-value.ts';
import type { Value } from './value.ts';

/** The text of a printed value; null and no value are empty. */
export function stringify(value: Value): string {
  if (typeof value === 'string') return value;
  return value === null || value === undefined ? '' : formatPlainValue(value);
}

/** All values in one text, with a blank between two that are both no texts. */
export function printAll(values: readonly Value[]): string {
  return values
    .map((value, index) => (needsBlank(values, index) ? ` ${formatPlainValue(value)}` : formatPlainValue(value)))
    .join('');
}

function needsBlank(values: readonly Value[], index: number): boolean {
  return index > 0 && typeof values[index] !== 'string' && typeof values[index - 1] !== 'string';
}

/** Like `printAll`, but null and no value become `<no value>`. */
export function printShown(values: readonly Value[]): string {
  return printAll(values.map((value) => (value === null || value === undefined ? '<no value>' : value)));
}
