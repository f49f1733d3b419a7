/** The words of a text in a language, by kind, for colours. */
import { classHighlighter, highlightCode } from '@lezer/highlight';

/** What reads a language; of the packages of CodeMirror. */
export type LanguageParser = { parse(text: string): Parameters<typeof highlightCode>[1] };

/** A piece of the text with its class (`tok-keyword`); empty: none. */
export interface Token {
  readonly text: string;
  readonly kind: string;
}

/** The pieces of a text, in their order. */
export function tokensOf(text: string, parser: LanguageParser): readonly Token[] {
  const tokens: Token[] = [];
  const add = (part: string, kind: string): void => void tokens.push({ text: part, kind });
  highlightCode(text, parser.parse(text), classHighlighter, add, () => add('\n', ''));
  return tokens;
}
