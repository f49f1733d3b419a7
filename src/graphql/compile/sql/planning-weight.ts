/**
 * How much memory PostgreSQL needs to plan a statement. It copies each sub-select once for every select around it, so a character counts
 * as often as there are selects around it. Measured on PostgreSQL 14 and 18: 70 to 100 bytes of the server process per unit. What stands
 * behind the names of tables comes on top (graphql/catalog/planned-tables.ts).
 */

/** What counts like so many characters: the node of a plan that each select has. */
const charactersOfSelect = 60;

/** Names and constants, so that brackets in them do not count; selects; brackets. */
const tokens = /"(?:[^"]|"")*"|e'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*'|\(select\b|[()]/gs;

/** The units of a statement's text. */
export function planningWeight(text: string): number {
  /** For each open bracket, whether it is that of a select. */
  const open: boolean[] = [];
  let [weight, selects, at] = [0, 0, 0];
  for (const { 0: token, index } of text.matchAll(tokens)) {
    if (token !== ')' && !token.startsWith('(')) continue;
    weight += (index - at) * selects;
    at = index;
    if (token === ')') {
      if (open.pop()) selects -= 1;
    } else {
      const isSelect = token !== '(';
      open.push(isSelect);
      if (isSelect) selects += 1;
      if (isSelect) weight += charactersOfSelect * selects;
    }
  }
  return weight;
}
