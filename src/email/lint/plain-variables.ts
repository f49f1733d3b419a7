/** Finds variables that are plain text because braces are missing. Reads each character once, because the text is untrusted. */
import { tokenize } from '../engine/parse/tokenize.ts';
import { readMarkup } from '../markup/read-markup.ts';

/** Source text that recipients would see literally. */
export interface PlainText {
  readonly text: string;
  readonly at: number;
}

/** A variable name without its dot, followed by a brace. */
const variable = /(?<![\w.])\.([A-Za-z]\w*)(?:\.\w+)*\s*\}/g;
/** Replaces an action; never occurs in stored sources. */
const action = '\0';

/** Variables with missing braces, with the braces present. */
export function findPlainVariables(source: string): readonly (PlainText & { readonly name: string })[] {
  const text = hideUnseen(hideActions(source));
  return [...text.matchAll(variable)].map(({ 0: found, 1: name = '', index }) => {
    const before = /\{?[ \t]*$/.exec(text.slice(Math.max(0, index - 8), index))?.[0] ?? '';
    const open = before.startsWith('{') ? before : '';
    const end = index + found.length;
    const close = text[end] === '}' ? '}' : '';
    return { name, text: `${open}${found}${close}`, at: index - open.length };
  });
}

/** Whether the address of a link leads nowhere: an empty one, `#`, and a variable without its braces. @param address As `hideActions` leaves it. */
export function isDeadAddress(address: string): boolean {
  // Braces in an address, as mail programs and editors encode them.
  const text = address.replace(/%7B/gi, '{').replace(/%7D/gi, '}').replace(/%20/g, ' ').trim();
  if (text === '' || text === '#') return true;
  if (text.includes(action)) return text.search(variable) >= 0;
  return (
    /^\.[A-Za-z]/.test(text) || text.search(variable) >= 0 || (/[{}]/.test(text) && !/^[a-z][\w+.-]*:/i.test(text))
  );
}

/** Markup of the same length, with blanks in place of comments, styles and scripts. */
export function hideUnseen(markup: string): string {
  let text = '';
  let shown = 0;
  readMarkup(markup, (piece) => {
    const isUnseen =
      piece.kind === 'comment' || (piece.kind === 'text' && /^(?:style|script)$/.test(piece.inside ?? ''));
    if (!isUnseen) return;
    text += markup.slice(shown, piece.at) + ' '.repeat(piece.end - piece.at);
    shown = piece.end;
  });
  return text + markup.slice(shown);
}

/** The source with NUL in place of its actions, up to the last text in it. */
export function hideActions(source: string): string {
  let text = '';
  for (const token of tokenize(source))
    if (token.kind === 'text') text += action.repeat(token.at - text.length) + token.text;
  return text;
}
