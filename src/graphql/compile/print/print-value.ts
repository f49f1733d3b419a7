/**
 * Prints the value of a response key, in a statement with the current row in scope.
 */
import { invariant, unreachable } from '../../../shared/invariant.ts';
import type { ValueType } from '../../model/model.ts';
import { isJsonValue } from '../../model/tables/columns.ts';
import { printNodeId } from '../cursor/print-cursor.ts';
import type { Slot } from '../input/slot.ts';
import type { ObjectPlan, ResultPlan, RowSource, SelectedValue } from '../plan/plan.ts';
import { printJoin, printKey, where } from '../sql/condition.ts';
import { printExpression } from '../sql/expression.ts';
import { printObject } from '../sql/object.ts';
import { isReadTwice, printJsonText, printOutput } from '../sql/output.ts';
import { current, type PrintedValue, printCall, printMembers, type SqlPrinter, tableName } from '../sql/printer.ts';
import { directRow, everythingOf, list, type Row, SubqueryRow } from '../sql/row.ts';
import { builtin, empty, ident, param, type Sql, sql } from '../sql/sql.ts';
import { printConnection } from './print-connection.ts';
import { printLimit } from './print-scan.ts';

/** An expression for a value; `row` is the current row, null at the root. */
export function printValue(printer: SqlPrinter, value: PrintedValue, row: Row | null): Sql {
  switch (value.kind) {
    case 'introspection':
      return param({ kind: 'introspection', responseKey: (value as SelectedValue).key }, builtin.json);
    case 'column':
      return value.at === null
        ? printOutput(current(row).column(value.column), value.column.type!, printer.enums)
        : printJsonPart(current(row).column(value.column), value.column.type, value.at);
    case 'node_id':
      return printNodeId(value.table, current(row));
    case 'rank':
      return printExpression(value.rank, current(row));
    case 'call':
      return printCallResult(printer, value, row);
    case 'result':
      return printResult(printer, value.result, row);
    case 'row':
      return printRow(printer, value.source, value.object, row);
    case 'connection':
      return printConnection(printer, value.connection, row);
    case 'write':
    case 'update_list':
      invariant(false, 'a write stands at the root of a mutation only');
      break;
    default:
      return unreachable(value);
  }
}

function printCallResult(printer: SqlPrinter, { call, at }: CalledValue, row: Row | null): Sql {
  const { routine } = call;
  const invoked = printCall(call, row);
  const output = (value: Sql): Sql => {
    switch (routine.result.kind) {
      case 'value':
        return at === null
          ? printOutput(value, routine.result.type, printer.enums)
          : printJsonPart(value, routine.result.type, at);
      case 'record':
        return sql`pg_catalog.to_jsonb(${value})`;
      default:
        // void: its text is empty.
        return sql`${value}::pg_catalog.text`;
    }
  };
  const { result } = routine;
  const alias = printer.names.next('f');
  const value = ident(alias, 'v');
  if (routine.returnsSet) {
    // A row in the from clause would be split into columns, also through a domain.
    const isRow = result.kind === 'value' && result.type.kind === 'scalar' && result.type.scalar === 'Opaque';
    const from = isRow ? sql`(select ${invoked} as "v") as ${ident(alias)}` : sql`${invoked} as ${ident(alias)}("v")`;
    return sql`(select ${output(value)} from ${from} limit 1)`;
  }
  if (result.kind !== 'value' || !isReadTwice(result.type, printer.enums)) return output(invoked);
  // `offset 0` keeps the planner from repeating the call at each use.
  return sql`(select ${output(value)} from (select ${invoked} as "v" offset 0) as ${ident(alias)})`;
}

/** The part at a path, as the type travels. */
function printJsonPart(value: Sql, type: ValueType | null, at: Slot): Sql {
  const path = param(at, builtin.text, { array: true });
  return isJsonValue(type) ? sql`(${value} operator(pg_catalog.#>) ${path})` : printJsonText(value, path);
}

type CalledValue = Extract<PrintedValue, { kind: 'call' }>;

function printRow(printer: SqlPrinter, source: RowSource, object: ObjectPlan, parent: Row | null): Sql {
  const alias = printer.names.next('t');
  const isComputed = source.kind === 'routine' || source.table.kind === 'view';
  const row: Row = { ...directRow(alias, source.table), isComputed };
  const printed = printObject(printer, printMembers(printer, object, row));
  const select = (from: Sql, condition: Sql | null): Sql =>
    sql`select ${printed.json} from ${from} as ${ident(alias)} cross join ${printed.from}${where(condition)}`;
  switch (source.kind) {
    case 'key': {
      const { table, slots } = source;
      // A key from a directive, or repeated in inheritance children, may match several rows.
      const limit = table.uniqueKey ? sql`` : sql` limit 1`;
      return sql`(${select(tableName(table), printKey(table, slots, row))}${limit})`;
    }
    case 'relationship': {
      const { relationship, from, table } = source;
      const joined = printJoin(printer.names, relationship, { table: from, row: current(parent) }, { table, row });
      const limit = relationship.unique ? sql`` : sql` limit 1`;
      return sql`(${select(tableName(table), joined)}${limit})`;
    }
    case 'routine':
      // A row of only nulls counts as none.
      return sql`(${select(printCall(source.call, parent), sql`not (${row.whole()} is null)`)})`;
    default:
      return unreachable(source);
  }
}

function printResult(printer: SqlPrinter, { call, object, page }: ResultPlan, parent: Row | null): Sql {
  const { names } = printer;
  const alias = names.next('f');
  const row: Row = { column: ({ name }) => ident(alias, name), whole: () => everythingOf(alias), isComputed: true };
  const called = sql`${printCall(call, parent)} as ${ident(alias)}`;
  if (page === null) {
    const { from, json } = printObject(printer, printMembers(printer, object, row));
    // As for rows of tables, one of only nulls counts as none.
    return sql`(select ${json} from ${called} cross join ${from} where not (${row.whole()} is null))`;
  }
  const shown = new SubqueryRow(names.next('p'));
  const { from, value } = printObject(printer, printMembers(printer, object, shown));
  const limit = sql`limit ${printLimit(page.limit)}${page.offset === null ? empty : sql` offset ${printLimit(page.offset)}`}`;
  const collect = (source: Sql) =>
    sql`select coalesce(pg_catalog.json_agg(${value}), '[]'::pg_catalog.json) as "j" from (${source} ${limit}) as ${ident(shown.alias)} cross join ${from}`;
  const select = sql`select ${list(shown.selectList(row))} from ${called}`;
  if (call.routine.volatility !== 'volatile') return sql`(${collect(select)})`;
  // PostgreSQL would not call it for \`first: 0\`.
  const [held, count, result] = [names.next('s'), names.next('n'), names.next('g')] as const;
  const counted = sql`(select pg_catalog.count(*) from ${ident(held)}) as ${ident(count)}`;
  const collected = collect(sql`select ${list(shown.passList(held))} from ${ident(held)}`);
  return sql`(with ${ident(held)} as materialized (${select}) select ${ident(result, 'j')} from ${counted} cross join (${collected}) as ${ident(result)})`;
}
