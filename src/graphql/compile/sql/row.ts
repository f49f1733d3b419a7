/** References to the current row: a table's alias, or a subquery that passes on requested columns. */
import type { QualifiedName, ResultColumn, Table } from '../../model/model.ts';
import type { OrderTerm } from '../plan/plan.ts';
import { ident, join, type Sql, sql } from './sql.ts';

/** The current row. */
export interface Row {
  column(column: ResultColumn): Sql;
  /** The row as one value of the table's row type, for computed fields. */
  whole(): Sql;
  /** Its columns may be expressions, which must not be repeated. */
  readonly isComputed?: boolean;
  /** The element that conditions on elements are about; absent: none. */
  readonly element?: Sql;
  /** Condition for aggregated rows; absent: all. */
  readonly counted?: Sql | null;
}

/** The source of a connection's rows, for repeated reading. */
export interface RowSet {
  readonly table: Table;
  /** False for a routine's rows, which its table might not be able to hold. */
  readonly isStored: boolean;
  /** Those of one parent row, usually few. */
  readonly ofParent: boolean;
  /** @param order The requested order of the rows. @param part Which of them are read; all by default. */
  scan(order: readonly OrderTerm[], part?: Part): Scan;
}

/**
 * Rows by the first value of their order: those with one, those whose value is null, and those without the related row
 * that would have it. For rows ordered by their own values, the latter are none.
 */
export type Part = 'all' | 'values' | 'nulls' | 'missing';

/** One scan of rows. */
interface Scan {
  readonly from: Sql;
  readonly row: Row;
  /** The condition of relationship and filter. */
  readonly condition: Sql | null;
  /** The condition of the part. */
  readonly isInPart: Sql | null;
  /** The values of the order's terms. */
  readonly sortKeys: readonly Sql[];
}

/** Names of one statement, assigned in printing order, so that equal plans print equal text. */
export class Names {
  #count = 0;

  /** A name unique in this statement, for example `t3`. */
  next(prefix: string): string {
    this.#count += 1;
    return `${prefix}${this.#count}`;
  }
}

/** A row of `table`, or of a routine that returns its rows, in scope under `alias`. */
export function directRow(alias: string, table: QualifiedName): Row {
  return {
    column: (column) => ident(alias, column.name),
    whole: () => sql`${everythingOf(alias)}::${ident(table.namespace, table.name)}`,
  };
}

/** A row of which everything is null. */
export function nullRow(table: QualifiedName): Row {
  const whole = sql`null::${ident(table.namespace, table.name)}`;
  return { column: ({ name }) => sql`(${whole}).${ident(name)}`, whole: () => whole };
}

/**
 * A from item as one value; a selected one needs a cast to its own type, or it means all its columns. The bare alias
 * would be ambiguous if a column in scope (or a response key) has that name.
 */
export function everythingOf(alias: string): Sql {
  return sql`(${ident(alias)}.*)`;
}

/**
 * A row of a subquery. Columns are passed on under numbered names (`c3`), so none clashes with ours; the subquery
 * selects the requested columns, after everything above it is printed.
 */
export class SubqueryRow implements Row {
  readonly alias: string;
  readonly #columns = new Map<number, ResultColumn>();
  readonly #sortKeys = new Set<number>();
  #whole = false;

  constructor(alias: string) {
    this.alias = alias;
  }

  column(column: ResultColumn): Sql {
    this.#columns.set(column.number, column);
    return ident(this.alias, handedOnName(column));
  }

  whole(): Sql {
    this.#whole = true;
    return ident(this.alias, 'r');
  }

  /** The values of an order's terms; always the same order. */
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

  /** The same columns for an outer subquery, under their names there. */
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

function handedOnName(column: ResultColumn): string {
  return `c${column.number}`;
}

/** `a, b, c`. */
export function list(pieces: readonly Sql[]): Sql {
  return join(pieces, sql`, `);
}
