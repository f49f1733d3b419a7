/** `printf`: formats the arguments by a format. Errors in a format appear in the text, as in Go. */
import { assertFormatted, formatValue, plainDirective } from '../values/format-value.ts';
import { Byte, type Value, valueTypeName } from '../values/value.ts';

const flagNames = { '+': 'plus', '-': 'minus', '#': 'sharp', ' ': 'space', '0': 'zero' } as const;

/** Largest width, precision or argument index. */
const maxNumber = 1_000_000;

/** The formatted text. @throws EvaluationFailure `output_limit` if it exceeds the limit. */
export function printf(format: string, values: readonly Value[]): string {
  return new Formatter(format, values).run();
}

class Formatter {
  readonly #format: string;
  readonly #values: readonly Value[];
  #at = 0;
  #next = 0;
  #text = '';
  #reordered = false;
  #goodIndex = true;
  #directive = { ...plainDirective };

  constructor(format: string, values: readonly Value[]) {
    this.#format = format;
    this.#values = values;
  }

  run(): string {
    for (;;) {
      const percent = this.#format.indexOf('%', this.#at);
      this.#text += this.#format.slice(this.#at, percent < 0 ? this.#format.length : percent);
      if (percent < 0) break;
      this.#at = percent + 1;
      this.#item();
      assertFormatted(this.#text.length);
    }
    if (!this.#reordered && this.#next < this.#values.length) this.#extra();
    return this.#text;
  }

  #item(): void {
    this.#directive = { ...plainDirective };
    this.#goodIndex = true;
    for (; this.#peek() in flagNames; this.#at += 1)
      this.#directive[flagNames[this.#peek() as keyof typeof flagNames]] = true;
    let indexed = this.#index();
    indexed = this.#width(indexed);
    indexed = this.#precision(indexed);
    if (!indexed) this.#index();
    const code = this.#format.codePointAt(this.#at);
    if (code === undefined) {
      this.#text += '%!(NOVERB)';
      return;
    }
    const verb = String.fromCodePoint(code);
    this.#at += verb.length;
    this.#verb(verb);
  }

  #peek(): string {
    return this.#format[this.#at] ?? '';
  }

  #verb(verb: string): void {
    if (verb === '%') this.#text += '%';
    else if (!this.#goodIndex) this.#text += `%!${verb}(BADINDEX)`;
    else if (this.#next >= this.#values.length) this.#text += `%!${verb}(MISSING)`;
    else {
      const { sharp } = this.#directive;
      const directive =
        verb === 'v' || verb === 'w'
          ? { ...this.#directive, source: sharp, sharp: false, plus: false }
          : this.#directive;
      this.#text += formatValue(this.#values[this.#next], verb, directive);
      this.#next += 1;
    }
  }

  /** `[n]`; true if present, valid or not. */
  #index(): boolean {
    if (this.#peek() !== '[') return false;
    this.#reordered = true;
    const close = this.#format.indexOf(']', this.#at + 1);
    if (close < 0 || this.#format.length - this.#at < 3) {
      this.#goodIndex = false;
      this.#at += 1;
      return false;
    }
    const digits = this.#format.slice(this.#at + 1, close);
    this.#at = close + 1;
    const index = parseCount(digits);
    if (index !== null && index >= 1 && index <= this.#values.length) {
      this.#next = index - 1;
      return true;
    }
    this.#goodIndex = false;
    return index !== null;
  }

  #width(indexed: boolean): boolean {
    if (this.#peek() !== '*') {
      this.#directive.width = this.#number();
      if (indexed && this.#directive.width !== null) this.#goodIndex = false;
      return indexed;
    }
    this.#at += 1;
    const width = this.#integerArgument();
    if (width === null) this.#text += '%!(BADWIDTH)';
    this.#directive.width = width;
    if (width !== null && width < 0) {
      this.#directive.width = -width;
      this.#directive.minus = true;
    }
    return false;
  }

  #precision(indexed: boolean): boolean {
    if (this.#peek() !== '.' || this.#at + 1 === this.#format.length) return indexed;
    this.#at += 1;
    if (indexed) this.#goodIndex = false;
    const second = this.#index();
    if (this.#peek() !== '*') {
      this.#directive.precision = this.#number() ?? 0;
      return second;
    }
    this.#at += 1;
    const precision = this.#integerArgument();
    this.#directive.precision = precision;
    if (precision !== null && precision < 0) this.#directive.precision = null;
    if (this.#directive.precision === null) this.#text += '%!(BADPREC)';
    return false;
  }

  /** Digits; too large a number consumes the rest of the format. */
  #number(): number | null {
    const digits = /^[0-9]+/.exec(this.#format.slice(this.#at, this.#at + 1024))?.[0];
    if (digits === undefined) return null;
    const value = parseCount(digits);
    this.#at = value === null ? this.#format.length : this.#at + digits.length;
    return value;
  }

  #integerArgument(): number | null {
    if (this.#next >= this.#values.length) return null;
    const value = this.#values[this.#next];
    this.#next += 1;
    const number = typeof value === 'bigint' ? Number(value) : value instanceof Byte ? value.value : null;
    return number === null || Math.abs(number) > maxNumber ? null : number;
  }

  #extra(): void {
    const rest = this.#values.slice(this.#next).map((value) => {
      const text = formatValue(value, 'v', plainDirective);
      return value === null || value === undefined ? text : `${valueTypeName(value)}=${text}`;
    });
    this.#text += `%!(EXTRA ${rest.join(', ')})`;
    assertFormatted(this.#text.length);
  }
}

/** Null if the text is not a number or too large. */
function parseCount(digits: string): number | null {
  if (!/^[0-9]+$/.test(digits)) return null;
  // As in Go, the last digit may still exceed the limit.
  return Number(digits.slice(0, -1)) > maxNumber ? null : Number(digits);
}
