/** Reads a list of tokens forwards, with one step back. "Solid" tokens are those other than white space. */
import { invariant } from '../../../shared/invariant.ts';
import type { Budget } from '../budget.ts';
import type { Token } from './tokenize.ts';

/** A position in a list of tokens. At the end or at an error, the last token repeats. */
export class TokenReader {
  /** Index of the next token; may be reset to an earlier one. */
  position = 0;
  readonly #tokens: readonly Token[];
  readonly #budget: Budget;
  #furthest = 0;

  constructor(tokens: readonly Token[], budget: Budget) {
    this.#tokens = tokens;
    this.#budget = budget;
  }

  next(): Token {
    this.#budget.step();
    const token = this.peek();
    this.position += 1;
    return token;
  }

  peek(): Token {
    const index = Math.min(this.position, this.#tokens.length - 1);
    const token = this.#tokens[index];
    invariant(token !== undefined, 'a token list ends with eof or error');
    this.#furthest = Math.max(this.#furthest, index);
    return token;
  }

  nextSolid(): Token {
    this.#skipSpace();
    return this.next();
  }

  peekSolid(): Token {
    this.#skipSpace();
    return this.peek();
  }

  /** Steps back by one token. */
  back(): void {
    this.position -= 1;
  }

  /** Reads `{{ define` if it comes next; otherwise nothing. */
  startsDefinition(): boolean {
    const mark = this.position;
    if (this.next().kind === 'open' && this.nextSolid().kind === 'define') return true;
    this.position = mark;
    return false;
  }

  /** The furthest token read, where faults are reported. */
  last(): Token {
    return this.#tokens[this.#furthest] as Token;
  }

  #skipSpace(): void {
    while (this.#tokens[this.position]?.kind === 'space') this.position += 1;
  }
}
