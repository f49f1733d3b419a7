/**
 * Prints JSON as text that is joined from pieces. For what is large: making a JSON value of a long list and text of that
 * looks at the types of every row twice, and copies all of it once more. Without it, nested rows (10 × 5 × 5) cost PostgreSQL 1.10 times
 * as much.
 */

import { join, literal, type Sql, sql } from '../sql/sql.ts';
import { joinConstants } from './row-layout.ts';

/** A piece of JSON text: a constant, or an expression of type `text` that is never null. */
export type TextPart = string | Sql;

/** What stands around a text. */
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
