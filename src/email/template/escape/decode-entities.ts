/**
 * Decodes character references of HTML in one pass, by the rules for text (not those for attributes): a name that counts
 * without a semicolon is decoded also where letters follow.
 */
import { bareEntityNames, entityTable } from './entity-table.ts';

interface Tables {
  /** With the semicolon where it is needed; what counts without one is in twice. */
  readonly values: ReadonlyMap<string, string>;
  readonly bare: ReadonlySet<string>;
}

let tables: Tables | null = null;

/** Unpacks the table at its first use. */
function loadTables(): Tables {
  if (tables !== null) return tables;
  const values = new Map<string, string>();
  for (const entry of entityTable.split(',')) {
    const [name = '', codes = ''] = entry.trim().split(' ');
    values.set(`${name};`, String.fromCodePoint(...codes.split('+').map((code) => Number.parseInt(code, 16))));
  }
  const bare = bareEntityNames.split(',').map((name) => name.trim());
  for (const name of bare) values.set(name, values.get(`${name};`) ?? '');
  tables = { values, bare: new Set(bare) };
  return tables;
}

/** Longest name that counts without a semicolon. */
const longestBare = 6;

/** What the numbers 0x80 to 0x9f stand for: the characters of Windows-1252. */
const windows =
  '\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f' +
  '\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178';

/** The text with its references replaced. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(referencePattern, (whole, hex, decimal, name) => {
    if (typeof name === 'string') return decodeName(name, whole);
    if (typeof hex === 'string') return decodeNumber(Number.parseInt(`0${hex}`, 16));
    // One digit alone is too little without a semicolon.
    return whole.length < 4 ? whole : decodeNumber(Number(decimal));
  });
}

/** `&#x;` counts as a number, and `&#x` does not. */
const referencePattern = /&(?:#(?:[xX]([0-9a-fA-F]+(?:;|)|;)|([0-9]+);?)|([A-Za-z0-9]+;?))/g;

function decodeName(name: string, whole: string): string {
  const { values, bare } = loadTables();
  const value = values.get(name);
  if (value !== undefined) return value;
  for (let length = Math.min(name.length - 1, longestBare); length > 1; length -= 1) {
    const start = name.slice(0, length);
    if (bare.has(start)) return (values.get(start) ?? '') + name.slice(length);
  }
  return whole;
}

function decodeNumber(code: number): string {
  if (code >= 0x80 && code <= 0x9f) return windows[code - 0x80] ?? '';
  const none = code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff);
  return none ? '\ufffd' : String.fromCodePoint(code);
}
