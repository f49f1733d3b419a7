/** SQL that PostgreSQL has printed, for somebody else's connection. */

const pieces = /"(?:[^"]|"")*"|(?<![\w$])e'(?:[^']|'')*'|'(?:[^']|'')*'/gi;

/**
 * The same SQL with texts that mean the same whatever `standard_conforming_strings` is. Who owns a database can switch it off
 * for everybody who connects: a backslash in a text of theirs would then quote its last quote, and what follows would be SQL.
 */
export function portableSql(sql: string): string {
  return sql.replaceAll(pieces, (piece) =>
    piece.startsWith("'") && piece.includes('\\') ? `e${piece.replaceAll('\\', '\\\\')}` : piece,
  );
}
