/**
 * Prints JSON as text joined from pieces, for large results: making a JSON value of a long list and then its text
 * inspects each row's types twice and copies everything again. Without it, nested rows (10 × 5 × 5) cost PostgreSQL
 * 1.10 times as much.
 */

import { joinConstants } from '../answer/row-layout.ts';
import { join, literal, type Sql, sql } from '../sql/sql.ts';

/** A piece of JSON text: a constant, or a non-null expression of type `text`. */
export type TextPart = string | Sql;

/** The text around a text. */
export interface Frame {
  readonly before: string;
  readonly after: string;
}

/** The pieces as one expression of type `text`. */
export function printText(parts: readonly TextPart[]): Sql {
  const pieces = joinConstants(parts).map((part) =>
    typeof part === 'string' ? sql`${literal(part)}::pg_catalog.text` : part,
  );
  return join(pieces, sql` operator(pg_catalog.||) `);
}

/** Any value as JSON text; SQL null is JSON null. */
export function jsonText(value: Sql): Sql {
  return sql`coalesce(pg_catalog.to_json(${value})::pg_catalog.text, 'null')`;
}
