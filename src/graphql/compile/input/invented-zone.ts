/**
 * Finds time zones that a caller has made up. PostgreSQL reads `AAAB-1` as a zone of its own (POSIX), and a server
 * process keeps each one that it has read: 24 kB, until its connection ends. Names that exist are a few hundred.
 *
 * Splits a text as PostgreSQL does (ParseDateTime): only a word may be a zone, and only one with digits is made up.
 * Names without digits that do not exist are refused by PostgreSQL, and not kept.
 */
import type { ZonePlace } from '../../model/model.ts';

/** The invented zone in the text of a value; null for none. */
export function inventedZone(text: string, place: ZonePlace): string | null {
  // Most texts have none at all, and need not be taken apart.
  const found = zoneAnywhere(text);
  if (found === null || place === 'anywhere') return found;
  const isArray = !/^\s*\(/.test(text);
  for (const [index, part] of partsOf(text, isArray).entries()) {
    const inside = isArray ? place : place[index];
    const zone = inside ? inventedZone(part, inside) : null;
    if (zone !== null) return zone;
  }
  return null;
}

/** The elements of an array, of all its dimensions, or the attributes of a composite value, as PostgreSQL reads them. */
function partsOf(text: string, isArray: boolean): readonly string[] {
  const parts: string[] = [];
  const separators = isArray ? '{},' : ',)';
  let [part, isQuoted, isEscaped, hasClosed] = ['', false, false, false];
  for (const [token] of text.slice(isArray ? 0 : text.indexOf('(') + 1).matchAll(/[^"\\,(){}]+|[\s\S]/g)) {
    const isSyntax = !isEscaped;
    isEscaped = isSyntax && token === '\\';
    if (isEscaped) continue;
    if (isSyntax && token === '"') {
      // Doubled, it is a quote of an attribute's text.
      if (hasClosed && !isArray) part += token;
      hasClosed = isQuoted;
      isQuoted = !isQuoted;
      continue;
    }
    hasClosed = false;
    if (isSyntax && !isQuoted && separators.includes(token)) {
      parts.push(part);
      part = '';
    } else part += token;
  }
  return [...parts, part];
}

/** The invented zone in a text of a date, time, range or list of these; null for none. */
function zoneAnywhere(text: string): string | null {
  if (letters.test(text) && hiding.test(text)) return text;
  if (!mayInvent.test(text)) return null;
  for (const piece of new Set(text.match(pieces))) {
    if (!mayInvent.test(piece) || !/\d/.test(piece)) continue;
    for (const { groups } of piece.matchAll(tokens)) {
      const word = groups?.word;
      if (word !== undefined && /\d/.test(word) && !isKnown(word.toLowerCase())) return word;
    }
  }
  return null;
}

/** What no token goes beyond; most pieces have a date or a word alone. */
const pieces = /[^\s",;(){}[\]]+/g;

/** The beginning of a word, which neither `T08:00` nor `00Z` has. */
const mayInvent = /[a-su-z\u0080-\uffff][^\s",)}\]]|t[^\s",:\d]/i;

const letters = /[a-z\u0080-\uffff]/i;

/**
 * A quote or backslash within a word. Ranges and arrays leave them out, so `AAA"B-1"` is `AAAB-1` there; nobody needs them but
 * around whole values, and before quotes.
 */
const hiding = /\\[^\\"]|[^\s,([{"\\]\\*"[\\"]*[^\s,)\]}"\\]/;

/** Words after which digits begin something else: `T08:00`, `Jan8`. */
const keywords =
  'ad|allballs|am|apr|april|at|aug|august|bc|d|dec|december|dow|doy|dst|epoch|feb|february|fri|friday|h|infinity|isodow|isoyear|j|jan|january|jd|jul|julian|july|jun|june|m|mar|march|may|mm|mon|monday|nov|november|now|oct|october|on|pm|s|sat|saturday|sep|sept|september|sun|sunday|t|thu|thur|thurs|thursday|today|tomorrow|tue|tues|tuesday|wed|wednesday|weds|y|yesterday'; // biome-ignore format: a table of names
const letter = 'a-z\\u0080-\\uffff';

/** Times, dates (also with the name of a month inside), words (the group), and anything else. */
const tokens = new RegExp(
  [
    '\\d+:[\\d:.]*',
    `\\d+(?<between>[-/.])(?:\\d[-/.\\d]*|(?:[${letter}\\d]|\\k<between>)*)`,
    '\\d+',
    `(?:${keywords})(?=[+\\d])`,
    `(?<word>[${letter}]+(?:[-/.+\\d][-+/_.:${letter}\\d]*)?)`,
    '[^]',
  ].join('|'),
  'gi',
);

function isKnown(word: string): boolean {
  return knownZone.test(word) || monthFirst.test(word);
}

/** All names with digits that time zone databases have, and hours from UTC. */
const knownZone =
  /^(?:posix\/|right\/)?(?:(?:etc\/)?(?:gmt|utc)[-+]?(?:[01]?\d|2[0-4])|(?:systemv\/)?(?:est5|cst6|mst7|pst8|ast4|yst9)(?:[ecmpay]dt)?|systemv\/hst10)$/;

/** `Jan-08-1999`, which is no zone: its second name would be empty. */
const monthFirst = new RegExp(`^(?:${keywords})-\\d{1,2}-\\d{1,6}$`);
