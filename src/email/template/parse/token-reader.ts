/**
 * Reads a list of tokens forwards, with a step back. "Solid" tokens are those that are no white space.
 */
import { invariant } from '../../../shared/invariant.ts';
import type { Budget } from '../budget.ts';
import type { Token } from './tokenize.ts';

/** A place in a list of tokens. At the end, or at a fault, the last token comes again and again. */
export class TokenReader {
  /** Index of the next token; may be set back to an earlier one. */
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

  /** Reads `{{ define` where it comes next; else reads nothing. */
  startsDefinition(): boolean {
    const mark = this.position;
    if (this.next().kind === 'open' && this.nextSolid().kind === 'define') return true;
    this.position = mark;
    return false;
  }

  /** The furthest token that was looked at: the one that faults are about. */
  last(): Token {
    return this.#tokens[this.#furthest] as Token;
  }

  #skipSpace(): void {
    while (this.#tokens[this.position]?.kind === 'space') this.position += 1;
  }
}
