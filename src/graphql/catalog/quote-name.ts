/**
 * SQL names as people write them: quoted only if PostgreSQL requires it. For messages and SQL that an operator pastes;
 * the gateway's own statements quote every name.
 */

/** Words that cannot name a table or column unquoted, in PostgreSQL 14 to 18 (`pg_get_keywords()`, R and T). */
const reserved: ReadonlySet<string> = new Set(
  [
    'all analyse analyze and any array as asc asymmetric authorization binary both case cast check',
    'collate collation column concurrently constraint create cross current_catalog current_date',
    'current_role current_schema current_time current_timestamp current_user default deferrable desc',
    'distinct do else end except false fetch for foreign freeze from full grant group having ilike in',
    'initially inner intersect into is isnull join lateral leading left like limit localtime',
    'localtimestamp natural not notnull null offset on only or order outer overlaps placing primary',
    'references returning right select session_user similar some symmetric system_user table tablesample',
    'then to trailing true union unique user using variadic verbose when where window with',
  ].flatMap((line) => line.split(' ')),
);

/** One identifier, `loan` or `"Loan"`. */
export function quoteName(name: string): string {
  const isPlain = /^[a-z_][a-z0-9_$]*$/.test(name) && !reserved.has(name);
  return isPlain ? name : quoteAlways(name);
}

/** One identifier in quotes, `"loan"`. */
export function quoteAlways(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Identifiers joined by dots, `lib.loan.due_on`. */
export function quotePath(...names: readonly string[]): string {
  return names.map(quoteName).join('.');
}
