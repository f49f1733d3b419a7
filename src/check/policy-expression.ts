/**
 * Analyzes the expressions of row security policies as PostgreSQL prints them (`pg_get_expr` with an empty search
 * path), for advice on speed. Text in, text out; nothing is executed.
 */

/** Strings, quoted names, calls that are constant within a statement, parentheses and the keywords of a sub-select. */
const tokens =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|\bauth\.(?:uid|jwt|role|email)\(\)|\bcurrent_setting\('(?:[^']|'')*'::text(?:, (?:true|false))?\)|[()]|\bSELECT\b|\bFROM\b/g;

interface Group {
  readonly parent: Group | null;
  isSelect: boolean;
  hasFrom: boolean;
}

/**
 * Wraps calls about the caller (`auth.uid()` and so on, `current_setting('…')`) in a sub-select, so that PostgreSQL
 * computes them once per statement, not per row. Leaves wrapped ones unchanged.
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

/** Whether the innermost sub-select around it reads no table. */
function isComputedOnce(group: Group | null): boolean {
  if (group === null) return false;
  return group.isSelect ? !group.hasFrom : isComputedOnce(group.parent);
}

/**
 * Whether the expression compares the column for equality with a value that is not a constant, which an index can speed
 * up.
 *
 * @param column Its SQL name, quoted where needed.
 */
export function comparesColumn(expression: string, column: string): boolean {
  const text = expression.replaceAll(/'(?:[^']|'')*'/g, "''");
  const name = `(?:(?:"(?:[^"]|"")+"|[a-z_][\\w$]*)\\.)?${RegExp.escape(column)}`;
  const onTheLeft = new RegExp(
    `(?<![\\w$".])${name} (?:IN \\( SELECT|= (?!''|\\(?-?\\d|true|false|ANY \\((?:ARRAY\\[|'')))`,
  );
  const onTheRight = new RegExp(`(?<!''(?:::[\\w ."]+)?|\\d) = ${name}(?![\\w$".(])`);
  return onTheLeft.test(text) || onTheRight.test(text);
}

/**
 * Whether the expression does nothing but compare one column with a property of the caller, so that it says whose a row
 * is.
 *
 * @param columns SQL names of all columns that it reads.
 */
export function comparesCaller(expression: string, columns: readonly string[]): boolean {
  const [column, ...others] = columns;
  if (column === undefined || others.length > 0 || !comparesColumn(expression, column)) return false;
  const text = expression.replaceAll(/"(?:[^"]|"")*"|'(?:[^']|'')*'/g, "''");
  const operators = text.match(/[-<>=~!@#%^&|+*/?]+/g) ?? [];
  const compares = operators.filter((operator) => operator !== '->' && operator !== '->>');
  if (compares.length !== 1 || /\b(?:AND|OR|NOT|FROM|CASE|IS|IN|ANY|ALL|LIKE|EXISTS)\b/.test(text)) return false;
  return [...expression.matchAll(tokens)].some(([token]) => /^(?:auth\.|current_setting)/.test(token));
}
