/**
 * Prints JSON as text that is joined from pieces. For what is large: making a JSON value of a long list and text of that
 * looks at the types of every row twice, and copies all of it once more.
 */
import { join, literal, type Sql, sql } from './sql.ts';

/** A piece of JSON text: a constant, or an expression of type `text` that is never null. */
export type TextPart = string | Sql;

/** What stands around a text. */
export interface Frame {
  readonly before: string;
  readonly after: string;
}

/** The pieces as one expression of type `text`. */
export function printText(parts: readonly TextPart[]): Sql {
  const merged: TextPart[] = [];
  for (const part of parts) {
    const last = merged.at(-1);
    if (typeof part === 'string' && typeof last === 'string') merged[merged.length - 1] = last + part;
    else if (part !== '') merged.push(part);
  }
  const pieces = merged.map((part) => (typeof part === 'string' ? sql`${literal(part)}::pg_catalog.text` : part));
  return join(pieces, sql` operator(pg_catalog.||) `);
}

/** An object of pieces, in order. */
export function objectParts(
  members: readonly { readonly key: string; readonly parts: readonly TextPart[] }[],
): TextPart[] {
  return ['{', ...members.flatMap(({ key, parts }, index) => [`${index === 0 ? '' : ','}"${key}":`, ...parts]), '}'];
}

/** Any value as JSON text; SQL null is JSON null. */
export function jsonText(value: Sql): Sql {
  return sql`coalesce(pg_catalog.to_json(${value})::pg_catalog.text, 'null')`;
}
