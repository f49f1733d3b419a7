/**
 * Reads HTML piece by piece as it stands: nothing is added, closed or moved. Takes each character a fixed number of times, because the
 * text is untrusted; the parser on top of this tokenizer takes longer for each open element.
 *
 * May be the source of a template with NUL in place of its actions (hideActions). Names do not reach over an action.
 */
import { QuoteType, Tokenizer } from 'htmlparser2';

/** Pieces in the order of the text. Offsets are in UTF-16 units. */
type MarkupPiece =
  | StartTag
  | { readonly kind: 'end'; readonly name: string }
  | { readonly kind: 'comment'; readonly at: number; readonly end: number }
  /** `inside`: the element whose content is no markup, such as `style`. */
  | { readonly kind: 'text'; readonly at: number; readonly end: number; readonly inside: string | null };

/** A start tag. */
export interface StartTag {
  readonly kind: 'start';
  /** In small letters. */
  readonly name: string;
  readonly at: number;
  readonly attributes: readonly Attribute[];
  /** Whether an action of a template may write attributes. */
  readonly hasActions: boolean;
  /** Whether it ends with a slash. */
  readonly isClosed: boolean;
}

interface Attribute {
  /** In small letters. */
  readonly name: string;
  readonly nameAt: number;
  /** As it stands; empty if there is none. */
  readonly value: string;
  readonly at: number;
  readonly isQuoted: boolean;
}

/** The first attribute of a name, which is the one that counts in browsers. */
export function attributeOf({ attributes }: StartTag, name: string): Attribute | undefined {
  return attributes.find((attribute) => attribute.name === name);
}

/** Elements whose content is no markup. */
const raw = ['script', 'style', 'title', 'textarea', 'xmp'];

/** Reads a text. A tag without its end is left out. */
export function readMarkup(html: string, visit: (piece: MarkupPiece) => void): void {
  let [name, nameAt, isWhole] = ['', 0, true];
  let attributes: Attribute[] = [];
  let hasActions = false;
  let attribute = { name: '', nameAt: 0, value: '', at: 0 };
  let inside: string | null = null;
  const nameIn = (at: number, end: number) => html.slice(at, end).toLowerCase().split('\0', 1)[0] ?? '';
  const start = (isClosed: boolean) => visit({ kind: 'start', name, at: nameAt - 1, attributes, hasActions, isClosed });
  const ignore = () => {};
  const tokenizer = new Tokenizer(
    { decodeEntities: false },
    {
      onopentagname(at, end) {
        name = nameIn(at, end);
        nameAt = at;
        isWhole = name.length === end - at;
        hasActions = !isWhole;
        attributes = [];
      },
      onattribname(at, end) {
        const text = html.slice(at, end).toLowerCase();
        const from = text.lastIndexOf('\0') + 1;
        attribute = { name: text.slice(from), nameAt: at + from, value: '', at: end };
        hasActions ||= from > 0;
      },
      onattribdata(at, end) {
        attribute = { ...attribute, value: html.slice(at, end), at };
      },
      onattribend(quote) {
        const isQuoted = quote === QuoteType.Single || quote === QuoteType.Double;
        if (attribute.name !== '') attributes.push({ ...attribute, isQuoted });
      },
      onopentagend() {
        start(false);
        inside = isWhole && raw.includes(name) ? name : null;
      },
      onselfclosingtag: () => start(true),
      onclosetag(at, end) {
        inside = null;
        visit({ kind: 'end', name: nameIn(at, end) });
      },
      oncomment(at, end, endOffset) {
        // Others begin with `</`, and are no text, either.
        if (html.startsWith('<!--', at - 4))
          visit({ kind: 'comment', at: at - 4, end: endOffset === 0 ? end : end + 1 });
      },
      ontext: (at, end) => visit({ kind: 'text', at, end, inside }),
      onattribentity: ignore,
      oncdata: ignore,
      ondeclaration: ignore,
      onend: ignore,
      onprocessinginstruction: ignore,
      ontextentity: ignore,
    },
  );
  tokenizer.write(html);
  tokenizer.end();
}
