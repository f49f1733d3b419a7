/**
 * Patterns of allowed redirect addresses: `*` and `?` stop at `.` and `/`, `**` does not; `[a-z]`, `[!a-z]`, `{a,b}`
 * and `\x` as in shells.
 *
 * Matches all possible positions in parallel, so the time is bounded by pattern length times text length: patterns are
 * the operator's, but the text is untrusted.
 */

/** A compiled pattern. */
export interface UrlPattern {
  matches(text: string): boolean;
  /** Whether the part before the path matches the whole of `origin`: scheme and authority of an address. */
  matchesOrigin(origin: string): boolean;
  /** Number of leading characters that the pattern fixes literally, up to its first wildcard. */
  readonly fixedLength: number;
}

/** Longest pattern and text in characters; browsers and servers have lower limits. */
const maxPatternLength = 2000;
const maxTextLength = 16_384;

/** Compiles a pattern. @throws Error with the rest of a sentence ("has …") if it is malformed. */
export function compileUrlPattern(pattern: string): UrlPattern {
  const matches = compile(pattern);
  const origin = originOf(pattern);
  return {
    matches,
    matchesOrigin: origin === null ? () => true : compile(origin),
    fixedLength: /^(?:[^*?[{\\]|\\.)*/su.exec(pattern)?.[0].replace(/\\(.)/gsu, '$1').length ?? 0,
  };
}

function compile(pattern: string): UrlPattern['matches'] {
  const characters = [...pattern];
  if (characters.length > maxPatternLength) throw new Error(`is longer than ${maxPatternLength} characters`);
  const part = readSequence({ characters, at: 0 }, false);
  return (given) => {
    const text = [...given.slice(0, maxTextLength + 1)];
    if (text.length > maxTextLength) return false;
    return part(new Uint8Array(text.length + 1).fill(1, 0, 1), text)[text.length] === 1;
  };
}

/** The pattern up to the slash of the path; all of it without one. Null: the slash is in braces. */
function originOf(pattern: string): string | null {
  const scheme = /^.*?:\/\//s.exec(pattern)?.[0] ?? '';
  const [rest = ''] = /^(?:\\.|\[(?:\\.|[^\]\\])*\]|\{[^/}]*\}|[^/{[\\])*/su.exec(pattern.slice(scheme.length)) ?? [];
  const end = scheme.length + rest.length;
  return pattern[end] === '{' ? null : pattern.slice(0, end);
}

/** Splits a list at commas outside braces and without a backslash; drops surrounding blanks and empty items. */
export function splitPatterns(list: string): readonly string[] {
  const items: string[] = [];
  let depth = 0;
  let item = '';
  for (let at = 0; at < list.length; at++) {
    const character = list[at] ?? '';
    if (character === '\\') item += character + (list[++at] ?? '');
    else if (character === ',' && depth === 0) {
      items.push(item);
      item = '';
    } else {
      if (character === '{') depth += 1;
      if (character === '}') depth = Math.max(0, depth - 1);
      item += character;
    }
  }
  return [...items, item].map((text) => text.trim()).filter((text) => text !== '');
}

/** Checks a whole list: null, or the rest of a sentence that begins with the field's name. */
export function checkPattern(list: string): string | null {
  for (const pattern of splitPatterns(list)) {
    try {
      compileUrlPattern(pattern);
    } catch (error) {
      return `: pattern "${pattern.slice(0, 100)}" ${(error as Error).message}`;
    }
  }
  return null;
}

interface Reader {
  readonly characters: readonly string[];
  at: number;
}

type Test = (character: string) => boolean;

/** For each position in the text: whether this part of a pattern can end there if it starts at one of `from`. */
type Part = (from: Uint8Array, text: readonly string[]) => Uint8Array;

const notSeparator: Test = (character) => character !== '.' && character !== '/';

function one(test: Test): Part {
  return (from, text) => step(from, new Uint8Array(from.length), text, test);
}

function many(test: Test): Part {
  return (from, text) => {
    const places = from.slice();
    return step(places, places, text, test);
  };
}

function step(from: Uint8Array, to: Uint8Array, text: readonly string[], test: Test): Uint8Array {
  for (let at = 0; at < text.length; at++) if (from[at] && test(text[at] ?? '')) to[at + 1] = 1;
  return to;
}

/** Reads to the end, or inside braces to `,` or `}`. */
function readSequence(reader: Reader, inBraces: boolean): Part {
  const { characters } = reader;
  const parts: Part[] = [];
  for (let character = characters[reader.at]; character !== undefined; character = characters[reader.at]) {
    if (inBraces && (character === ',' || character === '}')) break;
    reader.at += 1;
    if (character === '*') {
      const isDouble = characters[reader.at] === '*';
      while (characters[reader.at] === '*') reader.at += 1;
      parts.push(many(isDouble ? () => true : notSeparator));
    } else if (character === '?') parts.push(one(notSeparator));
    else if (character === '[') parts.push(one(readSet(reader)));
    else if (character === '{') parts.push(readAlternatives(reader));
    else parts.push(one(same(character === '\\' ? readEscaped(reader) : character)));
  }
  if (inBraces && reader.at === characters.length) throw new Error('has a "{" without its "}"');
  return (from, text) => parts.reduce((places, part) => part(places, text), from);
}

function same(expected: string): Test {
  return (character) => character === expected;
}

function readEscaped(reader: Reader): string {
  const character = reader.characters[reader.at++];
  if (character === undefined) throw new Error('ends with a backslash');
  return character;
}

function readAlternatives(reader: Reader): Part {
  const parts: Part[] = [];
  do parts.push(readSequence(reader, true));
  while (reader.characters[reader.at++] === ',');
  return (from, text) => {
    const ends = parts.map((part) => part(from, text));
    return from.map((_, at) => (ends.some((end) => end[at]) ? 1 : 0));
  };
}

function readSet(reader: Reader): Test {
  const negated = reader.characters[reader.at] === '!';
  if (negated) reader.at += 1;
  const ranges: [string, string][] = [];
  for (let character = reader.characters[reader.at++]; character !== ']'; character = reader.characters[reader.at++]) {
    if (character === undefined) throw new Error('has a "[" without its "]"');
    const low = character === '\\' ? readEscaped(reader) : character;
    const isRange = reader.characters[reader.at] === '-' && reader.characters[reader.at + 1] !== ']';
    const high = isRange ? (reader.characters[reader.at + 1] ?? '') : low;
    if (isRange) reader.at += 2;
    if (high < low) throw new Error(`has the range "${low}-${high}", which is empty`);
    ranges.push([low, high]);
  }
  if (ranges.length === 0) throw new Error('has an empty "[]"');
  return (character) => ranges.some(([low, high]) => character >= low && character <= high) !== negated;
}
