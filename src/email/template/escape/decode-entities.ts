/**
 * Decodes HTML character references as Go's `html.UnescapeString`: by the rules for text (not attributes), so a name
 * that needs no semicolon is decoded even before letters.
 */
import { decodeHTML } from 'entities';

/**
 * Where Go differs from the standard: `&#x;` is an invalid character, and one digit without a semicolon is not a
 * number.
 */
const ownOfGo = /(&#(?:[xX];|[0-9](?![0-9;])))/;

/** The text with its references replaced. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text
    .split(ownOfGo)
    .map((part, index) => (index % 2 === 0 ? decodeHTML(part) : part.endsWith(';') ? '\ufffd' : part))
    .join('');
}
