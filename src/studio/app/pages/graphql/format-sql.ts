/** SQL for reading: one clause per line. */
import { formatDialect, postgresql } from 'sql-formatter';

/** The same statement in lines. Unparsable text stays unchanged. */
export function formatSql(statement: string): string {
  try {
    return formatDialect(statement, { dialect: postgresql, expressionWidth: 80 });
  } catch {
    return statement;
  }
}
