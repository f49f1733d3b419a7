/**
 * Answers on a page: they stay as they were written where they are true, and are written anew where they are not. `…` stands
 * for what changes from run to run: a value of JSON, or any text.
 */
import { isDeepStrictEqual } from 'node:util';

const maxWidth = 100;

/** The written JSON where it says what was answered, else the answer, with `…` where the written one has it. */
export function renderJson(written: string, actual: unknown): string {
  const expected = parseOrNull(written);
  const answer = hideLike(expected, actual);
  return isDeepStrictEqual(expected, answer) ? written : `${printJson(answer)}\n`;
}

/** The written text where it says what was printed, else what was printed. */
export function renderText(written: string, actual: string): string {
  const pattern = written
    .trimEnd()
    .split('…')
    .map((piece) => piece.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
    .join('[\\s\\S]*?');
  return new RegExp(`^${pattern}$`).test(actual.trimEnd()) ? written : `${actual.trimEnd()}\n`;
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Puts `…` where the expected value has it. */
function hideLike(expected: unknown, actual: unknown): unknown {
  if (expected === '…' && actual !== undefined) return '…';
  if (Array.isArray(expected) && Array.isArray(actual))
    return actual.map((item, index) => hideLike(expected[index], item));
  if (isObject(expected) && isObject(actual)) {
    return Object.fromEntries(Object.entries(actual).map(([key, value]) => [key, hideLike(expected[key], value)]));
  }
  return actual;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** JSON as a person writes it: what fits into a line stands in one. */
function printJson(value: unknown, indent = '', before = 0): string {
  const flat = printFlat(value);
  if (indent.length + before + flat.length <= maxWidth && indent !== '') return flat;
  const inner = `${indent}  `;
  if (Array.isArray(value) && value.length > 0)
    return `[\n${value.map((item) => `${inner}${printJson(item, inner)}`).join(',\n')}\n${indent}]`;
  if (!isObject(value) || Object.keys(value).length === 0) return flat;
  const members = Object.entries(value).map(([key, item]) => {
    const name = `${JSON.stringify(key)}: `;
    return `${inner}${name}${printJson(item, inner, name.length)}`;
  });
  return `{\n${members.join(',\n')}\n${indent}}`;
}

function printFlat(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(printFlat).join(', ')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${printFlat(item)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}
