/**
 * Patterns of the list of allowed redirect addresses: `*` and `?` stop at `.` and `/`, `**` does not, `[a-z]`, `[!a-z]`,
 * `{a,b}` and `\x` as in shells.
 *
 * A pattern is compiled to states and all of them are followed at once, so the time is bounded by pattern times text
 * whatever either says: patterns are an operator's, but the text is anybody's.
 */

/** A compiled pattern. */
export interface UrlPattern {
  /** Whether the whole text matches. */
  matches(text: string): boolean;
  /** Characters at the start of every text that matches which the pattern says itself, up to its first wild card. */
  readonly fixedLength: number;
}

type Test = (character: string) => boolean;

/** Reads one character if `test` accepts it and goes to `next`; without `test` it goes to every one of `next` at once. */
interface State {
  readonly test: Test | null;
  readonly next: number[];
}

/** Longest pattern and text in characters; browsers and servers stop earlier. */
const maxPatternLength = 2000;
const maxTextLength = 16_384;

/** Compiles a pattern. @throws Error with the rest of a sentence ("has …") where it is malformed. */
export function compileUrlPattern(pattern: string): UrlPattern {
  const characters = [...pattern];
  if (characters.length > maxPatternLength) throw new Error(`is longer than ${maxPatternLength} characters`);
  const states: State[] = [];
  const reader = { characters, at: 0 };
  const end = readSequence(reader, states, { from: addState(states, null), inBraces: false });
  return {
    matches: (text) => follow(states, end, [...text.slice(0, maxTextLength + 1)]),
    fixedLength: /^(?:[^*?[{\\]|\\.)*/su.exec(pattern)?.[0].replace(/\\(.)/gsu, '$1').length ?? 0,
  };
}

/** Splits a list at commas that stand neither in braces nor behind a backslash; blanks around items and empty items go. */
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

interface Place {
  readonly from: number;
  readonly inBraces: boolean;
}

function addState(states: State[], test: Test | null): number {
  return states.push({ test, next: [] }) - 1;
}

const notSeparator: Test = (character) => character !== '.' && character !== '/';

/** Adds the states of a sequence behind `from`; returns the last one. Ends at the end, or in braces at `,` and `}`. */
function readSequence(reader: Reader, states: State[], { from, inBraces }: Place): number {
  let last = from;
  const step = (test: Test) => {
    const state = addState(states, test);
    states[last]?.next.push(state);
    last = addState(states, null);
    states[state]?.next.push(last);
  };
  const star = (test: Test) => {
    const loop = addState(states, null);
    const state = addState(states, test);
    states[last]?.next.push(loop);
    states[loop]?.next.push(state);
    states[state]?.next.push(loop);
    last = loop;
  };
  for (
    let character = reader.characters[reader.at];
    character !== undefined;
    character = reader.characters[reader.at]
  ) {
    if (inBraces && (character === ',' || character === '}')) return last;
    reader.at += 1;
    if (character === '*') {
      const double = reader.characters[reader.at] === '*';
      while (reader.characters[reader.at] === '*') reader.at += 1;
      star(double ? () => true : notSeparator);
    } else if (character === '?') step(notSeparator);
    else if (character === '[') step(readSet(reader));
    else if (character === '{') last = readAlternatives(reader, states, last);
    else step(same(character === '\\' ? readEscaped(reader) : character));
  }
  if (inBraces) throw new Error('has a "{" without its "}"');
  return last;
}

function same(expected: string): Test {
  return (character) => character === expected;
}

function readEscaped(reader: Reader): string {
  const character = reader.characters[reader.at++];
  if (character === undefined) throw new Error('ends with a backslash');
  return character;
}

function readAlternatives(reader: Reader, states: State[], from: number): number {
  const end = addState(states, null);
  for (;;) {
    const first = addState(states, null);
    states[from]?.next.push(first);
    const last = readSequence(reader, states, { from: first, inBraces: true });
    states[last]?.next.push(end);
    if (reader.characters[reader.at++] === '}') return end;
  }
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

function follow(states: readonly State[], end: number, text: readonly string[]): boolean {
  if (text.length > maxTextLength) return false;
  let current = spread(states, [0]);
  for (const character of text) {
    const reached: number[] = [];
    for (const state of current) {
      const { test, next } = states[state] ?? { test: null, next: [] };
      if (test?.(character)) reached.push(...next);
    }
    if (reached.length === 0) return false;
    current = spread(states, reached);
  }
  return current.has(end);
}

/** The states and all that are reached from them without reading. */
function spread(states: readonly State[], from: readonly number[]): ReadonlySet<number> {
  const found = new Set<number>();
  const waiting = [...from];
  for (let state = waiting.pop(); state !== undefined; state = waiting.pop()) {
    if (found.has(state)) continue;
    found.add(state);
    const { test, next } = states[state] ?? { test: null, next: [] };
    if (test === null) waiting.push(...next);
  }
  return found;
}
