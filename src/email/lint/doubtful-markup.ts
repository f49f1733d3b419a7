/**
 * Finds markup that never works in emails, and placeholders of other systems, which would be sent literally. Reads each
 * character once, because the text is untrusted.
 */
import { attributeOf, readMarkup, type StartTag } from '../markup/read-markup.ts';
import { hideActions, hideUnseen } from './plain-variables.ts';

/** Kinds of it. */
export type DoubtfulKind =
  | 'script' | 'form' | 'word-markup' | 'http-image' | 'image-address' | 'relative-link' | 'conditional-comment'
  | 'placeholder' | 'unclosed-tag'; // biome-ignore format: a list

/** A part of the source with its finding. */
interface DoubtfulMarkup {
  readonly kind: DoubtfulKind;
  readonly message: string;
  /** Offset into the source, in UTF-16 units. */
  readonly at: number;
  readonly length: number;
}

/** Places of each kind; a source may have any number. */
const maxPlaces = 20;

/** All of it, in the order of the source. @param keepsConditional Whether comments for Outlook are sent. */
export function findDoubtfulMarkup(source: string, keepsConditional: boolean): readonly DoubtfulMarkup[] {
  const finder = new MarkupFinder(source, keepsConditional);
  finder.run();
  return [...finder.found.values()].flat().sort((a, b) => a.at - b.at);
}

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

class MarkupFinder {
  readonly found = new Map<DoubtfulKind, DoubtfulMarkup[]>();
  readonly #source: string;
  readonly #text: string;
  readonly #keepsConditional: boolean;
  readonly #open = new Map<string, OpenTag[]>(marking.map((name) => [name, []]));

  constructor(source: string, keepsConditional: boolean) {
    this.#source = source;
    this.#text = hideActions(source);
    this.#keepsConditional = keepsConditional;
  }

  run(): void {
    readMarkup(this.#text, (piece) => {
      if (piece.kind === 'comment') this.#comment(piece);
      else if (piece.kind === 'end') this.#open.get(piece.name)?.pop();
      else if (piece.kind === 'start' && !isDataScript(piece)) this.#tag(piece);
    });
    this.#placeholders();
    for (const [name, tags] of this.#open) for (const tag of tags.slice(0, maxPlaces)) this.#unclosed(name, tag);
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

  #tag({ name: tag, at, attributes, isClosed }: StartTag): void {
    const place = { at, length: tag.length + 1 };
    if (tag === 'script') this.#add('script', place, 'scripts never run in an email: remove the <script>');
    else if (tag === 'form')
      this.#add('form', place, 'most mail programs send no forms: link to a page that has the <form>');
    else if (removed.includes(tag))
      this.#add('script', place, `mail programs remove the <${tag}>: link to the page that has it`);
    else if (/^[ovw]:/.test(tag)) {
      if (!this.found.has('word-markup'))
        this.#add('word-markup', place, `<${tag}> comes from Microsoft Word: paste the text without its formatting`);
    }
    const open = this.#open.get(tag);
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
      else if (tag === 'a' && name === 'href') this.#link(value, from);
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

  #link(address: string, at: number): void {
    const text = address.trim();
    if (/^javascript:/i.test(text))
      this.#add('script', { at, length: address.length }, 'scripts never run in an email: link to a page that has it');
    if (!/^(?:\/|\.\.?\/|www\.)/i.test(text)) return;
    const shown = this.#source.slice(at, at + Math.min(address.length, 80));
    const what = `${shown} is no web address, so the link leads nowhere: write it in full, with https://`;
    this.#add('relative-link', { at, length: address.length }, what);
  }

  #comment({ at, end }: { readonly at: number; readonly end: number }): void {
    if (this.#keepsConditional || this.found.has('conditional-comment')) return;
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

  #add(kind: DoubtfulKind, { at, length }: { at: number; length: number }, message: string): void {
    const places = this.found.get(kind) ?? [];
    this.found.set(kind, places);
    if (places.length < maxPlaces) places.push({ kind, message, at, length });
  }
}

/** Data for mail programs, such as the actions of Gmail. */
function isDataScript(tag: StartTag): boolean {
  return tag.name === 'script' && /^\s*application\/ld\+json\b/i.test(attributeOf(tag, 'type')?.value ?? '');
}
