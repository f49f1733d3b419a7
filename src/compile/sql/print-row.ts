/**
 * How the printers refer to the current row: a table's alias, or a subquery that hands on the columns somebody asked for.
 */
import type { Column, QualifiedName, Table } from '../../model/model.ts';
import type { OrderTerm } from '../plan/plan.ts';
import { ident, join, type Sql, sql } from './sql.ts';

/** The current row. */
export interface Row {
  column(column: Column): Sql;
  /** The row as one value of the table's row type, for computed fields. */
  whole(): Sql;
  /** Aggregates are over those rows alone that meet it; without it, over all. */
  readonly counted?: Sql | null;
}

/** Where the rows of a connection are read from, as often as it takes. */
export interface RowSet {
  readonly table: Table;
  /** False where a routine makes them, which may be such as the table could not hold. */
  readonly isStored: boolean;
  /** @param order What the rows are to be ordered by. */
  scan(order: readonly OrderTerm[]): Scan;
}

/** One reading of rows. */
interface Scan {
  readonly from: Sql;
  readonly row: Row;
  /** What relationship and filter ask of the row. */
  readonly condition: Sql | null;
  /** The values of the terms of the order. */
  readonly sortKeys: readonly Sql[];
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
  readonly #sortKeys = new Set<number>();
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

  /** The values of the terms of an order; always the same order. */
  sortKeys(order: readonly OrderTerm[]): readonly Sql[] {
    return order.map(({ expression }, index) => {
      if (expression.kind === 'column') return this.column(expression.column);
      this.#sortKeys.add(index);
      return ident(this.alias, sortKeyName(index));
    });
  }

  /** The select list of the subquery, reading from `row`; pieces like `t1."id" as "c1"`. */
  selectList(row: Row, sortKeys: readonly Sql[] = []): readonly Sql[] {
    const columns = [...this.#columns.values()].sort((a, b) => a.number - b.number);
    return [
      ...columns.map((column) => sql`${row.column(column)} as ${ident(handedOnName(column))}`),
      ...this.#sortKeyIndexes().map((index) => sql`${sortKeys[index]!} as ${ident(sortKeyName(index))}`),
      ...(this.#whole ? [sql`${row.whole()} as "r"`] : []),
    ];
  }

  /** The same columns as a subquery around the subquery sees them, under their names there. */
  passList(alias: string): readonly Sql[] {
    const columns = [...this.#columns.values()].sort((a, b) => a.number - b.number).map(handedOnName);
    const names = [...columns, ...this.#sortKeyIndexes().map(sortKeyName), ...(this.#whole ? ['r'] : [])];
    return names.map((name) => ident(alias, name));
  }

  #sortKeyIndexes(): readonly number[] {
    return [...this.#sortKeys].sort((a, b) => a - b);
  }
}

function sortKeyName(index: number): string {
  return `k${index + 1}`;
}

function handedOnName(column: Column): string {
  return `c${column.number}`;
}

/** `a, b, c`. */
export function list(pieces: readonly Sql[]): Sql {
  return join(pieces, sql`, `);
}
