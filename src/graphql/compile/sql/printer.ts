/** Shared by the printing functions: names of the statement, enums of the model, and small common pieces. */
import { invariant } from '../../../shared/invariant.ts';
import type { EnumType, Oid, Table } from '../../model/model.ts';
import type { CallPlan, ObjectPlan, Typename, ValuePlan } from '../plan/plan.ts';
import { type Member, type ObjectPrinter, printEntries } from './object.ts';
import { list, type Row } from './row.ts';
import { ident, param, Sql, sql } from './sql.ts';
import { isPrintedAsText, isText, maxBytesIn } from './value-bytes.ts';

/** A printed value of a response key. */
export type PrintedValue = Exclude<ValuePlan, Typename>;

/** What printing needs besides the plan. */
export interface SqlPrinter extends ObjectPrinter {
  readonly enums: ReadonlyMap<Oid, EnumType>;
  /** Values contain each other; the recursion goes through here, to avoid a mutual import. */
  printValue(printer: SqlPrinter, value: PrintedValue, row: Row | null): Sql;
}

/** The members of an object over a row. */
export function printMembers(printer: SqlPrinter, object: ObjectPlan, row: Row | null): readonly Member[] {
  return printEntries(object.entries, (value) => {
    const printed = printer.printValue(printer, value, row);
    const maxBytes = maxBytesIn(value);
    // On the average.
    if (maxBytes !== null) return { value: printed, of: Math.ceil(maxBytes / 2) };
    // What a row computes is not repeated.
    if (value.kind === 'column' && value.at === null && isText(value.column) && !row?.isComputed)
      return { value: printed, of: { column: value.column.number, text: printed } };
    return { value: printed, of: isPrintedAsText(value) ? 'text' : 'json' };
  });
}

/** A call with its arguments; for a computed field, after the current row. */
export function printCall(call: CallPlan, row: Row | null): Sql {
  const { routine } = call;
  // By name, so that any argument with a default may be left out.
  const given = call.arguments.map(({ argument, slot }) => {
    const value = sql`${ident(argument.name)} => ${param(slot, argument.type.cast)}`;
    return argument.isVariadic ? sql`variadic ${value}` : value;
  });
  const first = routine.use === 'computed' ? [current(row).whole()] : [];
  const name = Sql.weighed(ident(routine.namespace, routine.name), routine.planningWeight);
  return sql`${name}(${list([...first, ...given])})`;
}

/** A table's qualified name, with what planning it costs. */
export function tableName({
  namespace,
  name,
  planningWeight,
}: Pick<Table, 'namespace' | 'name' | 'planningWeight'>): Sql {
  return Sql.weighed(ident(namespace, name), planningWeight);
}

/** The row in scope. */
export function current(row: Row | null): Row {
  invariant(row !== null, 'there is a current row');
  return row;
}
