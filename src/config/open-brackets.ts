/** Finds the bracket of a TOML file that is still open where its parser gives up, lines later. */

/** An array or inline table that began before a line. */
interface OpenBracket {
  readonly bracket: '[' | '{';
  /** From 1. */
  readonly line: number;
}

/** Strings, comments and brackets of a line. */
const tokens = /"(?:\\.|[^"\\])*"|'[^']*'|#.*|[[\]{}]/g;

/** The innermost one that is open at the begin of a line; null if none is known to be. */
export function openedBefore(text: string, line: number): OpenBracket | null {
  // Brackets in a text of several lines are no brackets.
  if (/"""|'''/.test(text)) return null;
  const open: OpenBracket[] = [];
  for (const [index, before] of text
    .split('\n')
    .slice(0, line - 1)
    .entries()) {
    for (const [token] of before.matchAll(tokens)) {
      if (token === '[' || token === '{') open.push({ bracket: token, line: index + 1 });
      else if (token === ']' || token === '}') open.pop();
    }
  }
  return open.at(-1) ?? null;
}
