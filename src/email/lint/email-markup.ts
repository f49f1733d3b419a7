/**
 * Finds markup that does not do in an email what it does on a web page, text that is hard to read, and placeholders of
 * other systems, which would be sent literally.
 *
 * Reads each character a fixed number of times, because the text is untrusted.
 */
import { type CSSToken, TokenType } from '@csstools/css-tokenizer';
import { fontSizeIn, isHiddenBy } from '../markup/hiding-elements.ts';
import { OpenElements } from '../markup/open-elements.ts';
import { type Declaration, readCss } from '../markup/read-css.ts';
import { attributeOf, readMarkup, type StartTag } from '../markup/read-markup.ts';
import { contrast } from '../message/brand.ts';
import { hideActions, hideUnseen, isDeadAddress } from './plain-variables.ts';
import { unsupportedDeclaration, unsupportedElement } from './unsupported-markup.ts';

/** Kinds of it, which are names of checks. */
export type MarkupKind =
  | 'script' | 'form' | 'word-markup' | 'http-image' | 'image-address' | 'relative-link' | 'conditional-comment'
  | 'placeholder' | 'unclosed-tag' | 'unquoted-href' | 'missing-alt' | 'external-style' | 'unsupported' | 'contrast'; // biome-ignore format: a list

interface Place {
  /** Offset into the source, in UTF-16 units. */
  readonly at: number;
  readonly length: number;
}

/** A part of the source with its finding. */
interface EmailMarkup extends Place {
  readonly kind: MarkupKind;
  readonly message: string;
}

/** An address of a link, with its actions. */
export interface LinkAddress {
  readonly address: string;
  readonly at: number;
  /** It leads nowhere. */
  readonly isDead: boolean;
}

/** What is in a body. */
export interface ReadMarkup {
  /** In the order of the source. */
  readonly found: readonly EmailMarkup[];
  readonly links: readonly LinkAddress[];
}

/** Places of each kind; a source may have any number. */
const maxPlaces = 20;

/** Reads the body of an email. @param keepsConditional Whether comments for Outlook are sent. */
export function readEmailMarkup(source: string, keepsConditional: boolean): ReadMarkup {
  const reader = new MarkupReader(source, keepsConditional);
  reader.run();
  return { found: reader.found.sort((a, b) => a.at - b.at), links: reader.links };
}

/** The ratio of WCAG 2 for text of usual size. */
const minContrast = 4.5;
/** Tags without which the rest of the email looks, or acts, as what they mark. */
const marking = ['a', 'b', 'strong', 'em', 'i', 'u', 'h1', 'h2', 'h3'];
/** Elements that show something else, which mail programs leave out. */
const removed = ['iframe', 'object', 'embed'];
/** Pieces of a name cannot overlap: with several ways to match them, a mismatch would take exponential time. */
const placeholder =
  /\*\|[\w:. ]{1,60}\|\*|%%[a-z]\w{1,60}%%|%[a-z][a-z\d]{0,40}(?:[._]+[a-z\d]{1,40})+_*%|(?<![\w%])%[a-z]{3,40}%(?![\w%])|\[\[\s?[a-z][\w.]{0,60}\s?\]\]|\$\{\s?[a-z][\w.]{0,60}\s?\}|<%=?\s?[\w.@]{1,60}\s?%>|\{%-?\s?[a-z][^%{}]{0,60}%\}/gi;

interface OpenTag {
  readonly at: number;
  /** Where the next one of its name begins. */
  next: number | null;
}

class MarkupReader {
  readonly found: EmailMarkup[] = [];
  readonly links: LinkAddress[] = [];
  readonly #source: string;
  readonly #text: string;
  readonly #keepsConditional: boolean;
  readonly #counts = new Map<MarkupKind, number>();
  readonly #marks = new Map<string, OpenTag[]>(marking.map((name) => [name, []]));
  /** With their background as `#rrggbb`; null: not known. */
  readonly #open = new OpenElements<string | null>();

  constructor(source: string, keepsConditional: boolean) {
    this.#source = source;
    this.#text = hideActions(source);
    this.#keepsConditional = keepsConditional;
  }

  run(): void {
    readMarkup(this.#text, (piece) => {
      if (piece.kind === 'comment') this.#comment(piece);
      else if (piece.kind === 'start') this.#tag(piece);
      else if (piece.kind === 'end') {
        this.#open.close(piece.name);
        this.#marks.get(piece.name)?.pop();
      } else if (piece.inside === 'style') this.#styleSheet(piece);
    });
    this.#placeholders();
    for (const [name, tags] of this.#marks) for (const tag of tags.slice(0, maxPlaces)) this.#unclosed(name, tag);
  }

  #tag(tag: StartTag): void {
    const { name } = tag;
    const place = { at: tag.at, length: name.length + 1 };
    // An action between the attributes may write it.
    if (name === 'img' && attributeOf(tag, 'alt') === undefined && !tag.hasActions)
      this.#add('missing-alt', place, 'the image has no alt: write what it shows, or alt="" if it only decorates');
    if (!isDataScript(tag)) this.#neverWorks(tag, place);
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
    this.links.push({ address, at: href.at, isDead: isDeadAddress(href.value) });
    this.#unreachable(href.value, { at: href.at, length: address.length });
    if (href.isQuoted || address === '') return;
    const what = `the address of the link has no quotes, so a blank in it would end it: write href="${address.slice(0, 80)}"`;
    this.#add('unquoted-href', { at: href.at, length: address.length }, what);
  }

  #unclosed(name: string, { at, next }: OpenTag): void {
    // One in each branch may share an end.
    if (/\{\{-?\s*else\b/.test(this.#source.slice(at, next ?? this.#text.length))) return;
    const what = name === 'a' ? 'the rest of the email is a link' : 'the rest of the email looks like it';
    this.#add(
      'unclosed-tag',
      { at, length: name.length + 1 },
      `the <${name}> is never closed, so ${what}: write </${name}>`,
    );
  }

  #neverWorks({ name: tag, at, attributes, isClosed }: StartTag, place: Place): void {
    if (tag === 'script') this.#add('script', place, 'scripts never run in an email: remove the <script>');
    else if (tag === 'form')
      this.#add('form', place, 'most mail programs send no forms: link to a page that has the <form>');
    else if (removed.includes(tag))
      this.#add('script', place, `mail programs remove the <${tag}>: link to the page that has it`);
    else if (/^[ovw]:/.test(tag)) {
      if (!this.#counts.has('word-markup'))
        this.#add('word-markup', place, `<${tag}> comes from Microsoft Word: paste the text without its formatting`);
    }
    const open = this.#marks.get(tag);
    if (open !== undefined && !isClosed) {
      const last = open.at(-1);
      if (last !== undefined) last.next ??= at;
      open.push({ at, next: null });
    }
    for (const { name, nameAt, value, at: from } of attributes) {
      if (/^on[a-z]{3,}$/.test(name)) {
        const named = { at: nameAt, length: name.length };
        this.#add('script', named, `scripts never run in an email: remove ${name}`);
      } else if (tag === 'img' && name === 'src') this.#image(value, from);
    }
  }

  #image(address: string, at: number): void {
    const text = address.trim();
    const place = { at, length: address.length };
    const shown = this.#source.slice(at, at + Math.min(address.length, 80));
    if (text.startsWith('\0') || /^(?:https|cid|data):/i.test(text)) return;
    if (/^http:/i.test(text))
      this.#add('http-image', place, `many mail programs show images from https addresses only: ${shown}`);
    else if (/^(?:file:|[a-z]:[\\/])/i.test(text))
      this.#add(
        'image-address',
        place,
        `${shown} is a file of your computer, so recipients see no image: put it on a web server`,
      );
    else if (text === '')
      this.#add('image-address', { at: at - 1, length: 1 }, 'the image has no address, so recipients see none');
    else
      this.#add(
        'image-address',
        place,
        `${shown} is no web address, so recipients see no image: write it in full, with https://`,
      );
  }

  #unreachable(address: string, place: Place): void {
    const text = address.trim();
    if (/^javascript:/i.test(text))
      this.#add('script', place, 'scripts never run in an email: link to a page that has it');
    if (!/^(?:\/|\.\.?\/|www\.)/i.test(text)) return;
    const shown = this.#source.slice(place.at, place.at + Math.min(place.length, 80));
    const what = `${shown} is no web address, so the link leads nowhere: write it in full, with https://`;
    this.#add('relative-link', place, what);
  }

  #comment({ at, end }: { readonly at: number; readonly end: number }): void {
    if (this.#keepsConditional || this.#counts.has('conditional-comment')) return;
    const piece = this.#text.slice(at, end);
    if (!/^<!--\[if\b/i.test(piece)) return;
    const length = piece.search(/\]>|$/) + 2;
    const what = 'comments for Outlook are left out of the email: to send them, set mailer_keep_conditional_comments';
    this.#add('conditional-comment', { at, length }, what);
  }

  #placeholders(): void {
    for (const { 0: all, index: at } of hideUnseen(this.#text).matchAll(placeholder)) {
      const what = `${all} is a placeholder of another system and is sent as it stands: write {{ .Email }} or {{ .Data.name }}`;
      this.#add('placeholder', { at, length: all.length }, what);
    }
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

/** Data for mail programs, such as the actions of Gmail. */
function isDataScript(tag: StartTag): boolean {
  return tag.name === 'script' && /^\s*application\/ld\+json\b/i.test(attributeOf(tag, 'type')?.value ?? '');
}
