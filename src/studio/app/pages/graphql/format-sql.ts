/** SQL for reading: one clause per line, with distinct keywords, names and texts. */
import { PostgreSQL } from '@codemirror/lang-sql';
import { classHighlighter, highlightCode } from '@lezer/highlight';
import { formatDialect, postgresql } from 'sql-formatter';

/** A piece of a statement with its class (`tok-keyword`); empty: none. */
interface SqlToken {
  readonly text: string;
  readonly kind: string;
}

/** The same statement in lines. Unparsable text stays unchanged. */
export function formatSql(statement: string): string {
  try {
    return formatDialect(statement, { dialect: postgresql, expressionWidth: 80 });
  } catch {
    return statement;
  }
}

/** The pieces of a statement, in their order. */
export function tokensOf(statement: string): readonly SqlToken[] {
  const tokens: SqlToken[] = [];
  const add = (text: string, kind: string): void => void tokens.push({ text, kind });
  highlightCode(statement, PostgreSQL.language.parser.parse(statement), classHighlighter, add, () => add('\n', ''));
  return tokens;
}
