/**
 * Reads the expressions of row security policies as PostgreSQL prints them (`pg_get_expr` with an empty search path), for
 * advice on their speed. Text goes in and text comes out; nothing here is run by us.
 */

/** Strings, quoted names, calls that are the same for every row of a statement, parentheses and the words of a sub-select. */
const tokens =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|\bauth\.(?:uid|jwt|role|email)\(\)|\bcurrent_setting\('(?:[^']|'')*'::text(?:, (?:true|false))?\)|[()]|\bSELECT\b|\bFROM\b/g;

/** A pair of parentheses. */
interface Group {
  readonly parent: Group | null;
  isSelect: boolean;
  hasFrom: boolean;
}

/**
 * Wraps each call that asks who the caller is, `auth.uid()` and the like or `current_setting('…')`, in a sub-select, so that
 * PostgreSQL computes it once for the statement and not once for each row. Those that are wrapped stay as they are.
 */
export function wrapCalls(expression: string): string {
  const calls: { readonly start: number; readonly text: string; readonly group: Group }[] = [];
  let group: Group = { parent: null, isSelect: false, hasFrom: false };
  for (const { 0: text, index: start } of expression.matchAll(tokens)) {
    if (text === '(') group = { parent: group, isSelect: false, hasFrom: false };
    else if (text === ')') group = group.parent ?? group;
    else if (text === 'SELECT') group.isSelect = true;
    else if (text === 'FROM') group.hasFrom = true;
    else if (!/^['"]/.test(text)) calls.push({ start, text, group });
  }
  return calls
    .filter((call) => !isComputedOnce(call.group))
    .reduceRight(
      (rest, { start, text }) => `${rest.slice(0, start)}( SELECT ${text})${rest.slice(start + text.length)}`,
      expression,
    );
}

/** The nearest sub-select around it reads no table. */
function isComputedOnce(group: Group | null): boolean {
  if (group === null) return false;
  return group.isSelect ? !group.hasFrom : isComputedOnce(group.parent);
}

/**
 * Whether the expression compares the column for equality with something that is not a constant, which an index can serve.
 *
 * @param column As SQL writes it, quoted where needed.
 */
export function comparesColumn(expression: string, column: string): boolean {
  const text = expression.replaceAll(/'(?:[^']|'')*'/g, "''");
  const name = `(?:(?:"(?:[^"]|"")+"|[a-z_][\\w$]*)\\.)?${column.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')}`;
  const onTheLeft = new RegExp(
    `(?<![\\w$".])${name} (?:IN \\( SELECT|= (?!''|\\(?-?\\d|true|false|ANY \\((?:ARRAY\\[|'')))`,
  );
  const onTheRight = new RegExp(`(?<!''(?:::[\\w ."]+)?|\\d) = ${name}(?![\\w$".(])`);
  return onTheLeft.test(text) || onTheRight.test(text);
}
