/**
 * Prints cursors and node ids: Base64 of PostgreSQL's own `jsonb` text (graphql.md 6.2, 8.1), byte for byte.
 */
import type { Table } from '../../model/model.ts';
import type { OrderTerm } from '../plan/plan.ts';
import { keyColumns } from '../plan/plan-order.ts';
import { list, type Row } from './print-row.ts';
import { join, literal, type Sql, sql } from './sql.ts';

/** The cursor of a row: one element for each column of the effective order. */
export function printCursor(order: readonly OrderTerm[], row: Row): Sql {
  return encode(order.map(({ column }) => row.column(column)));
}

/** The node id of a row of `table`. */
export function printNodeId(table: Table, row: Row): Sql {
  const names = [table.namespace, table.name].map((name) => sql`${literal(name)}::pg_catalog.text`);
  return encode([...names, ...keyColumns(table).map((column) => row.column(column))]);
}

// A function takes at most 100 arguments, and an order may name more columns than that.
const maxArguments = 50;

// `encode` breaks lines after 76 characters.
function encode(elements: readonly Sql[]): Sql {
  const parts: Sql[] = [];
  for (let start = 0; start < elements.length; start += maxArguments) {
    parts.push(sql`pg_catalog.jsonb_build_array(${list(elements.slice(start, start + maxArguments))})`);
  }
  const array = sql`(${join(parts, sql` operator(pg_catalog.||) `)})::pg_catalog.text`;
  return sql`pg_catalog.translate(pg_catalog.encode(pg_catalog.convert_to(${array}, 'UTF8'), 'base64'), e'\\n', '')`;
}
