/**
 * The size of a regular expression when its repetitions are written out, as PostgreSQL does: `(a{1,200}){1,200}` has
 * 40,000 characters. A server process keeps up to 32 compiled ones, each of a hundred bytes or more for each of these.
 */

/** Characters and classes, with repetitions written out. Counts an invalid expression somehow. */
export function regexSize(pattern: string): number {
  const open: Sizes[] = [];
  let group: Sizes = { all: 0, last: 0 };
  for (let at = 0; at < pattern.length; at += 1) {
    const character = pattern[at]!;
    if (character === '(') {
      open.push(group);
      group = { all: 0, last: 0 };
    } else if (character === ')') {
      const inner = group.all;
      group = open.pop() ?? { all: 0, last: 0 };
      add(group, inner);
    } else if (character === '{') {
      bound.lastIndex = at;
      const [text, most] = bound.exec(pattern) ?? [];
      if (text === undefined) continue;
      const times = Math.max(1, Number(most));
      group.all += group.last * (times - 1);
      group.last *= times;
      at += text.length - 1;
    } else if (!'*+?|'.includes(character)) {
      add(group, 1);
      if (character === '\\') at += 1;
      if (character === '[') at = endOfClass(pattern, at);
    }
  }
  return open.reduce((sum, { all }) => sum + all, group.all);
}

/** Where a class such as `[^]a-z]` ends. PostgreSQL refuses one without an end. */
function endOfClass(pattern: string, at: number): number {
  const first = pattern[at + 1] === '^' ? at + 2 : at + 1;
  const end = pattern.indexOf(']', first + 1);
  return end === -1 ? pattern.length : end;
}

/** Of a group: of all in it, and of what a repetition would repeat. */
interface Sizes {
  all: number;
  last: number;
}

function add(group: Sizes, size: number): void {
  group.all += size;
  group.last = size;
}

/** How often something is repeated: `{3}`, `{2,}`, `{1,200}`. */
const bound = /\{(?:\d{1,9},)?(\d{1,9}),?\}/y;
