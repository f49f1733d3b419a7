/** Classifies a JSON path: PostgreSQL has one operator for paths and one for predicates. */

/**
 * The kind of a JSON path (PostgreSQL manual, "The SQL/JSON Path Language").
 *
 * - `predicate`: true or false, such as `$.a > 1`.
 * - `path`: finds items or not, such as `$.a ? (@ > 1)`. Also any unparsable text.
 * - `variable`: uses a variable, but there are none.
 * - `repeated`: has `**` more than once. Each multiplies the previous result, all in memory.
 */
export type JsonPathKind = 'predicate' | 'path' | 'variable' | 'repeated';

/** A comment, variable, string, name or operator; each in one step, even if unterminated. */
const token =
  /\/\*(?:.*?\*\/|.*)|\$?"(?:[^"\\]+|\\.)*(?:"|\\?$)|\$?(?:\\.|[^ \t\n\r\f?%$.[\]{}()|&!=<>@#,*:\-+/\\"])+|&&|\|\||\*\*|[<>=!]=|<>|[^ \t\n\r\f]/gs;

const predicateTokens: ReadonlySet<string> = new Set([
  ...['==', '!=', '<>', '<', '<=', '>', '>=', '&&', '||', '!'],
  ...['exists', 'is', 'starts', 'like_regex'],
]);

/** The kind of a JSON path. */
export function readJsonPath(text: string): JsonPathKind {
  let [depth, outside, predicate, repeated] = [0, Infinity, Infinity, 0];
  let previous = '';
  for (const [found] of text.matchAll(token)) {
    if (found.startsWith('/*')) continue;
    if (found.length > 1 && found.startsWith('$')) return 'variable';
    if (found === '**') repeated += 1;
    if ('([{'.includes(found)) depth += 1;
    else if (')]}'.includes(found)) depth -= 1;
    else {
      outside = Math.min(outside, depth);
      // After a period it is a key.
      if (previous !== '.' && predicateTokens.has(unescapeJsonPath(found))) predicate = Math.min(predicate, depth);
    }
    previous = found;
  }
  if (repeated > 1) return 'repeated';
  // The whole predicate may be in parentheses.
  return predicate < Infinity && predicate === outside ? 'predicate' : 'path';
}

/** The text without escapes, which occur in strings, names and keywords. */
function unescapeJsonPath(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replaceAll(
    /\\(?:u\{([0-9a-f]{1,6})\}|u([0-9a-f]{4})|x([0-9a-f]{2})|(.))/gis,
    (_, ...groups: unknown[]) => {
      const [long, four, two, plain] = groups as (string | undefined)[];
      if (plain !== undefined) return plain;
      const code = Number.parseInt((long ?? four ?? two)!, 16);
      return code > 0x10ffff ? '' : String.fromCodePoint(code);
    },
  );
}

/**
 * Whether the path may contain a regular expression with a back reference: a backslash and a digit, in any notation.
 */
export function hasBackReference(path: string): boolean {
  return /\\[1-9ux]/.test(path) && unescapeJsonPath(path).includes('like_regex');
}
