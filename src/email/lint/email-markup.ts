/**
 * Finds markup that is valid and does not do in an email what it does on a web page: images without a text, addresses
 * without quotes, style sheets elsewhere, what mail programs do not support, and text that is hard to read.
 *
 * Reads each character a fixed number of times, because the text is untrusted.
 */

import { contrast } from '../message/brand.ts';
import { markupAttribute, markupPieces } from './doubtful-markup.ts';
import { type Attribute, OpenElements, readAttributes } from './open-elements.ts';
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
const declarationPattern = /(?<![\w-])([a-z-]+)\s*:([^;{}]*)/gi;
const hiddenText =
  /display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(?![.\d])|(?:font-size|max-height)\s*:\s*0/i;

interface Tag {
  readonly name: string;
  /** What follows the name. */
  readonly rest: string;
  readonly attributes: ReadonlyMap<string, Attribute>;
  readonly place: { readonly at: number; readonly length: number };
}

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
    for (const { 0: piece, 1: raw, 2: name, 3: rest = '', index: at } of this.#text.matchAll(markupPieces)) {
      if (raw?.toLowerCase() === 'style') this.#styleSheet(piece, at);
      else if (name === undefined) continue;
      else if (piece.startsWith('</')) this.#open.close(name.toLowerCase());
      else {
        const start = at + 1 + name.length;
        const attributes = readAttributes(rest, start);
        this.#tag({ name: name.toLowerCase(), rest, attributes, place: { at, length: name.length + 1 } });
      }
    }
  }

  #tag(tag: Tag): void {
    const { name, attributes, place, rest } = tag;
    if (name === 'img' && !hasAlt(tag))
      this.#add('missing-alt', place, 'the image has no alt: write what it shows, or alt="" if it only decorates');
    if (name === 'a') this.#link(attributes.get('href'));
    if (name === 'link' && /stylesheet/i.test(attributes.get('rel')?.value ?? ''))
      this.#add('external-style', place, 'mail programs load no style sheet: write its rules into a <style>');
    const lost = unsupportedElement(name);
    if (lost !== null) this.#add('unsupported', place, lost);
    const style = attributes.get('style');
    if (style !== undefined) this.#declarations(style.value, style.at);
    const background = this.#colors(tag, style);
    this.#open.open(name, rest, background);
  }

  #link(href: Attribute | undefined): void {
    if (href === undefined) return;
    const address = this.#source.slice(href.at, href.at + href.value.length);
    this.links.push({ address, at: href.at });
    if (href.isQuoted) return;
    const what = `the address of the link has no quotes, so a blank in it would end it: write href="${address.slice(0, 80)}"`;
    this.#add('unquoted-href', { at: href.at, length: address.length }, what);
  }

  #styleSheet(piece: string, at: number): void {
    const text = piece.replace(/\/\*[\s\S]*?(?:\*\/|$)/g, (part) => ' '.repeat(part.length));
    for (const { index } of text.matchAll(/@import\b/gi)) {
      const what = 'mail programs load no style sheet: write its rules here instead of @import';
      this.#add('external-style', { at: at + index, length: '@import'.length }, what);
    }
    // Rules in @media and @supports are meant for the programs that know them.
    let around = 0;
    for (const { 0: all, 1: body, index } of text.matchAll(/@[^{};@]*\{|\{([^{}]*)\}?|\}/gi)) {
      if (all.startsWith('@')) around += 1;
      else if (all === '}') around = Math.max(0, around - 1);
      else if (around === 0 && body !== undefined) this.#declarations(body, at + index + 1);
    }
  }

  #declarations(text: string, at: number): void {
    for (const { 1: property = '', 2: value = '', index } of text.matchAll(declarationPattern)) {
      const problem = unsupportedDeclaration(property, value);
      if (problem !== null) this.#add('unsupported', { at: at + index, length: property.length }, problem);
    }
  }

  /** Warns of text that is hard to read. @returns The background of the element's contents. */
  #colors({ attributes, place }: Tag, style: Attribute | undefined): string | null {
    const css = style?.value ?? '';
    const declared = declaredColors(css);
    const attribute = attributes.get('bgcolor');
    // What a class says is not known.
    const inherited = attributes.has('class') || attributes.has('background') ? null : (this.#open.innermost ?? null);
    const background =
      declared.background === undefined
        ? attribute === undefined
          ? inherited
          : literalColor(attribute.value)
        : declared.background;
    const color = declared.color ?? null;
    if (color !== null && background !== null && !hiddenText.test(css)) {
      const ratio = contrast(color, background);
      if (ratio < minContrast) {
        const what = `the text is hard to read: the contrast of ${color} on ${background} is ${ratio.toFixed(1)}:1, and ${minContrast}:1 is needed`;
        this.#add('contrast', place, what);
      }
    }
    return background;
  }

  #add(kind: MarkupKind, { at, length }: { at: number; length: number }, message: string): void {
    const count = this.#counts.get(kind) ?? 0;
    this.#counts.set(kind, count + 1);
    if (count < maxPlaces) this.found.push({ kind, message, at, length });
  }
}

function hasAlt({ rest, attributes }: Tag): boolean {
  if (attributes.has('alt')) return true;
  const bare = rest.replace(markupAttribute, ' ');
  // An action between the attributes may write it.
  return /(?:^|\s)alt(?=[\s/]|$)/i.test(bare) || bare.includes('\0');
}

/** Undefined: not declared; null: not known. */
function declaredColors(css: string): { color?: string | null; background?: string | null } {
  const colors: { color?: string | null; background?: string | null } = {};
  for (const { 1: property = '', 2: value = '' } of css.matchAll(declarationPattern)) {
    const name = property.toLowerCase();
    if (name === 'color') colors.color = literalColor(value);
    else if (name === 'background' || name === 'background-color' || name === 'background-image')
      colors.background = literalColor(value);
  }
  return colors;
}

const names: ReadonlyMap<string, string> = new Map([
  ['white', '#ffffff'], ['black', '#000000'], ['gray', '#808080'], ['grey', '#808080'], ['silver', '#c0c0c0'],
  ['red', '#ff0000'], ['green', '#008000'], ['blue', '#0000ff'], ['yellow', '#ffff00'], ['orange', '#ffa500'],
]); // biome-ignore format: a table

/** `#rrggbb`; null: another notation, or no literal. */
function literalColor(text: string): string | null {
  const value = text
    .replace(/!important/i, '')
    .trim()
    .toLowerCase();
  const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/.exec(value);
  if (short !== null)
    return `#${short
      .slice(1)
      .map((digit) => digit.repeat(2))
      .join('')}`;
  return /^#[0-9a-f]{6}$/.test(value) ? value : (names.get(value) ?? null);
}
