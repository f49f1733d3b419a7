/**
 * Prints a condition that PostgreSQL can parse only if the answer's columns have the types that the statement was made
 * for: columns may change while it waits for a lock, or unnoticed. It must then fail before it does anything, because its
 * result would fit neither schema. The error makes the gateway read the catalog again (schema-assertion.md).
 *
 * The overlap operator on two arrays requires equal types. One side is null, so the planner knows the result and
 * nothing runs. It comes where PostgreSQL parses last, after locking the tables.
 */
import type { ArgumentType, Column, ResultColumn, SqlType, Table } from '../../model/model.ts';
import { calledBy, objectsIn, tableIn } from '../plan/inspect-plan.ts';
import type {
  AggregateEntry,
  CallPlan,
  ConnectionPlan,
  OperationPlan,
  OrderExpression,
  ResultPlan,
  ValuePlan,
} from '../plan/plan.ts';
import { keyColumns } from '../plan/plan-order.ts';
import { printCall } from '../sql/printer.ts';
import { nullRow } from '../sql/row.ts';
import { ident, join, type Sql, sql } from '../sql/sql.ts';

/**
 * An integer expression that is always null, for PostgreSQL to parse. Null if there is nothing to check.
 *
 * @param composites Those of the model.
 */
export function printSchemaAssertion(fields: readonly ValuePlan[], composites: Composites): Sql | null {
  const checks = new Checks(composites);
  for (const value of fields) visitValue(checks, value, null);
  return checks.size === 0 ? null : sql`case when ${join([...checks.values()], sql` and `)} then 0 end`;
}

type Composites = OperationPlan['composites'];

/** By subject, so that each is printed once. */
class Checks extends Map<unknown, Sql> {
  readonly composites: Composites;

  constructor(composites: Composites) {
    super();
    this.composites = composites;
  }
}

function visitValue(checks: Checks, value: ValuePlan, table: Table | null): void {
  for (const { argument } of calledBy(value)?.arguments ?? []) checkArgument(checks, argument.type);
  switch (value.kind) {
    case 'column':
      if (table !== null) checkColumns(checks, table, [value.column]);
      break;
    case 'rank':
      if (table !== null) checkColumns(checks, table, [value.rank.column]);
      break;
    case 'node_id':
      checkColumns(checks, value.table, keyColumns(value.table));
      break;
    case 'call':
      checkCall(checks, value.call, table);
      break;
    case 'result':
      checkResult(checks, value.result, table);
      break;
    case 'connection':
      visitConnection(checks, value.connection);
      break;
    default:
  }
  for (const { entries } of objectsIn(value)) {
    for (const inside of entries) visitValue(checks, inside, tableIn(value));
  }
}

function visitConnection(checks: Checks, { source: { table }, order, entries }: ConnectionPlan): void {
  for (const entry of entries) {
    const hasCursors = entry.kind === 'edges' && entry.entries.some(({ kind }) => kind === 'cursor');
    if (hasCursors || entry.kind === 'page_info') {
      for (const { expression } of order) checkExpression(checks, table, expression);
    }
    if (entry.kind === 'aggregate') checkColumns(checks, table, entry.entries.flatMap(aggregated));
    if (entry.kind === 'groups') {
      for (const { expression } of entry.groups.keys) checkExpression(checks, table, expression);
      checkColumns(checks, table, entry.groups.entries.flatMap(aggregated));
    }
  }
}

function checkExpression(checks: Checks, table: Table, expression: OrderExpression): void {
  if (expression.kind === 'related') checkExpression(checks, expression.related.table, expression.expression);
  else if (expression.kind === 'computed') checkCall(checks, expression.call, table);
  else if (expression.kind !== 'count') checkColumns(checks, table, [expression.column]);
}

function aggregated(entry: AggregateEntry): readonly Column[] {
  if (entry.kind === 'count_values') return [entry.column];
  if (entry.kind !== 'function') return [];
  return entry.entries.flatMap((item) => (item.kind === 'typename' ? [] : [item.column]));
}

function checkColumns(checks: Checks, table: Table, columns: readonly ResultColumn[]): void {
  // The type of its rows: nothing behind the table is planned for that.
  const type = ident(table.namespace, table.name);
  for (const column of columns) {
    if (checks.has(column)) continue;
    add(checks, column, column.cast, sql`(null::${type}).${ident(column.name)}`);
  }
}

function checkCall(checks: Checks, call: CallPlan, table: Table | null): void {
  const { result, returnsSet } = call.routine;
  // PostgreSQL makes the JSON of a set, whatever its type.
  if (returnsSet || result.kind !== 'value' || checks.has(call.routine)) return;
  add(checks, call.routine, result.type.cast, sql`(select ${printCall(call, table && nullRow(table))} where false)`);
}

function checkResult(checks: Checks, { call, object }: ResultPlan, table: Table | null): void {
  for (const value of object.entries) {
    if (value.kind !== 'column' || checks.has(value.column)) continue;
    const { cast, name } = value.column;
    const called = sql`${printCall(call, table && nullRow(table))} as ${ident('f')}`;
    add(checks, value.column, cast, sql`(select ${ident('f', name)} from ${called} where false)`);
  }
}

// Their attributes are sent by position.
function checkArgument(checks: Checks, type: ArgumentType | null): void {
  const composite = type?.kind === 'composite' ? checks.composites.get(type.composite) : undefined;
  if (composite === undefined || checks.has(composite)) return;
  const { attributes, namespace, name } = composite;
  // The role may lack USAGE on the schemas of the others.
  const shown = attributes.filter(({ fieldName }) => fieldName !== null);
  const nulls = attributes.map((attribute) =>
    shown.includes(attribute) ? sql`null::${ident(attribute.cast.namespace, attribute.cast.name)}` : sql`null`,
  );
  addSingle(checks, composite, ident(namespace, name), sql`row(${join(nulls, sql`, `)})::${ident(namespace, name)}`);
  for (const attribute of shown) {
    add(checks, attribute, attribute.cast, sql`(null::${ident(namespace, name)}).${ident(attribute.name)}`);
    checkArgument(checks, attribute.type);
  }
}

function add(checks: Checks, key: unknown, type: SqlType, value: Sql): void {
  const name = ident(type.namespace, type.name);
  if (type.arrays === 'of_it') addSingle(checks, key, name, value);
  if (type.arrays === 'itself') checks.set(key, sql`${value} operator(pg_catalog.&&) null::${name}`);
}

function addSingle(checks: Checks, key: unknown, type: Sql, value: Sql): void {
  // Not `array[…]`, which has the same type for a value and for a list.
  const array = sql`pg_catalog.array_fill(${value}, '{1}'::pg_catalog.int4[])`;
  checks.set(key, sql`${array} operator(pg_catalog.&&) null::${type}[]`);
}
