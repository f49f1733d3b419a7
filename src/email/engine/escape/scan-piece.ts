/**
 * One scanning step in literal text: from a context to the next.
 *
 * In an attribute value, a piece that does not reach the value's end is decoded and scanned as a whole. A piece that
 * reaches it is skipped, because nothing after it depends on it.
 */
import { decodeHTML } from 'entities/decode';
import type { Budget } from '../budget.ts';
import { failScan } from '../template-error.ts';
import { toLowerCase } from './attribute-kinds.ts';
import {
  type Context,
  type ContextElement,
  type ContextState,
  type Delimiter,
  isComment,
  isScriptLiteral,
  type Scan,
  startContext,
} from './context.ts';
import { scanCss, scanCssString } from './scan-css.ts';
import { scanAfterName, scanAttributeName, scanBeforeValue, scanTag, scanText, scanUrl } from './scan-markup.ts';
import { scanRegexp, scanScript, scanScriptString, scanTemplateLiteral } from './scan-script.ts';

type Scanner = (context: Context, text: string) => Scan;

const scanAll: Scanner = (context, text) => ({ context, read: text.length });

/** Scans up to the end of a pattern, then enters another state. */
function scanTo(pattern: RegExp, state: ContextState): Scanner {
  return (context, text) => {
    const match = pattern.exec(text);
    if (match === null) return { context, read: text.length };
    return { context: { ...context, state }, read: match.index + match[0].length };
  };
}

const endOfHtmlComment = scanTo(/-->/, 'text');
// The line end is not part of the comment.
const endOfScriptLine = scanTo(/(?=[\n\r\u2028\u2029])/, 'script');

const scanners = {
  tag: scanTag,
  attributeName: scanAttributeName,
  afterName: scanAfterName,
  beforeValue: scanBeforeValue,
  htmlComment: endOfHtmlComment,
  keptComment: endOfHtmlComment,
  rcdata: scanAll,
  attribute: scanAll,
  url: scanUrl,
  srcset: scanAll,
  metaContent: scanTo(/url[ \t\n\f\r]*=/i, 'metaUrl'),
  metaUrl: scanTo(/;/, 'metaContent'),
  script: scanScript,
  doubleString: scanScriptString,
  singleString: scanScriptString,
  templateLiteral: scanTemplateLiteral,
  regexp: scanRegexp,
  blockComment: scanTo(/\*\//, 'script'),
  lineComment: endOfScriptLine,
  htmlOpenComment: endOfScriptLine,
  htmlCloseComment: endOfScriptLine,
  css: scanCss,
  cssDoubleString: scanCssString,
  cssSingleString: scanCssString,
  cssDoubleUrl: scanCssString,
  cssSingleUrl: scanCssString,
  cssUrl: scanCssString,
  cssBlockComment: scanTo(/\*\//, 'css'),
  cssLineComment: scanTo(/(?=[\n\f\r])/, 'css'),
  dead: scanAll,
} as const satisfies Record<Exclude<ContextState, 'text'>, Scanner>;

/** Scans a piece step by step, and remembers the next end tag. */
export class PieceScanner {
  readonly #piece: string;
  readonly #keepsConditional: boolean;
  readonly #budget: Budget;
  #endTag: { readonly element: ContextElement; readonly from: number; readonly at: number } | null = null;

  constructor(piece: string, keepsConditional: boolean, budget: Budget) {
    this.#piece = piece;
    this.#keepsConditional = keepsConditional;
    this.#budget = budget;
  }

  /** The step at an offset of the piece. Consumes nothing only if the context changes. */
  step(context: Context, from: number): Scan {
    if (context.delimiter !== 'none') return this.#value(context, this.#piece.slice(from));
    const end = this.#contentEnd(context, from);
    if (end === from) return { context: startContext, read: 0 };
    return this.move(context, this.#piece.slice(from, end));
  }

  /** One transition of the context, by decoded text that only the state can end. */
  move(context: Context, text: string): Scan {
    this.#budget.step();
    if (context.state === 'text') return scanText(context, text, this.#keepsConditional);
    return scanners[context.state](context, text);
  }

  #value(context: Context, text: string): Scan {
    const delimiter = context.delimiter as Exclude<Delimiter, 'none'>;
    const found = text.search(valueEnds[delimiter]);
    const end = found < 0 ? text.length : found;
    const value = text.slice(0, end);
    if (delimiter === 'space') {
      const bad = value.search(/["'<=`]/);
      if (bad >= 0)
        failScan('bad_markup', `${JSON.stringify(value[bad])} in unquoted attr: ${JSON.stringify(value.slice(0, 32))}`);
    }
    if (found < 0) return { context: this.#decoded(context, decodeEntities(value)), read: end };
    const changesScript =
      context.attribute === 'scriptType' && context.element === 'script' && context.state === 'attribute';
    const element = changesScript && !isScriptType(value) ? 'none' : context.element;
    return { context: { ...startContext, state: 'tag', element }, read: delimiter === 'space' ? end : end + 1 };
  }

  #decoded(context: Context, text: string): Context {
    let current = context;
    for (let from = 0; from < text.length; ) {
      const scan = this.move(current, text.slice(from));
      current = scan.context;
      from += scan.read;
    }
    return current;
  }

  /** The end of the content of a script, style, title or textarea: its end tag or the end of the piece. */
  #contentEnd({ state, element }: Context, from: number): number {
    const length = this.#piece.length;
    const pattern = endTags[element];
    if (pattern === undefined || (element === 'script' && (isScriptLiteral(state) || isComment(state)))) return length;
    const known = this.#endTag;
    if (known?.element === element && known.from <= from && known.at >= from) return known.at;
    pattern.lastIndex = from;
    const at = pattern.exec(this.#piece)?.index ?? length;
    this.#endTag = { element, from, at };
    return at;
  }
}

const endTags: Partial<Record<ContextElement, RegExp>> = {
  script: /<\/script[> \t\n\f/]/gi,
  style: /<\/style[> \t\n\f/]/gi,
  textarea: /<\/textarea[> \t\n\f/]/gi,
  title: /<\/title[> \t\n\f/]/gi,
};

const valueEnds: Readonly<Record<Exclude<Delimiter, 'none'>, RegExp>> = {
  double: /"/,
  single: /'/,
  space: /[ \t\n\f\r>]/,
};

const scriptTypes: ReadonlySet<string> = new Set([
  '', 'module', 'application/json', 'application/ld+json', 'text/jscript', 'text/livescript',
  ...['1.0', '1.1', '1.2', '1.3', '1.4', '1.5'].map((version) => `text/javascript${version}`),
  ...['javascript', 'ecmascript', 'x-javascript', 'x-ecmascript'].flatMap((name) => [`application/${name}`, `text/${name}`]),
]); // biome-ignore format: a list

/** Blanks as Go trims them: with U+0085, without U+FEFF. A run inside the text is read once, not from each of its blanks. */
const blanks = /^(?:(?!\ufeff)[\s\u0085])+|(?<!(?!\ufeff)[\s\u0085])(?:(?!\ufeff)[\s\u0085])+$/g;

function isScriptType(value: string): boolean {
  return scriptTypes.has(toLowerCase(value.split(';')[0] as string).replaceAll(blanks, ''));
}

/** Go differs from the standard: `&#x;` is an invalid character, and a digit without a semicolon is no number. */
const ownOfGo = /(&#(?:[xX];|[0-9](?![0-9;])))/;

/**
 * The text with its character references replaced, as Go's `html.UnescapeString`: by the rules for text (not attributes),
 * so a name that needs no semicolon is decoded even before letters.
 */
function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text
    .split(ownOfGo)
    .map((part, index) => (index % 2 === 0 ? decodeHTML(part) : part.endsWith(';') ? '\ufffd' : part))
    .join('');
}
