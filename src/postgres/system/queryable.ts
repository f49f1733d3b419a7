/** Runs system statements, those of the gateway itself: on any connection of a pool, or in one transaction. */
import type { Rows } from './system-rows.ts';

/** Runs statements one after the other. */
export interface Queryable {
  /**
   * Runs one statement and returns its rows, with the driver's usual types (`int8` and `numeric` are strings, `json` is
   * parsed, timestamps are `Date`). Only `pg_catalog` is in the search path: qualify all other names.
   *
   * In a transaction, a text without values may contain several statements, separated by semicolons; the rows are the
   * last one's. Statements with values started together (`Promise.all`) run in order in one round trip; after a
   * failure, those behind it fail without running.
   *
   * @param values Text, numbers, booleans, dates, bytes, null, and lists of text; the statement casts each.
   * @throws DatabaseError `statement`, `timeout`, `unavailable` (a write may be committed then), `overloaded`.
   */
  query(text: string, values?: readonly unknown[]): Promise<Rows>;
  /**
   * For a transaction: user code runs in it from here on, such as a hook or a function called during planning. Named
   * statements are no longer used, and the connection is reset before its next use.
   */
  noteUserCode?(): void;
}
