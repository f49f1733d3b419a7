/**
 * What an attribute holds, by its name: a URL, CSS, a script, a list of images, or plain text.
 */

/** `unsafe`: plain as a value, but its name must never come from the data. `document` is HTML inside an attribute. */
type AttributeKind = 'plain' | 'url' | 'css' | 'script' | 'srcset' | 'document' | 'unsafe';

const kinds = new Map<string, AttributeKind>([
  ['style', 'css'],
  ['srcset', 'srcset'],
  ['srcdoc', 'document'],
  ['srclang', 'plain'],
]);
for (const name of 'action archive background cite classid codebase data formaction href icon longdesc manifest poster profile src usemap xmlns'.split(
  ' ',
))
  kinds.set(name, 'url');
for (const name of (
  'accept-charset async challenge charset content crossorigin defer enctype form formenctype formmethod formnovalidate ' +
  'http-equiv keytype language method novalidate pattern rel sandbox type value'
).split(' '))
  kinds.set(name, 'unsafe');

/** The kind of an attribute. `name` is in lower case. */
export function attributeKind(name: string): AttributeKind {
  let short = name;
  if (name.startsWith('data-')) short = name.slice(5);
  else if (name.includes(':')) {
    if (name.startsWith('xmlns:')) return 'url';
    short = name.slice(name.indexOf(':') + 1);
  }
  const known = kinds.get(short);
  if (known !== undefined) return known;
  if (short.startsWith('on')) return 'script';
  return /src|uri|url/.test(short) ? 'url' : 'plain';
}

/** Lower case, one character to one: `İ` becomes `i`, where JavaScript makes two characters of it. */
export function toLowerCase(text: string): string {
  return text.replaceAll('İ', 'i').toLowerCase();
}
