/** SQL for reading: one clause per line. */
import { formatDialect, postgresql } from 'sql-formatter';

interface FormatOptions {
  readonly keywordCase?: 'preserve' | 'lower';
}

/** The same statement in lines. Unparsable text stays unchanged. */
export function formatSql(statement: string, { keywordCase = 'preserve' }: FormatOptions = {}): string {
  try {
    return joinShort(formatDialect(statement, { dialect: postgresql, expressionWidth: 80, keywordCase }));
  } catch {
    return statement;
  }
}

/** Longest part in parentheses that is put into one line. */
const maxJoined = 56;
const inParentheses = /\(\n *([^()]*(?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)[^()]*)*)\n *\)/g;

/** Short subqueries in one line, which the formatter spreads over five, as `(select auth.uid())`, with the parentheses around. */
function joinShort(text: string): string {
  const joined = text.replace(inParentheses, (whole, inside: string) => {
    const lines = inside.split('\n');
    // A comment, or a text of several lines, would become another one.
    const isPlain = lines.every((line) => !/--|\$\$/.test(line) && line.split(/['"]/).length % 2 === 1);
    if (!isPlain || (lines.length > 1 && !/^select$/i.test(lines[0]!))) return whole;
    const line = `(${lines.map((each) => each.trim()).join(' ')})`;
    return line.length <= maxJoined ? line : whole;
  });
  return joined === text ? text : joinShort(joined);
}

/** Longer ones have lines. */
const maxWidth = 72;

/** A condition as the catalog has it, between its parentheses: in one line, or in lines below each other if that says the same. */
export function formatCondition(condition: string): string {
  const asItIs = `(${condition})`;
  if (condition.length <= maxWidth && !condition.includes('\n')) return asItIs;
  const prefix = 'select';
  // Only a statement can be formatted; its conditions are two blanks in.
  const statement = formatSql(`${prefix} ${condition}`, { keywordCase: 'lower' });
  const lines = statement.startsWith(`${prefix}\n`) ? statement.slice(prefix.length) : `\n  ${condition}`;
  const calls = new Set([...condition.matchAll(/(?<![\w"])[\w"]+(?=\()/g)].map(([name]) => name));
  // It takes functions that it does not know for keywords.
  const joined = lines.replace(/(?<![\w"])([\w"]+) \(/g, (text, name: string) => (calls.has(name) ? `${name}(` : text));
  const formatted = `(${joined.replaceAll('\n', '\n  ')}\n  )`;
  return wordsOf(formatted) === wordsOf(asItIs) ? formatted : asItIs;
}

const quotedOrNot = /'(?:[^']|'')*'|"(?:[^"]|"")*"|[^'"]+/g;

/** SQL without the blanks, lines and capital letters that are for its readers; texts and names in quotes as they are. */
function wordsOf(sql: string): string {
  return sql.replaceAll(quotedOrNot, (piece) =>
    /^['"]/.test(piece)
      ? piece
      : piece
          .toLowerCase()
          .replaceAll(/\s+/g, ' ')
          .replaceAll(/ ?([()]) ?/g, '$1'),
  );
}
