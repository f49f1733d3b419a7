/**
 * Expressions that fail on purpose: PostgreSQL rolls back, and the text of its error tells what was wrong.
 *
 * The failure is the cast of a text to a number. The text contains a column, or the planner would evaluate the cast
 * before the condition that leads to it. `graphql/execute/answer/public-error` recognizes the sentinels.
 */
import { literal, type Sql, sql } from './sql.ts';

/** How each text begins. */
export const sentinels = {
  /** More rows than `atMost`; their number follows. */
  atMost: 'pgreflect:at_most:',
  /** A value does not fit its operator; the operator and the field follow. */
  operand: 'pgreflect:operand:',
  /** Two entries of a list of updates have the same row. */
  sameRow: 'pgreflect:same_row:',
  /** A row that an upsert meets and does not see. */
  unseen: 'pgreflect:unseen:',
  /** The same through a view, which may hide the row for good. */
  unshown: 'pgreflect:unshown:',
  /** A row that others depend on was not inserted. */
  suppressed: 'pgreflect:suppressed:',
  /** The key of a row that others depend on is not known. */
  noKey: 'pgreflect:no_key:',
  /** A row that is linked by a key was not found, or not changed. */
  notLinked: 'pgreflect:not_linked:',
  /** Related rows are inserted for another number of rows than one. */
  notOne: 'pgreflect:not_one:',
  /** The role may not see a row as it is after all changes. */
  hidden: 'pgreflect:hidden:',
  /** An object of the answer is longer than those that need not be counted. */
  longObject: 'pgreflect:long_object:',
  /** The objects of an answer take more than it may have. */
  tooLarge: 'pgreflect:too_large:',
} as const;

/** Fails with the sentinel and a text after it. The type is `int4`. @param detail Contains a column. */
export function printFailure(sentinel: (typeof sentinels)[keyof typeof sentinels], detail: Sql): Sql {
  return sql`(${literal(sentinel)} operator(pg_catalog.||) ${detail})::pg_catalog.int4`;
}
