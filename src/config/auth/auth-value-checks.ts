/** Checks of single values: each returns null, or the rest of a sentence that begins with the field's name. */
import { createPrivateKey } from 'node:crypto';
import { isObject, parseJson } from '../../shared/json.ts';
/** An absolute URL without a comma. */
export function checkSiteUrl(text: string): string | null {
  if (text.includes(',')) return 'must not contain a comma';
  return /^[a-z][a-z0-9+.-]*:\/\/[^\s]+$/i.test(text) && URL.canParse(text) ? null : 'must be an absolute URL';
}

/** An absolute http(s) address; may be empty. */
export function checkWebAddress(text: string): string | null {
  if (text === '') return null;
  const url = URL.parse(text);
  const isPlain = url !== null && url.username === '' && url.password === '' && url.hash === '';
  return isPlain && ['http:', 'https:'].includes(url.protocol) ? null : 'must be an http or https address';
}

/** `name@host`, as permissive as HTML forms. */
export function checkEmail(text: string): string | null {
  return /^[^\s@<>",]+@[^\s@<>",]+$/.test(text) ? null : 'must be an email address';
}

/** One address for a header: stricter than `checkEmail`, because lists, groups and comments are syntax there. */
export function checkMailbox(text: string): string | null {
  const isPlain = /^[^\s@<>()[\]",;:\\]+@[^\s@<>()[\]",;:\\]+$/.test(text) && !/\p{Cc}/u.test(text);
  return isPlain ? null : 'must be an email address';
}

/** `#rrggbb` */
export function checkColor(text: string): string | null {
  return /^#[0-9a-f]{6}$/i.test(text) ? null : 'must be a color such as #2563eb';
}

/** An address that mail programs load images from: many refuse http. */
export function checkImageAddress(text: string): string | null {
  const problem = checkWebAddress(text);
  if (problem !== null || text === '') return problem;
  return text.toLowerCase().startsWith('https:') ? null : 'must be an https address';
}

/** A name of DNS in ASCII. */
export function checkHostName(text: string): string | null {
  const isName = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/i.test(text);
  return isName ? null : 'must be a DNS name in ASCII, such as example.com';
}

/** Shorter keys are not accepted by receivers (RFC 8301). */
const minSigningBits = 1024;

/** A private RSA key. Never quoted in a message. */
export function checkSigningKey(text: string): string | null {
  const problem = `must be a private RSA key of at least ${minSigningBits} bits, as PEM without a passphrase`;
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPrivateKey(text);
    return asymmetricKeyType === 'rsa' && (asymmetricKeyDetails?.modulusLength ?? 0) >= minSigningBits ? null : problem;
  } catch {
    return problem;
  }
}

/** A TCP port as digits. */
export function checkPort(text: string): string | null {
  return /^[0-9]{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535
    ? null
    : 'must be a port from 1 to 65535';
}

/** One line: a line break could start another header. */
export function checkLine(text: string): string | null {
  return /[\r\n]/.test(text) ? 'must not contain a line break' : null;
}

/** A subject of an email. */
export function checkSubject(text: string): string | null {
  return [...text].length > 998 ? 'must have at most 998 characters' : checkLine(text);
}

/** Names of groups of sessions. */
export function checkSessionTags(text: string): string | null {
  // Split without the pattern of Supabase Auth, which backtracks.
  const tags = text.split(',').map((tag) => tag.trim());
  return tags.every((tag) => /^[a-zA-Z0-9_-]*$/.test(tag)) ? null : 'must be names separated by commas';
}

/** `123=456,…` */
export function checkTestCodes(text: string): string | null {
  const pairs = text.split(',').filter((pair, index, all) => pair !== '' || index < all.length - 1);
  return pairs.every((pair) => /^[0-9]{1,15}=[0-9]+$/.test(pair))
    ? null
    : 'must be pairs of phone number and code, for example 4915100000=123456';
}

/** An RFC 3339 time. */
export function checkDateTime(text: string): string | null {
  const form = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/i;
  return form.test(text) && !Number.isNaN(Date.parse(text))
    ? null
    : 'must be a date and time such as 2030-01-31T12:00:00Z';
}

/** A JSON object whose members are texts or lists of texts. */
export function checkHeaders(text: string): string | null {
  const problem = 'must be a JSON object of header names and texts';
  const json = parseJson(text);
  if (!isObject(json)) return problem;
  const texts = Object.entries(json).flatMap(([name, value]) => [name, ...(Array.isArray(value) ? value : [value])]);
  return texts.every((item) => typeof item === 'string' && checkLine(item) === null) ? null : problem;
}

/** A path relative to the auth service. */
export function checkPath(text: string): string | null {
  return /^\/[^\s?#]*$/.test(text) || URL.canParse(text) ? null : 'must be a path such as /verify, or an absolute URL';
}
