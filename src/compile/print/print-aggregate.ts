/**
 * Prints the `aggregate` object of a connection: one scan computes every value once, objects are put around them.
 *
 * Numeric results are JSON numbers: whole ones exact, fractional ones as double precision.
 */
import { comparedAs } from '../../model/model.ts';
import type { AggregateColumnEntry, AggregateEntry } from '../plan/plan.ts';
import { where } from './print-condition.ts';
import { printCount, printFunction } from './print-expression.ts';
import { printEntries, printObject } from './print-object.ts';
import { list, type RowSet } from './print-row.ts';
import type { Printer } from './printer.ts';
import { empty, ident, join, type Sql, sql } from './sql.ts';

/** The aggregate object as json. */
export function printAggregate(printer: Printer, entries: readonly AggregateEntry[], rows: RowSet): Sql {
  const { from, row, condition } = rows.scan([]);
  const name = printer.names.next('g');
  const columns = new Map<string, Sql>();
  const laterals: Sql[] = [];
  const compute = (id: string, expression: Sql): Sql => {
    columns.set(id, expression);
    return ident(name, id);
  };
  const members = printEntries(entries, (entry) => {
    if (entry.kind === 'count') return compute('n', printCount());
    const inner = printEntries(entry.entries, (item) => {
      const value = compute(`${item.function}${item.column.number}`, printFunction(item.function, item.column, row));
      return printNumber(value, item);
    });
    const object = printObject(printer.names, inner);
    laterals.push(sql` cross join ${object.from}`);
    return object.value;
  });
  const object = printObject(printer.names, members);
  const values = [...columns].map(([id, expression]) => sql`${expression} as ${ident(id)}`);
  const scan = values.length === 0 ? sql`select` : sql`select ${list(values)} from ${from}${where(condition)}`;
  const joined = join([sql`(${scan}) as ${ident(name)}`, ...laterals], empty);
  return sql`(select ${object.json} from ${joined} cross join ${object.from})`;
}

type ColumnEntry = Extract<AggregateColumnEntry, { kind: 'column' }>;

function printNumber(value: Sql, entry: ColumnEntry): Sql {
  const { name } = comparedAs(entry.column.cast);
  const isNumeric =
    entry.function === 'avg' ||
    (entry.function === 'sum' && (name === 'int8' || name === 'numeric')) ||
    name === 'numeric';
  if (!isNumeric) return value;
  const whole = sql`when ${value} operator(pg_catalog.=) pg_catalog.trunc(${value}) then pg_catalog.to_json(pg_catalog.trunc(${value}))`;
  // What is out of the range of double precision keeps its digits: the cast would fail.
  const size = sql`pg_catalog.abs(${value})`;
  const inRange = sql`${size} operator(pg_catalog.>=) 1e-307 and ${size} operator(pg_catalog.<=) 1e308`;
  return sql`case ${whole} when ${inRange} then pg_catalog.to_json(${value}::pg_catalog.float8) else pg_catalog.to_json(${value}) end`;
}
