/** Rows that the objects of an insert may meet: where they are, which of them the role sees, and which match a filter. */
import { conditionOf, pathOf, query, queryAll, type Run, telling } from './statements.ts';
import type { Value } from './values.ts';
import type { Table } from './world.ts';
import type { Conflict } from './write.ts';

/** Where each row of the table is stored, by its key: an update moves it. */
export async function versions(run: Run, table: Table): Promise<ReadonlyMap<string, string>> {
  const text = `select ${keyOf(table)} as key, tableoid || ' ' || ctid as at from ${pathOf(table.base ?? table)} as t`;
  const rows = await queryAll(run, text, []);
  return new Map(rows.map((row) => [String(row.key), String(row.at)]));
}

/** Rows that objects may meet, by their keys. */
export interface Met {
  /** Those that do not match the filter. */
  readonly kept: ReadonlySet<string>;
  /** Those that the role does not see: they answer no filter. */
  readonly hidden: ReadonlySet<string>;
}

/**
 * Asks the filter before any object is written, as one statement for all of them does: it sees neither the rows of
 * others of them nor what triggers change then. Null where the role cannot tell rows apart.
 */
export async function lookUp(
  run: Run,
  table: Table,
  { filter }: Conflict,
  rows: ReadonlyMap<string, string>,
): Promise<Met | null> {
  const path = pathOf(table);
  const columns = table.key.map((name) => `has_column_privilege('${path}', '${name}', 'select')`);
  const [readable] = await query(run, `select ${columns.join(' and ')} as it`, []);
  if (readable?.it !== true) return null;
  const values: Value[] = [];
  const condition = conditionOf(filter, values);
  const found = await query(run, `select ${keyOf(table)} as key, ${condition} as matches from ${path} as t`, values);
  const seen = new Set(found.map(({ key }) => String(key)));
  const hidden = new Set([...rows.keys()].filter((key) => !seen.has(key)));
  if (hidden.size > 0) run.events.add(telling.rowsHidden);
  return { kept: new Set(found.filter(({ matches }) => matches !== true).map(({ key }) => String(key))), hidden };
}

/** The key of a row as text, of the alias `t`. */
export function keyOf(table: Table): string {
  return `row(${table.key.map((name) => `t.${name}`).join(', ')})::text`;
}
