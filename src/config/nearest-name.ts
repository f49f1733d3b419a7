/** Suggests the name that was probably meant: the nearest known one by edit distance, if near enough. */

/** The known name nearest to `typed`; null if none is within a third of its length, or within `most` edits. */
export function nearestName(typed: string, known: readonly string[], most = Number.POSITIVE_INFINITY): string | null {
  let best: string | null = null;
  let bestDistance = Math.min(Math.floor(typed.length / 3), most) + 1;
  for (const name of known) {
    const distance = editDistance(typed.toLowerCase(), name.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [name, distance];
  }
  return best;
}

/** Insertions, deletions, replacements and swaps of neighbors between two texts. */
function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      current[j] = Math.min(previous[j]! + 1, current[j - 1]! + 1, replaced);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) current[j] = Math.min(current[j]!, beforePrevious[j - 2]! + 1);
    }
    [beforePrevious, previous] = [previous, current];
  }
  return previous[b.length]!;
}
