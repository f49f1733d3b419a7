/**
 * Where our own statements run: on any connection of a pool, or in one transaction.
 */
import type { Rows } from './system-rows.ts';

/** Runs statements one after the other. */
export interface Queryable {
  /**
   * Runs one statement and returns its rows, with the driver's usual types (`int8` and `numeric` are strings, `json` is
   * parsed, timestamps are `Date`). Names are looked up in `pg_catalog` alone: everything else is written with its schema.
   *
   * In a transaction, several statements, separated by semicolons, are possible without values; the rows are the last one's.
   * There, statements with values that are asked for at the same time (`Promise.all`) run in that order in one
   * round trip, and after one that fails none runs: all that follow fail with it.
   *
   * @param values Text, numbers, booleans, dates, bytes, null, and lists of text; the statement says as what each is read.
   * @throws DatabaseError `statement`, `timeout`, `unavailable` (a write may have been committed then), `overloaded`.
   */
  query(text: string, values?: readonly unknown[]): Promise<Rows>;
  /**
   * Of a transaction: says that code of a user runs in it from here on, such as a hook, or what is called while a plan is made.
   * Nothing named is used any more, and the connection is reset before anybody else gets it.
   */
  noteUserCode?(): void;
}
