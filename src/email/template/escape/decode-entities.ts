/**
 * Decodes character references of HTML as Go's `html.UnescapeString` does: by the rules for text (not those for attributes), so a
 * name that counts without a semicolon is decoded also where letters follow.
 */
import { decodeHTML } from 'entities';

/** Where Go differs from the standard: `&#x;` is a character that does not exist, and one digit without a semicolon is no number. */
const ownOfGo = /(&#(?:[xX];|[0-9](?![0-9;])))/;

/** The text with its references replaced. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text
    .split(ownOfGo)
    .map((part, index) => (index % 2 === 0 ? decodeHTML(part) : part.endsWith(';') ? '\ufffd' : part))
    .join('');
}
