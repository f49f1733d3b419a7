/**
 * What of a rendered email reaches its reader: the text that is shown, and the addresses of what can be clicked or scanned. Comments,
 * styles, hidden elements, texts for images and links around nothing do not.
 *
 * Reads each character a fixed number of times, because templates and metadata are untrusted.
 */

import { neverShown } from '../engine/parse/hiding-elements.ts';
import { markupPieces } from './doubtful-markup.ts';
import { OpenElements, readAttributes } from './open-elements.ts';

/** What a reader sees. */
export interface SeenEmail {
  readonly text: string;
  readonly addresses: readonly SeenAddress[];
}

/** An address, without entities. */
interface SeenAddress {
  /** `link`: of a link, an area or a form; `image`: of a picture, such as a QR code. */
  readonly kind: 'link' | 'image';
  readonly address: string;
  /** Whether something of it is shown. */
  readonly isShown: boolean;
}

/** Looks at a rendered body. */
export function whatReadersSee(html: string): SeenEmail {
  const reader = new Reader();
  let end = 0;
  for (const { 0: piece, 1: raw, 2: name = '', 3: rest = '', index } of html.matchAll(markupPieces)) {
    reader.text(html.slice(end, index));
    end = index + piece.length;
    // A comment, a style sheet or a script.
    if (raw !== undefined || name === '') continue;
    if (piece.startsWith('</')) reader.close(name.toLowerCase());
    else reader.open(name.toLowerCase(), rest);
  }
  reader.text(html.slice(end));
  return { text: reader.shown.join(''), addresses: reader.addresses };
}

/** What is known inside an element. */
interface Inside {
  readonly isHidden: boolean;
  /** Of size 0, which an element inside may change. */
  readonly isTiny: boolean;
  /** The link around. */
  readonly link: { isShown: boolean } | null;
}

const outside: Inside = { isHidden: false, isTiny: false, link: null };
const hiding = /(?:display\s*:\s*none|visibility\s*:\s*hidden|(?:opacity|max-height)\s*:\s*0(?![.\d]*[1-9]))/i;
const fontSize = /(?:^|;)\s*font-size\s*:\s*([\d.]*)/i;
/** A start tag ends an open element of its own kind. */
const endless = ['p', 'li', 'td', 'tr', 'th', 'a'];

class Reader {
  readonly shown: string[] = [];
  readonly addresses: { readonly kind: SeenAddress['kind']; readonly address: string; isShown: boolean }[] = [];
  readonly #elements = new OpenElements<Inside & { readonly tag: string }>();

  text(text: string): void {
    const { isHidden, isTiny, link } = this.#elements.innermost ?? outside;
    if (isHidden || isTiny || text === '') return;
    const plain = decodeEntities(text);
    this.shown.push(plain);
    if (link !== null && /[^\s\u00ad\u200b-\u200d\u2060\ufeff]/.test(plain)) link.isShown = true;
  }

  open(tag: string, rest: string): void {
    if (endless.includes(tag) && this.#elements.innermost?.tag === tag) this.#elements.close(tag);
    const attributes = readAttributes(rest, 0);
    const style = attributes.get('style')?.value ?? '';
    const around = this.#elements.innermost ?? outside;
    const isHidden =
      around.isHidden || neverShown(tag) || hiding.test(style) || /(?:^|\s)hidden(?=[\s/=]|$)/i.test(bare(rest));
    const size = fontSize.exec(style)?.[1];
    const isTiny = size === undefined || size === '' ? around.isTiny : Number(size) === 0;
    const address = (name: string) => decodeEntities(attributes.get(name)?.value ?? '').trim();
    let { link } = around;
    if (tag === 'a') link = this.#add('link', address('href'), false);
    else if (tag === 'area') this.#add('link', address('href'), !isHidden);
    else if (tag === 'form') this.#add('link', address('action'), !isHidden);
    else if (tag === 'img') {
      this.#add('image', address('src'), !isHidden);
      if (link !== null && !isHidden) link.isShown = true;
    }
    // What follows a title in the head is no part of it.
    this.#elements.open(tag, rest, { tag, isHidden, isTiny, link });
  }

  close(tag: string): void {
    this.#elements.close(tag);
  }

  #add(kind: SeenAddress['kind'], address: string, isShown: boolean): { isShown: boolean } {
    const found = { kind, address, isShown };
    this.addresses.push(found);
    return found;
  }
}

/** What follows the name of a tag, without values. */
function bare(rest: string): string {
  return rest.replace(/"[^"]*"|'[^']*'/g, '');
}

const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u00a0' };

/** Text of HTML with the characters that entities stand for; rare names stay. */
export function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos|nbsp));/gi, (all, decimal, hex, name) => {
    if (name !== undefined) return named[name.toLowerCase()] ?? all;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
  });
}
