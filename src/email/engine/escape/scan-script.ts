/** How text changes the context in scripts: code, strings, template literals, regular expressions, comments. */
import { failScan } from '../template-error.ts';
import type { Context, ContextState, Scan, Slash } from './context.ts';

// Exactly JavaScript's white space and line terminators.
const scriptSpace = /\s/;
const beforeRegexp =
  /(?<![\w$])(?:break|case|continue|delete|do|else|finally|in|instanceof|return|throw|try|typeof|void)$/;

/** What a slash starts after code without quotes, slashes, braces, `<`, `-` and `#`. */
function slashAfter(code: string, before: Slash): Slash {
  let end = code.length;
  while (end > 0 && scriptSpace.test(code[end - 1] as string)) end -= 1;
  const run = code.slice(0, end);
  const last = run[end - 1];
  if (last === undefined) return before;
  if (last === '+') return countAtEnd(run, '+') % 2 === 0 ? 'division' : 'regexp';
  if (last === '.') return /[0-9]\.$/.test(run.slice(-2)) ? 'division' : 'regexp';
  if (',>=*%&|^?!~([:;'.includes(last)) return 'regexp';
  return beforeRegexp.test(run.slice(-16)) ? 'regexp' : 'division';
}

function countAtEnd(text: string, sign: string): number {
  let count = 0;
  while (text[text.length - 1 - count] === sign) count += 1;
  return count;
}

const openers: Readonly<Record<string, ContextState>> = {
  '"': 'doubleString', "'": 'singleString', '`': 'templateLiteral',
}; // biome-ignore format: a table

/** In code. */
export function scanScript(context: Context, text: string): Scan {
  const at = text.search(/["`'/{}<\-#]/);
  if (at < 0) return { context: { ...context, slash: slashAfter(text, context.slash) }, read: text.length };
  const slash = slashAfter(text.slice(0, at), context.slash);
  const sign = text[at] as string;
  const opened = openers[sign];
  if (opened !== undefined) return { context: { ...context, slash: 'regexp', state: opened }, read: at + 1 };
  const commented = commentAt(text, at);
  if (commented !== null)
    return { context: { ...context, slash, state: commented.state }, read: at + commented.length };
  if (sign === '/') return { context: slashContext({ ...context, slash }, text.slice(at)), read: at + 1 };
  if (sign === '{' || sign === '}') return { context: braceContext({ ...context, slash }, sign), read: at + 1 };
  return { context: { ...context, slash }, read: at + 1 };
}

const commentStarts: readonly (readonly [string, ContextState])[] = [
  ['//', 'lineComment'],
  ['/*', 'blockComment'],
  ['<!--', 'htmlOpenComment'],
  ['-->', 'htmlCloseComment'],
  ['#!', 'lineComment'],
];

function commentAt(text: string, at: number): { readonly state: ContextState; readonly length: number } | null {
  const found = commentStarts.find(([sign]) => text.startsWith(sign, at));
  return found === undefined ? null : { state: found[1], length: found[0].length };
}

function slashContext(context: Context, rest: string): Context {
  if (context.slash === 'regexp') return { ...context, state: 'regexp' };
  if (context.slash === 'division') return { ...context, slash: 'regexp' };
  return failScan('ambiguous_slash', `'/' could start a division or regexp: ${JSON.stringify(rest.slice(0, 32))}`);
}

/**
 * Braces count only in the code of template literals, where the last one returns to the literal. Keeps what a slash
 * starts, for the code after the literal.
 */
function braceContext(context: Context, sign: '{' | '}'): Context {
  const next: Context = { ...context, slash: 'regexp' };
  const depth = context.braces.at(-1);
  if (depth === undefined) return next;
  const outer = context.braces.slice(0, -1);
  if (sign === '{') return { ...next, braces: [...outer, depth + 1] };
  return depth > 0
    ? { ...next, braces: [...outer, depth - 1] }
    : { ...context, braces: outer, state: 'templateLiteral' };
}

/** In the text of a template literal. */
export function scanTemplateLiteral(context: Context, text: string): Scan {
  const pattern = /\\|\$\{|`/g;
  for (;;) {
    const at = pattern.exec(text)?.index;
    if (at === undefined) return { context, read: text.length };
    if (text[at] === '`') return { context: { ...context, state: 'script' }, read: at + 1 };
    if (text[at] === '$')
      return { context: { ...context, state: 'script', braces: [...context.braces, 0] }, read: at + 2 };
    assertEscape(text, at);
    pattern.lastIndex = at + 2;
  }
}

/** In a string. */
export function scanScriptString(context: Context, text: string): Scan {
  const pattern = context.state === 'doubleString' ? /[\\"]/g : /[\\']/g;
  for (;;) {
    const at = pattern.exec(text)?.index;
    if (at === undefined) return { context, read: text.length };
    if (text[at] !== '\\') return { context: { ...context, state: 'script', slash: 'division' }, read: at + 1 };
    assertEscape(text, at);
    pattern.lastIndex = at + 2;
  }
}

/** In a regular expression; slashes in a character class do not end it. */
export function scanRegexp(context: Context, text: string): Scan {
  const pattern = /[\\/[\]]/g;
  let inClass = false;
  for (;;) {
    const at = pattern.exec(text)?.index;
    if (at === undefined) break;
    const sign = text[at];
    if (sign === '\\') {
      assertEscape(text, at);
      pattern.lastIndex = at + 2;
    } else if (sign !== '/') inClass = sign === '[';
    // The slash of `</script` ends nothing: it is escaped.
    else if (/^<\/script$/i.test(text.slice(Math.max(at - 1, 0), at + 7))) pattern.lastIndex = at + 2;
    else if (!inClass) return { context: { ...context, state: 'script', slash: 'division' }, read: at + 1 };
  }
  if (inClass) failScan('bad_script', `unfinished JS regexp charset: ${JSON.stringify(text.slice(0, 32))}`);
  return { context, read: text.length };
}

function assertEscape(text: string, at: number): void {
  if (at + 1 === text.length)
    failScan('bad_script', `unfinished escape sequence in JS string: ${JSON.stringify(text.slice(-32))}`);
}
