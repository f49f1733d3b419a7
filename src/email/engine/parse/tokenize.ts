/**
 * Splits a template's source into tokens: text, and the content of `{{ … }}`.
 *
 * White space in an action is a token too, because it must separate operands. The first fault ends the list with an
 * `error` token whose text is the message; otherwise the last token is `eof`. Never throws.
 */

const keywords = [
  'block', 'break', 'continue', 'define', 'else', 'end', 'if', 'range', 'nil', 'template', 'with',
] as const; // biome-ignore format: a list

type Keyword = (typeof keywords)[number];

/** Kinds of tokens. `sign` is any other printable ASCII character. */
export type TokenKind =
  | 'error' | 'eof' | 'text' | 'open' | 'close' | 'space' | 'assign' | 'declare' | 'pipe' | 'sign'
  | 'string' | 'raw string' | 'character' | 'number' | 'complex' | 'boolean'
  | 'variable' | 'field' | 'dot' | 'identifier' | '(' | ')'
  | Keyword; // biome-ignore format: a list

/** One token; `text` is its source (for errors, the message), `at` the offset of its first character. */
export interface Token {
  readonly kind: TokenKind;
  readonly at: number;
  readonly text: string;
}

const keywordSet: ReadonlySet<string> = new Set(keywords);
const wordPattern = /[\p{L}\p{Nd}_]+/uy;
const hexadecimal = '0[xX][0-9a-fA-F_]*(?:\\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?';
const octalOrBinary = '0[oO][0-7_]*(?:\\.[0-7_]*)?|0[bB][01_]*(?:\\.[01_]*)?';
const decimal = '[0-9_]*(?:\\.[0-9_]*)?(?:[eE][+-]?[0-9_]*)?';
const numberPattern = new RegExp(`[+-]?(?:${hexadecimal}|${octalOrBinary}|${decimal})i?`, 'y');
const quotedPattern = /"(?:[^"\\\n]|\\[^\n])*"/y;
const characterPattern = /'(?:[^'\\\n]|\\[^\n])*'/y;
const rawPattern = /`[^`]*`/y;
const spacePattern = /[ \t\r\n]+/y;
const signs: Readonly<Record<string, TokenKind>> = { '=': 'assign', '|': 'pipe' };

/** All tokens of a source. */
export function tokenize(source: string): readonly Token[] {
  const tokenizer = new Tokenizer(source);
  tokenizer.run();
  return tokenizer.tokens;
}

class Tokenizer {
  readonly tokens: Token[] = [];
  readonly #source: string;
  #position = 0;
  #open = 0;
  #failed = false;

  constructor(source: string) {
    this.#source = source;
  }

  run(): void {
    while (!this.#failed) {
      const start = this.#position;
      const open = this.#source.indexOf('{{', start);
      if (open < 0) {
        this.#text(start, this.#source.length);
        this.#push('eof', this.#source.length, '');
        return;
      }
      const trims = isSpaceAt(this.#source, open + 3) && this.#source[open + 2] === '-';
      this.#text(start, trims ? trimEnd(this.#source, start, open) : open);
      const inside = open + (trims ? 4 : 2);
      if (this.#source.startsWith('/*', inside)) this.#comment(inside);
      else {
        this.#push('open', open, '{{');
        this.#position = inside;
        this.#open = 0;
        this.#action();
      }
    }
  }

  #text(from: number, to: number): void {
    if (to > from) this.#push('text', from, this.#source.slice(from, to));
  }

  #push(kind: TokenKind, at: number, text: string): void {
    this.tokens.push({ kind, at, text });
    this.#position = at + text.length;
  }

  #fail(at: number, message: string): void {
    this.tokens.push({ kind: 'error', at, text: message });
    this.#failed = true;
  }

  #comment(at: number): void {
    const end = this.#source.indexOf('*/', at + 2);
    const close = end < 0 ? null : this.#closeAt(end + 2);
    if (close !== null) this.#position = close.after;
    else this.#fail(at, end < 0 ? 'unclosed comment' : 'comment ends before closing delimiter');
  }

  /** The end of an action: the offset after `}}` or after the white space that ` -}}` trims. */
  #closeAt(at: number): { readonly brace: number; readonly after: number } | null {
    if (this.#source.startsWith('}}', at)) return { brace: at, after: at + 2 };
    if (!isSpaceAt(this.#source, at) || !this.#source.startsWith('-}}', at + 1)) return null;
    return { brace: at + 2, after: matchEnd(spacePattern, this.#source, at + 4) };
  }

  #action(): void {
    while (!this.#failed) {
      const close = this.#closeAt(this.#position);
      if (close === null) this.#inside();
      else if (this.#open > 0) this.#fail(this.#position, 'unclosed left paren');
      else {
        this.#push('close', close.brace, '}}');
        this.#position = close.after;
        return;
      }
    }
  }

  #inside(): void {
    const at = this.#position;
    const character = this.#source[at] ?? '';
    if (character === '') this.#fail(at, 'unclosed action');
    else if (isSpaceAt(this.#source, at)) this.#space();
    else if (character === '"') this.#match(quotedPattern, 'string', 'unterminated quoted string');
    else if (character === "'") this.#match(characterPattern, 'character', 'unterminated character constant');
    else if (character === '`') this.#match(rawPattern, 'raw string', 'unterminated raw quoted string');
    else if (character === '$') this.#name('variable');
    else if (character === '.' && !isDigitOrEnd(this.#source[at + 1])) this.#name('field');
    else if (/[.+\-0-9]/.test(character)) this.#number();
    else if (matchEnd(wordPattern, this.#source, at) > at) this.#word(at, wordPattern.lastIndex);
    else this.#sign(character);
  }

  #sign(character: string): void {
    const at = this.#position;
    if (character === '(') this.#open += 1;
    if (character === ')') this.#open -= 1;
    if (this.#open < 0) this.#fail(at, 'unexpected right paren');
    else if (character === '(' || character === ')') this.#push(character, at, character);
    else if (character === ':' && this.#source[at + 1] !== '=') this.#fail(at, 'expected :=');
    else if (character === ':') this.#push('declare', at, ':=');
    else if (character >= ' ' && character <= '~') this.#push(signs[character] ?? 'sign', at, character);
    else this.#fail(at, `unrecognized character in action: ${describeCharacter(this.#source, at)}`);
  }

  /** White space, except the last one if it belongs to ` -}}`. */
  #space(): void {
    const at = this.#position;
    const end = matchEnd(spacePattern, this.#source, at);
    const trims = this.#source.startsWith('-}}', end);
    this.#push('space', at, this.#source.slice(at, trims ? end - 1 : end));
  }

  #match(pattern: RegExp, kind: TokenKind, problem: string): void {
    const at = this.#position;
    const end = matchEnd(pattern, this.#source, at);
    if (end > at) this.#push(kind, at, this.#source.slice(at, end));
    else this.#fail(at, problem);
  }

  /** `$x`, `.x`, or `$` and `.` alone. */
  #name(kind: 'variable' | 'field'): void {
    const at = this.#position;
    if (this.#endsWord(at + 1)) this.#push(kind === 'field' ? 'dot' : kind, at, kind === 'field' ? '.' : '$');
    else this.#endedWord(kind, at, matchEnd(wordPattern, this.#source, at + 1));
  }

  #word(at: number, end: number): void {
    const word = this.#source.slice(at, end);
    const isBoolean = word === 'true' || word === 'false';
    this.#endedWord(keywordSet.has(word) ? (word as Keyword) : isBoolean ? 'boolean' : 'identifier', at, end);
  }

  #endedWord(kind: TokenKind, at: number, end: number): void {
    if (this.#endsWord(end)) this.#push(kind, at, this.#source.slice(at, end));
    else this.#fail(at, `bad character ${describeCharacter(this.#source, end)}`);
  }

  #endsWord(at: number): boolean {
    const character = this.#source[at];
    return character === undefined || ' \t\r\n.,|:()'.includes(character) || this.#source.startsWith('}}', at);
  }

  #number(): void {
    const at = this.#position;
    let end = this.#numberEnd(at);
    let kind: TokenKind = 'number';
    if (end !== null && (this.#source[end] === '+' || this.#source[end] === '-')) {
      kind = 'complex';
      end = this.#numberEnd(end);
      if (end !== null && this.#source[end - 1] !== 'i') end = null;
    }
    if (end !== null) this.#push(kind, at, this.#source.slice(at, end));
    else this.#fail(at, `bad number syntax: ${JSON.stringify(this.#source.slice(at, at + 20))}`);
  }

  /** Offset after the number here; null if a letter or digit follows it. */
  #numberEnd(at: number): number | null {
    const end = matchEnd(numberPattern, this.#source, at);
    return matchEnd(wordPattern, this.#source, end) > end ? null : end;
  }
}

/** End of a sticky pattern at an offset; the offset itself if it does not match. */
function matchEnd(pattern: RegExp, source: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(source) ? pattern.lastIndex : at;
}

function isSpaceAt(source: string, at: number): boolean {
  const character = source[at];
  return character === ' ' || character === '\n' || character === '\t' || character === '\r';
}

function trimEnd(source: string, from: number, to: number): number {
  let end = to;
  while (end > from && isSpaceAt(source, end - 1)) end -= 1;
  return end;
}

function isDigitOrEnd(character: string | undefined): boolean {
  return character === undefined || (character >= '0' && character <= '9');
}

/** `U+005B '['`. */
function describeCharacter(source: string, at: number): string {
  const code = source.codePointAt(at) ?? 0;
  const hex = code.toString(16).toUpperCase().padStart(4, '0');
  return `U+${hex} '${String.fromCodePoint(code)}'`;
}
