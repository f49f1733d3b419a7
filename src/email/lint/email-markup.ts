/**
 * Finds markup that is valid and does not do in an email what it does on a web page: images without a text, addresses
 * without quotes, style sheets elsewhere, what mail programs do not support, and text that is hard to read.
 *
 * Reads each character a fixed number of times, because the text is untrusted.
 */
import { type CSSToken, TokenType } from '@csstools/css-tokenizer';
import { fontSizeIn, isHiddenBy } from '../markup/hiding-elements.ts';
import { OpenElements } from '../markup/open-elements.ts';
import { type Declaration, readCss } from '../markup/read-css.ts';
import { attributeOf, readMarkup, type StartTag } from '../markup/read-markup.ts';
import { contrast } from '../message/brand.ts';
import { hideActions } from './plain-variables.ts';
import { unsupportedDeclaration, unsupportedElement } from './unsupported-markup.ts';

type MarkupKind = 'unquoted-href' | 'missing-alt' | 'external-style' | 'unsupported' | 'contrast';

/** A part of the source with its finding. */
interface EmailMarkup {
  readonly kind: MarkupKind;
  readonly message: string;
  /** Offset into the source, in UTF-16 units. */
  readonly at: number;
  readonly length: number;
}

/** An address of a link, with its actions. */
export interface LinkAddress {
  readonly address: string;
  readonly at: number;
}

interface ReadMarkup {
  /** In the order of the source. */
  readonly found: readonly EmailMarkup[];
  readonly links: readonly LinkAddress[];
}

/** Places of each kind; a source may have any number. */
const maxPlaces = 20;

/** Reads the body of an email. */
export function readEmailMarkup(source: string): ReadMarkup {
  const reader = new MarkupReader(source);
  reader.run();
  return { found: reader.found.sort((a, b) => a.at - b.at), links: reader.links };
}

/** The ratio of WCAG 2 for text of usual size. */
const minContrast = 4.5;
class MarkupReader {
  readonly found: EmailMarkup[] = [];
  readonly links: LinkAddress[] = [];
  readonly #source: string;
  readonly #text: string;
  readonly #counts = new Map<string, number>();
  /** With their background as `#rrggbb`; null: not known. */
  readonly #open = new OpenElements<string | null>();

  constructor(source: string) {
    this.#source = source;
    this.#text = hideActions(source);
  }

  run(): void {
    readMarkup(this.#text, (piece) => {
      if (piece.kind === 'start') this.#tag(piece);
      else if (piece.kind === 'end') this.#open.close(piece.name);
      else if (piece.kind === 'text' && piece.inside === 'style') this.#styleSheet(piece);
    });
  }

  #tag(tag: StartTag): void {
    const { name } = tag;
    const place = { at: tag.at, length: name.length + 1 };
    // An action between the attributes may write it.
    if (name === 'img' && attributeOf(tag, 'alt') === undefined && !tag.hasActions)
      this.#add('missing-alt', place, 'the image has no alt: write what it shows, or alt="" if it only decorates');
    if (name === 'a') this.#link(tag);
    if (name === 'link' && /stylesheet/i.test(attributeOf(tag, 'rel')?.value ?? ''))
      this.#add('external-style', place, 'mail programs load no style sheet: write its rules into a <style>');
    const lost = unsupportedElement(name);
    if (lost !== null) this.#add('unsupported', place, lost);
    const style = attributeOf(tag, 'style');
    const { declarations } = readCss(style?.value ?? '', 'attribute');
    this.#unsupported(declarations, style?.at ?? 0);
    this.#open.open(tag, this.#colors(tag, declarations, place));
  }

  #link(tag: StartTag): void {
    const href = attributeOf(tag, 'href');
    if (href === undefined) return;
    const address = this.#source.slice(href.at, href.at + href.value.length);
    this.links.push({ address, at: href.at });
    if (href.isQuoted || address === '') return;
    const what = `the address of the link has no quotes, so a blank in it would end it: write href="${address.slice(0, 80)}"`;
    this.#add('unquoted-href', { at: href.at, length: address.length }, what);
  }

  #styleSheet({ at, end }: { readonly at: number; readonly end: number }): void {
    // Rules in @media and @supports are meant for the programs that know them.
    const { declarations, imports } = readCss(this.#text.slice(at, end), 'sheet');
    for (const index of imports) {
      const what = 'mail programs load no style sheet: write its rules here instead of @import';
      this.#add('external-style', { at: at + index, length: '@import'.length }, what);
    }
    this.#unsupported(declarations, at);
  }

  #unsupported(declarations: readonly Declaration[], from: number): void {
    for (const declaration of declarations) {
      const problem = unsupportedDeclaration(declaration);
      const { property, at } = declaration;
      if (problem !== null) this.#add('unsupported', { at: from + at, length: property.length }, problem);
    }
  }

  /** Warns of text that is hard to read. @returns The background of the element's contents. */
  #colors(tag: StartTag, declarations: readonly Declaration[], place: Place): string | null {
    const declared = declaredColors(declarations);
    const attribute = attributeOf(tag, 'bgcolor');
    // What a class says is not known.
    const isKnown = attributeOf(tag, 'class') === undefined && attributeOf(tag, 'background') === undefined;
    const inherited = isKnown ? (this.#open.innermost ?? null) : null;
    const usual =
      attribute === undefined
        ? inherited
        : (declaredColors(readCss(`color:${attribute.value}`, 'attribute').declarations).color ?? null);
    const background = declared.background === undefined ? usual : declared.background;
    const color = declared.color ?? null;
    const css = attributeOf(tag, 'style')?.value ?? '';
    if (color !== null && background !== null && !isHiddenBy(css) && fontSizeIn(css) !== 0) {
      const ratio = contrast(color, background);
      if (ratio < minContrast) {
        const what = `the text is hard to read: the contrast of ${color} on ${background} is ${ratio.toFixed(1)}:1, and ${minContrast}:1 is needed`;
        this.#add('contrast', place, what);
      }
    }
    return background;
  }

  #add(kind: MarkupKind, { at, length }: Place, message: string): void {
    const count = this.#counts.get(kind) ?? 0;
    this.#counts.set(kind, count + 1);
    if (count < maxPlaces) this.found.push({ kind, message, at, length });
  }
}

interface Place {
  readonly at: number;
  readonly length: number;
}

/** Undefined: not declared; null: not known. */
function declaredColors(declarations: readonly Declaration[]): { color?: string | null; background?: string | null } {
  const colors: { color?: string | null; background?: string | null } = {};
  for (const { property, value } of declarations) {
    if (property === 'color') colors.color = literalColor(value);
    else if (['background', 'background-color', 'background-image'].includes(property))
      colors.background = literalColor(value);
  }
  return colors;
}

const names: ReadonlyMap<string, string> = new Map([
  ['white', '#ffffff'], ['black', '#000000'], ['gray', '#808080'], ['grey', '#808080'], ['silver', '#c0c0c0'],
  ['red', '#ff0000'], ['green', '#008000'], ['blue', '#0000ff'], ['yellow', '#ffff00'], ['orange', '#ffa500'],
]); // biome-ignore format: a table

/** `#rrggbb`; null: another notation, or no literal. */
function literalColor(value: readonly CSSToken[]): string | null {
  const [first, ...rest] = value;
  const isAlone = rest.length === 0 || (rest[0]?.[0] === TokenType.Delim && rest[0][4].value === '!');
  if (first === undefined || !isAlone) return null;
  if (first[0] === TokenType.Ident) return names.get(first[4].value.toLowerCase()) ?? null;
  const digits = first[0] === TokenType.Hash ? first[4].value.toLowerCase() : '';
  if (/^[0-9a-f]{6}$/.test(digits)) return `#${digits}`;
  return /^[0-9a-f]{3}$/.test(digits) ? `#${digits.replace(/./g, '$&$&')}` : null;
}
