/**
 * Finds the comment directive `@graphql({…})` in the text of a database comment (docs/relationships.md).
 *
 * The JSON value is scanned properly, so parentheses inside strings and text after the directive do no harm. What is
 * malformed is reported with its place, because every request fails until someone repairs the comment.
 */

/** A comment as the directive grammar sees it. `position` is the 1-based character of the comment where it went wrong. */
export type CommentDirective =
  | { readonly kind: 'none' }
  | { readonly kind: 'directive'; readonly value: Readonly<Record<string, unknown>> }
  | { readonly kind: 'malformed'; readonly problem: string; readonly position: number };

const opening = '@graphql(';
const none: CommentDirective = { kind: 'none' };

/**
 * Parses the first directive of a comment.
 *
 * A JSON value that is not an object counts as an empty object, and keys with `null` are left out, as if absent.
 */
export function parseCommentDirective(comment: string | null): CommentDirective {
  const located = locate(comment);
  return located === null ? none : located.directive;
}

/** A directive, or what is wrong with it, and the characters of the comment that it takes, for those that are well formed. */
interface Located {
  readonly directive: CommentDirective;
  readonly from: number;
  readonly to: number;
}

function locate(comment: string | null): Located | null {
  const from = comment?.indexOf(opening) ?? -1;
  if (comment === null || from < 0) return null;
  const start = skipBlanks(comment, from + opening.length);
  if (comment[start] === ')' || !comment.includes(')', start)) return null;
  const end = scanValue(comment, start);
  if (end.kind === 'broken') return malformed(comment, end.problem, end.at);
  const closing = skipBlanks(comment, end.at);
  if (comment[closing] !== ')') return malformed(comment, 'expected ")" after the JSON value', closing);
  let value: unknown;
  try {
    value = JSON.parse(comment.slice(start, end.at));
  } catch {
    return malformed(comment, 'the text is not valid JSON', start);
  }
  const directive = { kind: 'directive', value: isObject(value) ? withoutNulls(value) : {} } as const;
  return { directive, from, to: closing + 1 };
}

/**
 * The comment with these keys in its directive. Everything else that it says stays: its text, and the other keys.
 *
 * @returns Null where the comment has something that is no directive in the place of one: somebody has to look at it.
 */
export function withDirective(comment: string | null, keys: Readonly<Record<string, unknown>>): string | null {
  if (comment === null || comment === '') return printDirective(keys);
  const located = locate(comment);
  // The first opening counts, so another one behind it would not be read.
  if (located?.directive.kind !== 'directive')
    return comment.includes(opening) ? null : `${comment} ${printDirective(keys)}`;
  const { directive, from, to } = located;
  return `${comment.slice(0, from)}${printDirective({ ...directive.value, ...keys })}${comment.slice(to)}`;
}

function printDirective(keys: Readonly<Record<string, unknown>>): string {
  return `${opening}${JSON.stringify(keys)})`;
}

function malformed(comment: string, problem: string, at: number): Located {
  const directive = { kind: 'malformed', problem, position: [...comment.slice(0, at)].length + 1 } as const;
  return { directive, from: at, to: at };
}

/** Whether a JSON value is an object: neither null nor a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function withoutNulls(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));
}

type Scan = { readonly kind: 'end' | 'broken'; readonly at: number; readonly problem: string };

const end = (at: number): Scan => ({ kind: 'end', at, problem: '' });
const broken = (at: number, problem: string): Scan => ({ kind: 'broken', at, problem });

const scalar = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids control characters inside strings.
const text = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

/** Where the JSON value that starts at `at` ends; nesting needs no recursion, so depth is harmless. */
function scanValue(source: string, at: number): Scan {
  const open: ('{' | '[')[] = [];
  let position = at;
  for (;;) {
    position = skipBlanks(source, position);
    const character = source[position];
    if (character === '{' || character === '[') {
      const inside = skipBlanks(source, position + 1);
      if (source[inside] === (character === '{' ? '}' : ']')) {
        position = inside + 1;
      } else {
        open.push(character);
        position = inside;
        if (character === '[') continue;
        const key = scanKey(source, position);
        if (key.kind === 'broken') return key;
        position = key.at;
        continue;
      }
    } else {
      const next = match(text, source, position) ?? match(scalar, source, position);
      if (next === null) return broken(position, 'expected a JSON value');
      position = next;
    }
    const after = scanAfterValue(source, position, open);
    if (after.kind === 'broken' || open.length === 0) return after;
    position = after.at;
  }
}

/** Consumes closing brackets, then a comma and an object's next key. */
function scanAfterValue(source: string, at: number, open: ('{' | '[')[]): Scan {
  let position = at;
  for (;;) {
    const innermost = open.at(-1);
    if (innermost === undefined) return end(position);
    const next = skipBlanks(source, position);
    const closing = innermost === '{' ? '}' : ']';
    if (source[next] === closing) {
      open.pop();
      position = next + 1;
      continue;
    }
    if (source[next] !== ',') return broken(next, `expected "," or "${closing}"`);
    return innermost === '{' ? scanKey(source, skipBlanks(source, next + 1)) : end(next + 1);
  }
}

function scanKey(source: string, at: number): Scan {
  const key = match(text, source, at);
  if (key === null) return broken(at, 'expected a key in double quotes');
  const colon = skipBlanks(source, key);
  return source[colon] === ':' ? end(colon + 1) : broken(colon, 'expected ":" after the key');
}

function match(pattern: RegExp, source: string, at: number): number | null {
  pattern.lastIndex = at;
  return pattern.test(source) ? pattern.lastIndex : null;
}

function skipBlanks(source: string, at: number): number {
  let position = at;
  while (position < source.length && ' \t\r\n'.includes(source[position] as string)) position += 1;
  return position;
}
