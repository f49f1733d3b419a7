/** Rewrites a piece of literal text: removes comments, escapes a `<` that starts no tag, and moves the context on. */
import type { Budget } from '../budget.ts';
import { EvaluationFailure } from '../template-error.ts';
import { type Context, isComment, isScriptLiteral } from './context.ts';
import { PieceScanner } from './scan-piece.ts';

/** Options of rewriting. */
export interface RewriteOptions {
  /** Whether comments for mail clients, `<!--[if`, are kept. */
  readonly keepsConditional: boolean;
  readonly budget: Budget;
}

/**
 * Rewrites a piece.
 *
 * @returns The text to print instead, the context after it, and the offset in the piece of the last opened tag or
 *   comment.
 * @throws EvaluationFailure with a code of the phase `escape` if the text breaks the page, or of the budget.
 */
export function rewriteText(start: Context, piece: string, { keepsConditional, budget }: RewriteOptions) {
  const scanner = new PieceScanner(piece, keepsConditional, budget);
  const output = new PieceOutput(piece);
  let context = start;
  let opened: number | null = null;
  for (let at = 0; at < piece.length; ) {
    const { context: next, read } = locate(at, () => scanner.step(context, at));
    const end = at + read;
    if (context.state === 'text' && next.state !== 'text') opened = tagStart(piece, at, end);
    if (context.state === 'text' || context.state === 'rcdata')
      output.escapeAngles(at, next.state === context.state ? end : tagStart(piece, at, end));
    else if (isLeftOut(context)) output.replaceComment(context, end);
    if (next.state !== context.state && isLeftOut(next)) output.cutBefore(end - signLength(next), end);
    if (isScriptLiteral(context.state)) output.escapeEndTags(at, end);
    context = next;
    at = end;
  }
  return { text: output.finish(isLeftOut(context)), context, opened };
}

/** Adds the offset in the piece to an error. */
function locate<T>(offset: number, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof EvaluationFailure) throw new EvaluationFailure(error.code, error.message, offset);
    throw error;
  }
}

/** Comments inside attribute values stay: only the attribute's interpreter would recognize them. */
function isLeftOut(context: Context): boolean {
  return context.delimiter === 'none' && isComment(context.state);
}

/** Start of the tag or comment in which a scan ended. */
function tagStart(piece: string, from: number, to: number): number {
  const at = piece.slice(from, to).lastIndexOf('<');
  return at < 0 ? to : from + at;
}

function signLength({ state }: Context): number {
  if (state === 'htmlComment' || state === 'htmlOpenComment') return 4;
  return state === 'htmlCloseComment' ? 3 : 2;
}

const endTag = /<(script|\/script|!--)/iu;
const endTags = /<(script|\/script|!--)/giu;

/** The output so far; source after `#written` is still to be copied. */
class PieceOutput {
  readonly #piece: string;
  #text = '';
  #written = 0;

  constructor(piece: string) {
    this.#piece = piece;
  }

  escapeAngles(from: number, to: number): void {
    for (let at = this.#piece.indexOf('<', from); at >= 0 && at < to; at = this.#piece.indexOf('<', at + 1)) {
      if (this.#piece.slice(at, at + 9).toUpperCase() === '<!DOCTYPE') continue;
      this.cutBefore(at, at + 1);
      this.#text += '&lt;';
    }
  }

  /** Leaves out a comment up to `end`, except for what separates the words around it. */
  replaceComment({ state }: Context, end: number): void {
    if (state === 'blockComment')
      this.#text += /[\n\r\u2028\u2029]/.test(this.#piece.slice(this.#written, end)) ? '\n' : ' ';
    if (state === 'cssBlockComment') this.#text += ' ';
    this.#written = end;
  }

  /** Copies up to an offset and continues after another. */
  cutBefore(from: number, to: number): void {
    this.#text += this.#piece.slice(this.#written, from);
    this.#written = to;
  }

  /** Escapes text that browsers would read as the end or start of a script. */
  escapeEndTags(from: number, to: number): void {
    const part = this.#piece.slice(from, to);
    if (!endTag.test(part)) return;
    this.cutBefore(from, to);
    this.#text += part.replace(endTags, '\\x3C$1');
  }

  finish(leftOut: boolean): string {
    // A comment that ends at the start of the piece leaves no blank.
    if (this.#written === 0) return this.#piece;
    return leftOut ? this.#text : this.#text + this.#piece.slice(this.#written);
  }
}
