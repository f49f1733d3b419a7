/**
 * How the printers refer to the current row: a table's alias, or a subquery that hands on the columns somebody asked for.
 */
import type { Column, QualifiedName, Table } from '../../model/model.ts';
import { ident, join, type Sql, sql } from './sql.ts';

/** The current row. */
export interface Row {
  column(column: Column): Sql;
  /** The row as one value of the table's row type, for computed fields. */
  whole(): Sql;
}

/** Where the rows of a connection are read from, as often as it takes. */
export interface RowSet {
  readonly table: Table;
  /** False where a routine makes them, which may be such as the table could not hold. */
  readonly isStored: boolean;
  /** A from item with a row of its own, and the condition that relationship and filter put on it. */
  scan(): { readonly from: Sql; readonly row: Row; readonly condition: Sql | null };
}

/** Names of one statement, handed out in the order of printing, so that equal plans print equal text. */
export class Names {
  #count = 0;

  /** A name nobody else has in this statement, for example `t3`. */
  next(prefix: string): string {
    this.#count += 1;
    return `${prefix}${this.#count}`;
  }
}

/** A row of `table`, or of a routine that returns its rows, that is in scope under `alias`. */
export function directRow(alias: string, table: QualifiedName): Row {
  return {
    column: (column) => ident(alias, column.name),
    whole: () => sql`${everythingOf(alias)}::${ident(table.namespace, table.name)}`,
  };
}

/**
 * A from item as one value; where it is selected, it needs a cast to its own type, or it stands for all its columns. The
 * bare alias would do as well, unless some column in scope has the same name: a column of the database, or a response key.
 */
export function everythingOf(alias: string): Sql {
  return sql`(${ident(alias)}.*)`;
}

/**
 * A row of a subquery. Columns travel under names made of their numbers (`c3`), so no column can clash with a name of
 * ours; the subquery selects what was asked for, once everything above it has been printed.
 */
export class SubqueryRow implements Row {
  readonly alias: string;
  readonly #columns = new Map<number, Column>();
  #whole = false;

  constructor(alias: string) {
    this.alias = alias;
  }

  column(column: Column): Sql {
    this.#columns.set(column.number, column);
    return ident(this.alias, handedOnName(column));
  }

  whole(): Sql {
    this.#whole = true;
    return ident(this.alias, 'r');
  }

  /** The select list of the subquery, reading from `row`; pieces like `t1."id" as "c1"`. */
  selectList(row: Row): readonly Sql[] {
    const columns = [...this.#columns.values()].sort((a, b) => a.number - b.number);
    const list = columns.map((column) => sql`${row.column(column)} as ${ident(handedOnName(column))}`);
    return this.#whole ? [...list, sql`${row.whole()} as "r"`] : list;
  }

  /** The same columns as a subquery around the subquery sees them, under their names there. */
  passList(alias: string): readonly Sql[] {
    const names = [...this.#columns.keys()].sort((a, b) => a - b).map((number) => `c${number}`);
    return [...names, ...(this.#whole ? ['r'] : [])].map((name) => ident(alias, name));
  }
}

function handedOnName(column: Column): string {
  return `c${column.number}`;
}

/** `a, b, c`. */
export function list(pieces: readonly Sql[]): Sql {
  return join(pieces, sql`, `);
}
