/**
 * What of a rendered email reaches its reader: the text that is shown, and the addresses of what can be clicked or scanned. Comments,
 * styles, hidden elements, texts for images and links around nothing do not.
 *
 * Reads each character a fixed number of times, because templates and metadata are untrusted.
 */
import { decodeHTML, decodeHTMLAttribute } from 'entities/decode';
import { fontSizeIn, isHiddenBy, neverShown } from '../markup/hiding-elements.ts';
import { OpenElements } from '../markup/open-elements.ts';
import { attributeOf, readMarkup, type StartTag } from '../markup/read-markup.ts';

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
  readMarkup(html, (piece) => {
    if (piece.kind === 'text') reader.text(html.slice(piece.at, piece.end));
    else if (piece.kind === 'start') reader.open(piece);
    else if (piece.kind === 'end') reader.close(piece.name);
  });
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
/** A start tag ends an open element of its own kind. */
const endless = ['p', 'li', 'td', 'tr', 'th', 'a'];

class Reader {
  readonly shown: string[] = [];
  readonly addresses: { readonly kind: SeenAddress['kind']; readonly address: string; isShown: boolean }[] = [];
  readonly #elements = new OpenElements<Inside & { readonly tag: string }>();

  text(text: string): void {
    const { isHidden, isTiny, link } = this.#elements.innermost ?? outside;
    if (isHidden || isTiny || text === '') return;
    const plain = decodeHTML(text);
    this.shown.push(plain);
    if (link !== null && /[^\s\u00ad\u200b-\u200d\u2060\ufeff]/.test(plain)) link.isShown = true;
  }

  open(start: StartTag): void {
    const tag = start.name;
    if (endless.includes(tag) && this.#elements.innermost?.tag === tag) this.#elements.close(tag);
    const textOf = (name: string) => attributeOf(start, name)?.value ?? '';
    const around = this.#elements.innermost ?? outside;
    const hides = neverShown(tag) || isHiddenBy(textOf('style')) || attributeOf(start, 'hidden') !== undefined;
    const isHidden = around.isHidden || hides;
    const size = fontSizeIn(textOf('style'));
    const isTiny = size === null ? around.isTiny : size === 0;
    const address = (name: string) => decodeHTMLAttribute(textOf(name)).trim();
    let { link } = around;
    if (tag === 'a') link = this.#add('link', address('href'), false);
    else if (tag === 'area') this.#add('link', address('href'), !isHidden);
    else if (tag === 'form') this.#add('link', address('action'), !isHidden);
    else if (tag === 'img') {
      this.#add('image', address('src'), !isHidden);
      if (link !== null && !isHidden) link.isShown = true;
    }
    // What follows a title in the head is no part of it.
    this.#elements.open(start, { tag, isHidden, isTiny, link });
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
