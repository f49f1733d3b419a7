/**
 * Prints the `aggregate` object of a connection: one scan computes every value once, and objects are built around them.
 *
 * Numeric results are JSON numbers: integers exact, fractions as double precision. Where the comment of the schema asks
 * for texts (`"numbers": "text"`), big numbers are exact texts.
 */
import { aggregateRow } from '../../model/codecs.ts';
import { comparedAs, type Table } from '../../model/model.ts';
import { scalarRow } from '../../model/scalars.ts';
import type { AggregateEntry, ColumnAggregate, GroupExpression, GroupKeys } from '../plan/plan.ts';
import { where } from '../sql/condition.ts';
import { printAggregated } from '../sql/expression.ts';
import { type Member, type ObjectPrinter, printEntries, printObject, type SizedValue } from '../sql/object.ts';
import type { SqlPrinter } from '../sql/printer.ts';
import { list, type Row, type RowSet } from '../sql/row.ts';
import { empty, ident, join, type Sql, sql } from '../sql/sql.ts';
import { maxBytesOf } from '../sql/value-bytes.ts';

/** The rows that values are computed of. */
interface ComputedRows {
  readonly row: Row;
  readonly table: Table;
  /** The alias of the select. */
  readonly alias: string;
}

type KeyPrinter = (index: number) => Sql | SizedValue;

/** Collects the values that a select computes, each once, and builds objects from them. */
export class Computed {
  readonly #printer: ObjectPrinter;
  readonly #row: Row;
  readonly #alias: string;
  readonly #isExact: boolean;
  readonly #columns = new Map<string, Sql>();
  readonly #objects: Sql[] = [];

  constructor(printer: ObjectPrinter, { row, table, alias }: ComputedRows) {
    this.#printer = printer;
    this.#row = row;
    this.#alias = alias;
    this.#isExact = table.exactNumbers;
  }

  /** A column of the select, as seen from outside. @param id Equal ids mean equal values. */
  add(id: string, value: Sql): Sql {
    this.#columns.set(id, value);
    return ident(this.#alias, id);
  }

  /** An expression of the select, as seen from outside. */
  compute(expression: GroupExpression): Sql {
    return this.add(idOf(expression), printAggregated(expression, this.#row));
  }

  /** Position of an expression in the select, from 1. */
  place(expression: GroupExpression): number {
    this.compute(expression);
    return [...this.#columns.keys()].indexOf(idOf(expression)) + 1;
  }

  /** The value of an entry of an aggregate object. @param printKey Prints a key, by index; without groups there is none. */
  print(entry: Exclude<AggregateEntry, { kind: 'typename' }>, printKey: KeyPrinter = () => sql`null`): Sql {
    if (entry.kind === 'keys') return this.#printKeys(entry, printKey);
    if (entry.kind !== 'function') return this.compute(entry);
    const print = this.#isExact ? printExact : printNumber;
    return this.object(printEntries(entry.entries, (item) => measured(print(this.compute(item), item), item)));
  }

  #printKeys({ entries }: GroupKeys, printKey: KeyPrinter): Sql {
    if (entries === null) return sql`null`;
    const members = printEntries(entries, (entry) => {
      if (entry.kind === 'keys') return this.#printKeys(entry, printKey);
      return entry.index === null ? sql`null` : printKey(entry.index);
    });
    return this.object(members);
  }

  /** An object nested in the select's object. */
  object(members: readonly Member[]): Sql {
    const object = printObject(this.#printer, members);
    this.#objects.push(sql` cross join ${object.from}`);
    return object.value;
  }

  /** The select list. */
  columns(): readonly Sql[] {
    return [...this.#columns].map(([id, value]) => sql`${value} as ${ident(id)}`);
  }

  /** The from items of the objects, joined to the select. */
  joined(): Sql {
    return join(this.#objects, empty);
  }
}

function idOf(expression: GroupExpression): string {
  switch (expression.kind) {
    case 'count':
      return 'n';
    case 'count_values':
      return `count${expression.column.number}`;
    case 'distinct_count':
      return `distinct${expression.column.number}`;
    case 'aggregate':
      return `${expression.function}${expression.column.number}`;
  }
}

/** The aggregate object as json. */
export function printAggregate(printer: SqlPrinter, entries: readonly AggregateEntry[], rows: RowSet): Sql {
  const { from, row, condition } = rows.scan([]);
  const name = printer.names.next('g');
  const computed = new Computed(printer, { row, table: rows.table, alias: name });
  const object = printObject(
    printer,
    printEntries(entries, (entry) => computed.print(entry)),
  );
  const values = computed.columns();
  const scan = values.length === 0 ? sql`select` : sql`select ${list(values)} from ${from}${where(condition)}`;
  return sql`(select ${object.json} from (${scan}) as ${ident(name)}${computed.joined()} cross join ${object.from})`;
}

function measured(value: Sql, entry: ColumnAggregate): Sql | SizedValue {
  const isShort = entry.kind === 'distinct_count' || maxBytesOf(entry.column.type) !== null;
  return isShort ? value : { value, of: 'json' };
}

/** As columns of its scalar are printed. */
function printExact(value: Sql, entry: ColumnAggregate): Sql {
  const scalar = entry.kind === 'aggregate' ? entry.column[aggregateRow(entry.function).results] : null;
  if (scalar === null || scalarRow(scalar).output !== 'text') return value;
  // The text of `money` depends on the locale.
  const isMoney = comparedAs(entry.column.cast).name === 'money';
  return isMoney ? sql`${value}::pg_catalog.numeric::pg_catalog.text` : sql`${value}::pg_catalog.text`;
}

function printNumber(value: Sql, entry: ColumnAggregate): Sql {
  if (entry.kind === 'distinct_count') return value;
  const { name } = comparedAs(entry.column.cast);
  const isNumeric =
    aggregateRow(entry.function).results === 'avg' ||
    (entry.function === 'sum' && (name === 'int8' || name === 'numeric')) ||
    name === 'numeric';
  if (!isNumeric) return value;
  const whole = sql`when ${value} operator(pg_catalog.=) pg_catalog.trunc(${value}) then pg_catalog.to_json(pg_catalog.trunc(${value}))`;
  // Outside the range of double precision, keep the digits: the cast would fail.
  const size = sql`pg_catalog.abs(${value})`;
  const inRange = sql`${size} operator(pg_catalog.>=) 1e-307 and ${size} operator(pg_catalog.<=) 1e308`;
  return sql`case ${whole} when ${inRange} then pg_catalog.to_json(${value}::pg_catalog.float8) else pg_catalog.to_json(${value}) end`;
}
