/**
 * The difference of two texts line by line, as people know it from `diff -u`: lines that went with `-`, lines that came with
 * `+`, and a few around them.
 */

/** Lines shown around a change. */
const contextLines = 3;

/** Longest middle part, in lines, that is compared line by line; a longer one is shown as replaced. */
const maxLines = 2000;

interface Line {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
}

/** The lines of the difference; empty where the texts are the same. */
export function diffTexts(before: string, after: string): readonly string[] {
  if (before === after) return [];
  const lines = compareLines(before.split('\n'), after.split('\n'));
  const isNear = lines.map((_, index) =>
    lines.slice(Math.max(0, index - contextLines), index + contextLines + 1).some(({ sign }) => sign !== ' '),
  );
  return lines.flatMap(({ sign, text }, index) => {
    if (!isNear[index]) return isNear[index - 1] ? ['...'] : [];
    return [`${sign} ${text}`];
  });
}

function compareLines(before: readonly string[], after: readonly string[]): readonly Line[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (
    end < before.length - start &&
    end < after.length - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  ) {
    end += 1;
  }
  const same = (texts: readonly string[]): Line[] => texts.map((text) => ({ sign: ' ', text }));
  return [
    ...same(before.slice(0, start)),
    ...compareMiddle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...same(before.slice(before.length - end)),
  ];
}

/** Follows a longest common subsequence. */
function compareMiddle(before: readonly string[], after: readonly string[]): readonly Line[] {
  const gone = before.map((text): Line => ({ sign: '-', text }));
  const come = after.map((text): Line => ({ sign: '+', text }));
  if (before.length > maxLines || after.length > maxLines) return [...gone, ...come];
  const lengths = commonLengths(before, after);
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      lines.push({ sign: ' ', text: before[i]! });
      i += 1;
      j += 1;
    } else if (j >= after.length || (i < before.length && lengths[i + 1]![j]! >= lengths[i]![j + 1]!)) {
      lines.push(gone[i]!);
      i += 1;
    } else {
      lines.push(come[j]!);
      j += 1;
    }
  }
  return lines;
}

/** `lengths[i][j]`: of the longest common subsequence of what follows line i and line j. */
function commonLengths(before: readonly string[], after: readonly string[]): readonly Uint16Array[] {
  const lengths = Array.from({ length: before.length + 1 }, () => new Uint16Array(after.length + 1));
  for (let i = before.length - 1; i >= 0; i -= 1) {
    for (let j = after.length - 1; j >= 0; j -= 1) {
      lengths[i]![j] =
        before[i] === after[j] ? lengths[i + 1]![j + 1]! + 1 : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!);
    }
  }
  return lengths;
}
