/**
 * Escapers for CSS, and the decoding of CSS escapes that the scanner needs too.
 */
import { refused } from './escape-html.ts';

const special = /[\0\t\n\f\r"&'()+/:;<>\\{}]/g;
const startsLikeHex = /^[0-9a-fA-F\t\n\f\r ]?$/;

/** For strings of CSS: special characters as escapes, with a blank where the next character could be taken for one of it. */
export function escapeCssString(text: string): string {
  if (text.search(special) < 0) return text;
  return text.replace(special, (character, at: number) => {
    if (character === '\\') return '\\\\';
    const blank = startsLikeHex.test(text.charAt(at + 1)) ? ' ' : '';
    return `\\${character.charCodeAt(0).toString(16)}${blank}`;
  });
}

const neverInValue = /[\0"'()/;@[\\\]`{}<>]|--/;

/** For values outside strings: only what cannot end a value or run code; escapes are decoded first. */
export function filterCssValue(text: string): string {
  const decoded = decodeCss(text);
  if (neverInValue.test(decoded)) return refused;
  const letters = decoded.replace(/\W/g, '').toLowerCase();
  return letters.includes('expression') || letters.includes('mozbinding') ? refused : decoded;
}

const escapePattern = /\\(?:([0-9a-fA-F]{1,6})|([\s\S])?)/gu;

/** Decodes the escapes of CSS; a backslash at the end vanishes. */
export function decodeCss(text: string): string {
  if (!text.includes('\\')) return text;
  let result = '';
  let done = 0;
  for (const match of text.matchAll(escapePattern)) {
    if (match.index < done) continue;
    result += text.slice(done, match.index);
    const [whole, hex, plain = ''] = match;
    done = match.index + whole.length;
    if (hex === undefined) {
      result += plain;
      continue;
    }
    let code = Number.parseInt(hex, 16);
    if (code > 0x10ffff) {
      // The last digit is not part of the escape; it follows as itself.
      code = Math.floor(code / 16);
      done -= 1;
    }
    result += code >= 0xd800 && code <= 0xdfff ? '\ufffd' : String.fromCodePoint(code);
    done += /^(?:\r\n|[ \t\n\f\r])?/.exec(text.slice(done, done + 2))?.[0].length ?? 0;
  }
  return result + text.slice(done);
}
