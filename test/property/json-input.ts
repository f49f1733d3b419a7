/**
 * JSON as a value of a request: how it is written, and what it is once read, where numbers and texts are alike. Texts that look
 * like numbers are therefore left out.
 */
import { Num, parseJson, type Value } from './canonical.ts';
import type { Input } from './document.ts';
import type { Written } from './writer.ts';

/** The value of a JSON text; null where a request cannot say it: `null` alone, large numbers, and texts that look like values. */
export function writeJson(text: string): Written | null {
  const value = parseJson(text);
  if (value === null || !isWritable(value)) return null;
  return { text: literalOf(value), json: JSON.parse(text) };
}

function isWritable(value: Value): boolean {
  if (value instanceof Num) return Math.abs(Number(value.text)) < 1e15;
  if (typeof value === 'string') return !looksLikeValue(value);
  if (Array.isArray(value)) return value.every(isWritable);
  return !(value instanceof Map) || [...value].every(([key, item]) => /^[a-z]+$/.test(key) && isWritable(item));
}

function literalOf(value: Value): string {
  if (value instanceof Num) return value.text;
  if (value instanceof Map) return `{${[...value].map(([key, item]) => `${key}: ${literalOf(item)}`).join(', ')}}`;
  return Array.isArray(value) ? `[${value.map(literalOf).join(', ')}]` : JSON.stringify(value);
}

function looksLikeValue(text: string): boolean {
  try {
    return typeof JSON.parse(text) !== 'object';
  } catch {
    return false;
  }
}

/** The JSON text of such a value. */
export function jsonOf(input: Input): string {
  if (input === null || input === undefined) return 'null';
  if (typeof input === 'string') return looksLikeValue(input) ? input : JSON.stringify(input);
  if (Array.isArray(input)) return `[${input.map(jsonOf).join(',')}]`;
  const members = [...(input as ReadonlyMap<string, Input>)].filter(([, item]) => item !== undefined);
  return `{${members.map(([key, item]) => `${JSON.stringify(key)}:${jsonOf(item)}`).join(',')}}`;
}
