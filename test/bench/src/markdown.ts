/**
 * Cells and tables of Markdown.
 */
import type { TargetResult } from './measure.ts';

/** A table; the first `words` columns are words, the others numbers. */
export function table(heading: readonly string[], rows: readonly (readonly string[])[], words: number): string {
  const rule = `|${heading.map((_, index) => (index < words ? '---' : '---:')).join('|')}|`;
  return [printRow(heading), rule, ...rows.map(printRow), ''].join('\n');
}

function printRow(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

/** A whole number with commas. */
export function whole(value: number | undefined): string {
  return value === undefined ? '-' : Math.round(value).toLocaleString('en');
}

/** `1.50 ×`. */
export function ratio(value: number | undefined, other: number | undefined): string {
  return value === undefined || !other ? '-' : `${(value / other).toFixed(2)} ×`;
}

/** One server's result of a case. */
export function resultOf(targets: readonly TargetResult[], name: string): TargetResult | undefined {
  return targets.find((each) => each.name === name);
}
