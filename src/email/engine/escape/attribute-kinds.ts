/** The content type of an attribute, by its name: URL, CSS, script, image list, or plain text. */

/** `unsafe`: plain as a value, but its name must never come from data. `document` is HTML inside an attribute. */
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

/** Lower case with the same length: `İ` becomes `i`, where JavaScript makes two characters. */
export function toLowerCase(text: string): string {
  return text.replaceAll('İ', 'i').toLowerCase();
}
