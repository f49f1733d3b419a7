/** Escapers for CSS, and the decoder of CSS escapes, which the scanner also uses. */
import { refused } from './escape-html.ts';

const special = /[\0\t\n\f\r"&'()+/:;<>\\{}]/g;
const startsLikeHex = /^[0-9a-fA-F\t\n\f\r ]?$/;

/**
 * For CSS strings: special characters as escapes, followed by a blank if the next character could extend the escape.
 */
export function escapeCssString(text: string): string {
  if (text.search(special) < 0) return text;
  return text.replace(special, (character, at: number) => {
    if (character === '\\') return '\\\\';
    const blank = startsLikeHex.test(text.charAt(at + 1)) ? ' ' : '';
    return `\\${character.charCodeAt(0).toString(16)}${blank}`;
  });
}

const neverInValue = /[\0"'()/;@[\\\]`{}<>]|--/;

/** For values outside strings: allows only text that cannot end a value or run code; escapes are decoded first. */
export function filterCssValue(text: string): string {
  const decoded = decodeCss(text);
  if (neverInValue.test(decoded)) return refused;
  const letters = decoded.replace(/\W/g, '').toLowerCase();
  return letters.includes('expression') || letters.includes('mozbinding') ? refused : decoded;
}

const escapePattern = /\\(?:([0-9a-fA-F]{1,6})|([\s\S])?)/gu;

/** Decodes CSS escapes; drops a final backslash. */
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
      // The last digit is not part of the escape; it is literal.
      code = Math.floor(code / 16);
      done -= 1;
    }
    result += code >= 0xd800 && code <= 0xdfff ? '\ufffd' : String.fromCodePoint(code);
    done += /^(?:\r\n|[ \t\n\f\r])?/.exec(text.slice(done, done + 2))?.[0].length ?? 0;
  }
  return result + text.slice(done);
}
