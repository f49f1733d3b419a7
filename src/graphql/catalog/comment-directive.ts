/**
 * Parses the comment directive `@graphql({…})` in a database comment (docs/relationships.md).
 *
 * Scans the JSON value properly, so parentheses inside strings and text after the directive are harmless. Reports a
 * malformed directive with its position, because every request fails until the comment is fixed.
 */
import { isObject, parseJson } from '../../shared/json.ts';

/** The directive of a comment. `position` is the 1-based character of the fault. */
export type CommentDirective =
  | { readonly kind: 'none' }
  | { readonly kind: 'directive'; readonly value: Readonly<Record<string, unknown>> }
  | { readonly kind: 'malformed'; readonly problem: string; readonly position: number };

const opening = '@graphql(';
/** Longest comment with a directive, in characters: the stack of a regular expression ends at some millions. */
const maxLength = 2_000_000;
const none: CommentDirective = { kind: 'none' };

/** Parses the first directive. JSON other than an object counts as an empty one, a `null` as absent. */
export function parseCommentDirective(comment: string | null): CommentDirective {
  const located = locate(comment);
  return located === null ? none : located.directive;
}

/** A directive or its fault; a well-formed one with its range in the comment. */
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
  if (comment.length > maxLength)
    return malformed(comment, `the comment is longer than ${maxLength} characters`, start);
  const end = scanValue(comment, start);
  if (end.problem !== null) return malformed(comment, end.problem, end.at);
  const closing = skipBlanks(comment, end.at);
  if (comment[closing] !== ')') return malformed(comment, 'expected ")" after the JSON value', closing);
  const value = parseJson(comment.slice(start, end.at));
  if (value === undefined) return malformed(comment, 'the text is not valid JSON', start);
  const directive = { kind: 'directive', value: isObject(value) ? withoutNulls(value) : {} } as const;
  return { directive, from, to: closing + 1 };
}

/**
 * The comment with these keys in its directive. Keeps all other text and keys.
 *
 * @returns Null if the comment has a malformed directive, which a person must fix.
 */
export function withDirective(comment: string | null, keys: Readonly<Record<string, unknown>>): string | null {
  if (comment === null || comment === '') return printDirective(keys);
  const located = locate(comment);
  // The first directive counts, so a second one after it would be ignored.
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

function withoutNulls(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));
}

/** The end of a value, or the position and kind of its fault. */
interface Scan {
  readonly at: number;
  readonly problem: string | null;
}

const scalar = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids control characters inside strings.
const text = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

const problems = {
  value: 'expected a JSON value',
  key: 'expected a key in double quotes',
  colon: 'expected ":" after the key',
} as const;

/** Scans the JSON value that starts here, without recursion, so any depth is harmless. */
function scanValue(source: string, start: number): Scan {
  const open: ('}' | ']')[] = [];
  let expected: keyof typeof problems | 'end' = 'value';
  let isFirst = false;
  for (let at = start; ; ) {
    at = skipBlanks(source, at);
    const sign = source[at];
    const closing = open.at(-1);
    const opensHere = expected === 'value' && (sign === '{' || sign === '[');
    if (opensHere) {
      open.push(sign === '{' ? '}' : ']');
      expected = sign === '{' ? 'key' : 'value';
      at += 1;
    } else if (closing !== undefined && sign === closing && (expected === 'end' || isFirst)) {
      open.pop();
      expected = 'end';
      at += 1;
    } else if (expected === 'end') {
      if (sign !== ',') return { at, problem: `expected "," or "${closing}"` };
      expected = closing === '}' ? 'key' : 'value';
      at += 1;
    } else if (expected === 'colon') {
      if (sign !== ':') return { at, problem: problems.colon };
      expected = 'value';
      at += 1;
    } else {
      const next = match(text, source, at) ?? (expected === 'value' ? match(scalar, source, at) : null);
      if (next === null) return { at, problem: problems[expected] };
      expected = expected === 'key' ? 'colon' : 'end';
      at = next;
    }
    isFirst = opensHere;
    if (expected === 'end' && open.length === 0) return { at, problem: null };
  }
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
