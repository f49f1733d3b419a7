/**
 * Prints `groups` of a connection: one scan groups the rows, orders the groups and limits them; objects are built
 * around them.
 *
 *     (select coalesce(json_agg(o), '[]') from (select date_trunc('month', t.at) as k0, count(*) as n from … group by 1 having …
 *        order by 2 desc, 1 limit 30) as g cross join lateral (…) as o)
 *
 * Keys and order terms are referenced by position: PostgreSQL treats the same expression with another parameter as a
 * different one.
 */
import { comparedAs } from '../../model/model.ts';
import type { GroupKey, GroupsPlan, GroupTerm } from '../plan/plan.ts';
import { printCondition, where } from '../sql/condition.ts';
import { printEntries, printObject } from '../sql/object.ts';
import { printOperand } from '../sql/operator.ts';
import { printOutput } from '../sql/output.ts';
import type { SqlPrinter } from '../sql/printer.ts';
import { list, type Row, type RowSet } from '../sql/row.ts';
import { builtin, empty, ident, integerLiteral, literal, param, type Sql, sql } from '../sql/sql.ts';
import { maxBytesOf } from '../sql/value-bytes.ts';
import { Computed } from './print-aggregate.ts';
import { printLimit } from './print-scan.ts';

/** The list of groups as json. */
export function printGroups(printer: SqlPrinter, plan: GroupsPlan, rows: RowSet): Sql {
  const terms = plan.keys.map(({ expression }) => ({ expression, descending: false, nullsFirst: false }));
  const { from, row, condition, sortKeys } = rows.scan(terms);
  const name = printer.names.next('g');
  const computed = new Computed(printer, { row, table: rows.table, alias: name });
  const keys = plan.keys.map((key, index) => computed.add(`k${index}`, printKey(key, sortKeys[index]!)));
  const printKeyed = (index: number) => {
    const { type } = plan.keys[index]!.column;
    const value = printOutput(keys[index]!, type!, printer.enums);
    return maxBytesOf(type) === null ? ({ value, of: 'json' } as const) : value;
  };
  const members = printEntries(plan.entries, (entry) => computed.print(entry, printKeyed));
  const object = printObject(printer, members);
  const order = plan.order.map((term) => printTerm(computed, term, plan.keys, rows.isStored));
  const groupBy = list(keys.map((_, index) => integerLiteral(index + 1)));
  const offset = plan.offset === null ? empty : sql` offset ${printLimit(plan.offset)}`;
  const scan = sql`select ${list(computed.columns())} from ${from}${where(condition)} group by ${groupBy}${printHaving(printer, plan, row)} order by ${list(order)} limit ${printLimit(plan.limit)}${offset}`;
  const groups = sql`(${scan}) as ${ident(name)}${computed.joined()} cross join ${object.from}`;
  return sql`(select coalesce(pg_catalog.json_agg(${object.value}), '[]'::pg_catalog.json) from ${groups})`;
}

function printKey({ column, truncate }: GroupKey, value: Sql): Sql {
  if (truncate === null) return value;
  const unit = literal(truncate.unit);
  const operand = printOperand(column.cast, value);
  switch (comparedAs(column.cast).name) {
    // Truncating a date directly would give a timestamp in the connection's time zone.
    case 'date':
      return sql`pg_catalog.date_trunc(${unit}, ${operand}::pg_catalog.timestamp)::pg_catalog.date`;
    case 'time':
      return sql`pg_catalog.date_trunc(${unit}, ${operand}::pg_catalog.interval)::pg_catalog.time`;
    default: {
      const zone = truncate.zone === null ? empty : sql`, ${param(truncate.zone, builtin.text)}`;
      return sql`pg_catalog.date_trunc(${unit}, ${operand}${zone})`;
    }
  }
}

function printHaving({ names }: SqlPrinter, { having }: GroupsPlan, row: Row): Sql {
  if (having === null) return empty;
  const counted = having.counted === null ? null : printCondition(names, having.counted, row);
  const group: Row = { column: (column) => row.column(column), whole: () => row.whole(), counted };
  return sql` having ${printCondition(names, having.condition, group)}`;
}

function printTerm(computed: Computed, term: GroupTerm, keys: readonly GroupKey[], isStored: boolean): Sql {
  const { of, descending, nullsFirst } = term;
  const key = typeof of === 'number' ? keys[of]! : null;
  const place = typeof of === 'number' ? of + 1 : computed.place(of);
  // As in pages: without nulls, use the null position of a default index.
  const isFirst =
    isStored && key?.truncate === null && key.expression.kind === 'column' && key.column.hasNoNulls
      ? descending
      : nullsFirst;
  return sql`${integerLiteral(place)}${descending ? sql` desc` : sql` asc`}${isFirst ? sql` nulls first` : sql` nulls last`}`;
}
