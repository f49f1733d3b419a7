/**
 * Where the parts of a connection (page, aggregates) read rows from.
 */
import type { Table } from '../../model/model.ts';
import type { Row } from './print-row.ts';
import type { Sql } from './sql.ts';

/** Where the rows of a connection are read from, as often as it takes. */
export interface RowSet {
  readonly table: Table;
  /** False where a routine makes them, which may be such as the table could not hold. */
  readonly isStored: boolean;
  /** A from item with a row of its own, and the condition that relationship and filter put on it. */
  scan(): { readonly from: Sql; readonly row: Row; readonly condition: Sql | null };
}
