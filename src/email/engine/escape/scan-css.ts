/** How literal text changes the context in CSS: values, strings, URLs and comments. */
import { failScan } from '../template-error.ts';
import type { Context, ContextState, Scan } from './context.ts';
import { decodeCss } from './escape-css.ts';
import { moveUrl } from './scan-markup.ts';

/** Outside strings, URLs and comments. */
export function scanCss(context: Context, text: string): Scan {
  for (let from = 0; ; ) {
    const found = text.slice(from).search(/[("'/]/);
    if (found < 0) return { context, read: text.length };
    const at = from + found;
    const move = moveAt(text, at);
    if (move !== null) return { context: { ...context, state: move.state }, read: move.read };
    from = at + 1;
  }
}

function moveAt(text: string, at: number): { readonly state: ContextState; readonly read: number } | null {
  switch (text[at]) {
    case '"':
      return { state: 'cssDoubleString', read: at + 1 };
    case "'":
      return { state: 'cssSingleString', read: at + 1 };
    case '/':
      if (text[at + 1] === '/') return { state: 'cssLineComment', read: at + 2 };
      return text[at + 1] === '*' ? { state: 'cssBlockComment', read: at + 2 } : null;
    default:
      return followsUrl(text, at) ? openUrl(text, at + 1) : null;
  }
}

/** Whether the word `url`, and not a longer name, precedes a parenthesis. */
function followsUrl(text: string, at: number): boolean {
  let end = at;
  while (end > 0 && '\t\n\f\r '.includes(text[end - 1] as string)) end -= 1;
  if (text.slice(Math.max(end - 3, 0), end).toLowerCase() !== 'url') return false;
  return !/[\w\-\x80-\uffff]$/.test(text.slice(Math.max(end - 4, 0), end - 3));
}

function openUrl(text: string, start: number): { readonly state: ContextState; readonly read: number } {
  let at = start;
  while (at < text.length && '\t\n\f\r '.includes(text[at] as string)) at += 1;
  if (text[at] === '"') return { state: 'cssDoubleUrl', read: at + 1 };
  if (text[at] === "'") return { state: 'cssSingleUrl', read: at + 1 };
  return { state: 'cssUrl', read: at };
}

const ends: Partial<Record<ContextState, RegExp>> = {
  cssDoubleString: /[\\"]/g,
  cssDoubleUrl: /[\\"]/g,
  cssSingleString: /[\\']/g,
  cssSingleUrl: /[\\']/g,
  cssUrl: /[\\\t\n\f\r )]/g,
};

/** Inside a string or URL. The part of the URL changes with text before an escape or action. */
export function scanCssString(context: Context, text: string): Scan {
  const pattern = ends[context.state] as RegExp;
  let current = context;
  let from = 0;
  // From this offset on, escapes are not decoded yet.
  let decoded = 0;
  for (;;) {
    pattern.lastIndex = from;
    const at = pattern.exec(text)?.index;
    if (at === undefined) return { context: moveUrl(current, text.slice(from)), read: text.length };
    if (text[at] !== '\\') return { context: { ...current, state: 'css' }, read: at + 1 };
    if (at + 1 === text.length)
      failScan('bad_script', `unfinished escape sequence in CSS string: ${JSON.stringify(text.slice(-32))}`);
    const next = String.fromCodePoint(text.codePointAt(at + 1) as number);
    current = moveUrl(current, decodeCss(text.slice(decoded, at)));
    current = moveUrl(current, decodeCss(`\\${next}`));
    decoded = at;
    from = at + 1 + next.length;
  }
}
