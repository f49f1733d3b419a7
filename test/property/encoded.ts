/**
 * Cursors and node ids: the Base64 of a JSON array.
 */
import { Num, parseJson } from './canonical.ts';

/** The root field is refused before any SQL; a null message: any message will do. */
export class FieldError extends Error {
  override readonly name = 'FieldError';
  readonly expected: string | null;

  constructor(expected: string | null) {
    super(expected ?? 'refused');
    this.expected = expected;
  }
}

/** Base64 of an array of jsonb texts. */
export function encodeArray(elements: readonly string[]): string {
  return Buffer.from(`[${elements.join(', ')}]`, 'utf8').toString('base64');
}

/**
 * The elements as texts, null for null.
 * @throws FieldError where it is no array of plain values.
 */
export function decodeArray(encoded: string): readonly (string | null)[] {
  let value: unknown;
  try {
    if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) throw new Error('not Base64');
    value = parseJson(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(encoded, 'base64')));
  } catch {
    throw new FieldError(null);
  }
  if (!Array.isArray(value)) throw new FieldError(null);
  return value.map((element: unknown) => {
    if (element instanceof Num) return element.text;
    if (element !== null && typeof element === 'object') throw new FieldError(null);
    return element === null ? null : String(element);
  });
}
