/** Escapers for URLs: the filter of schemes, two levels of percent-encoding, and image lists. */
import { refused } from './escape-html.ts';

/** What an address with a scheme that is not allowed becomes. */
export const refusedUrl = `#${refused}`;

const alwaysKept = /^[\w\-.~]$/;
const hexDigits = /^[0-9a-fA-F]{2}$/;
const mayChange = /[^A-Za-z0-9\-._~!#$&*+,/:;=?@[\]]/;
const mustChange = /[^A-Za-z0-9\-._~]/;
const keptInNormal = '!#$&*+,/:;=?@[]';

/** Makes a URL safe in an attribute or CSS; keeps existing encoding. */
export function normalizeUrl(text: string): string {
  return mayChange.test(text) ? encode(text, true) : text;
}

/** Percent-encodes all except letters, digits and `-._~`, for values in a query or fragment. */
export function encodeUrl(text: string): string {
  return mustChange.test(text) ? encode(text, false) : text;
}

/** The function `urlquery`: blanks as `+`, upper-case digits. */
export function encodeQueryFunction(text: string): string {
  if (!mustChange.test(text)) return text;
  return encode(text, false)
    .replaceAll('%20', '+')
    .replace(/%../g, (code) => code.toUpperCase());
}

const encodedBytes = Array.from({ length: 256 }, (_, byte) => `%${byte.toString(16).padStart(2, '0')}`);

function encode(text: string, normal: boolean): string {
  let result = '';
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] as string;
    if (alwaysKept.test(character) || (normal && keeps(text, at))) result += character;
    else if (character <= '\x7f') result += encodedBytes[character.charCodeAt(0)];
    else {
      const whole = String.fromCodePoint(text.codePointAt(at) as number);
      for (const byte of Buffer.from(whole)) result += encodedBytes[byte];
      at += whole.length - 1;
    }
  }
  return result;
}

function keeps(text: string, at: number): boolean {
  const character = text[at] as string;
  return keptInNormal.includes(character) || (character === '%' && hexDigits.test(text.slice(at + 1, at + 3)));
}

/** Allowed schemes of values, in addition to a caller's. Lower case. */
const defaultSchemes = ['http', 'https', 'mailto'];

/** Whether a URL has no scheme or an allowed one. */
function isSafe(url: string, extraSchemes: readonly string[]): boolean {
  const colon = url.indexOf(':');
  const slash = url.indexOf('/');
  if (colon < 0 || (slash >= 0 && slash < colon)) return true;
  // Case-insensitive comparison treats `ſ` as `s`.
  const scheme = url.slice(0, colon).replaceAll('ſ', 's').toLowerCase();
  return defaultSchemes.includes(scheme) || extraSchemes.includes(scheme);
}

/** A filter against scripts: a value with another scheme becomes `#ZgotmplZ`. */
export function makeSchemeFilter(extraSchemes: readonly string[]): (text: string) => string {
  return (text) => (isSafe(text, extraSchemes) ? text : refusedUrl);
}

/** Escapes an image list; a part with another scheme or with a descriptor that is not plain becomes `#ZgotmplZ`. */
export function makeSrcsetEscaper(extraSchemes: readonly string[]): (text: string) => string {
  const escapePart = (part: string) => {
    const [, before = '', url = '', after = ''] = /^([ \t\n\f\r]*)([^ \t\n\f\r]*)([\s\S]*)$/.exec(part) ?? [];
    const plain = /^[A-Za-z0-9 \t\n\f\r]*$/.test(after);
    return plain && isSafe(url, extraSchemes) ? before + normalizeUrl(url) + after : refusedUrl;
  };
  return (text) => text.split(',').map(escapePart).join(',');
}
