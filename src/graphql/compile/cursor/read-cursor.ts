/**
 * Cursors and node ids: Base64 of a JSON array as in pg_graphql (print-cursor.ts). This file parses them.
 *
 * Numbers keep all digits: they are read as source text, never as a JavaScript number.
 */
import { readOnce } from '../input/read-once.ts';

/** Elements as text, null for JSON null; null for an invalid cursor. */
export type Elements = readonly (string | null)[] | null;

/**
 * Decodes a text of a request or document once for all its uses, because a long text may be used very often.
 *
 * @param owner The variables of the request, or the node of the document.
 */
export const decodeOnce = readOnce(decodeJsonArray);

/** Decodes to the elements as text or null. Null for what is no Base64 of a JSON array of plain values in UTF-8. */
function decodeJsonArray(encoded: string): Elements {
  const text = decodeBase64(encoded);
  if (text === null) return null;
  let value: unknown;
  try {
    value = JSON.parse(text, keepDigits as (key: string, value: unknown) => unknown);
  } catch {
    return null;
  }
  if (!Array.isArray(value)) return null;
  const elements = (value as unknown[]).map((element) =>
    typeof element === 'boolean' ? String(element) : element instanceof Digits ? element.source : element,
  );
  return elements.every((element) => element === null || typeof element === 'string') ? elements : null;
}

/** Names and number of key values of a node id; null if invalid. Key values start at element 2 of the array. */
export function readNodeId(elements: Elements) {
  if (elements === null || elements.length < 3) return null;
  const [namespace, table] = elements;
  // A number or boolean instead of a name also decodes to text, but names no table.
  if (typeof namespace !== 'string' || typeof table !== 'string') return null;
  return { namespace, table, keys: elements.length - 2 };
}

class Digits {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

/** JSON.parse reviver with access to source text. */
function keepDigits(_key: string, value: unknown, context: { readonly source?: string }): unknown {
  return typeof value === 'number' && context.source !== undefined ? new Digits(context.source) : value;
}

const alphabet = /^[A-Za-z0-9+/]*={0,2}$/;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decodeBase64(encoded: string): string | null {
  if (encoded === '' || !alphabet.test(encoded)) return null;
  try {
    return utf8.decode(Buffer.from(encoded, 'base64'));
  } catch {
    return null;
  }
}
