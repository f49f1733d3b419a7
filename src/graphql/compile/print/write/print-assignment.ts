/**
 * Prints the changes of an update: `hits = $1`, `hits = t.hits + $1`.
 *
 * A null value becomes what is appended or prepended, and stays null otherwise. The value is read from the row that is
 * locked, so concurrent updates lose nothing.
 */

import { operatorForm, type UpdateOperator } from '../../../model/extensions/update-operators.ts';
import type { Column, SqlType } from '../../../model/model.ts';
import type { Assignment } from '../../plan/write/assignment.ts';
import { sentinels } from '../../sql/failure-sentinels.ts';
import { list, type Names, type Row } from '../../sql/row.ts';
import { builtin, ident, literal, param, type Sql, sql } from '../../sql/sql.ts';

/** Prints the operand as a type. */
type PrintOperand = (type: SqlType) => Sql;

/** The changes of a row, separated by commas. */
export function printAssignments(
  names: Names,
  changes: readonly Assignment[],
  row: Row,
  operandOf: (change: Assignment, index: number) => PrintOperand = ({ slot }) =>
    (type) =>
      param(slot, type),
): Sql {
  const printed = changes.map((change, index) => {
    const operand = operandOf(change, index);
    const { column } = change;
    const value = change.operator === 'set' ? operand(column.cast) : printChanged(names, change, row, operand);
    return sql`${ident(column.name)} = ${value}`;
  });
  return list(printed);
}

function printChanged(names: Names, { column, operator }: Assignment, row: Row, operand: PrintOperand): Sql {
  // Not the domain, which might refuse the operand, and without the modifier, which would round or cut it.
  const type = { ...(column.cast.base ?? column.cast), modifier: null };
  const value = column.cast.base ? sql`${row.column(column)}::${typeIdent(type)}` : row.column(column);
  switch (operatorForm(column.type!, operator as Exclude<typeof operator, 'set'>)) {
    case 'number':
      return sql`${value} operator(pg_catalog.+) ${operand(type)}`;
    case 'text': {
      const text = operand(builtin.text);
      return sql`coalesce(${value}::pg_catalog.text operator(pg_catalog.||) ${text}, ${text})`;
    }
    case 'json':
      return operator === 'append'
        ? printMerged(column, value, operand(builtin.jsonb))
        : sql`${value} operator(pg_catalog.-) ${operand(textList)}`;
    default:
      if (operator === 'append') return sql`${value} operator(pg_catalog.||) ${operand(type)}`;
      if (operator === 'prepend') return sql`${operand(type)} operator(pg_catalog.||) ${value}`;
      return printWithout({ names, column, type }, value, operand(type));
  }
}

const textList: SqlType = { ...builtin.text, oid: '1009', name: '_text', arrays: 'itself' };

// Without its check, an object and a list would become a list.
function printMerged(column: Column, value: Sql, operand: Sql): Sql {
  const kind = sql`pg_catalog.jsonb_typeof(${value})`;
  const fits = sql`${kind} operator(pg_catalog.=) pg_catalog.jsonb_typeof(${operand})`;
  return sql`case when ${value} is null then ${operand} when ${fits} then ${value} operator(pg_catalog.||) ${operand} else ${printRefusal('append', column, kind, builtin.jsonb)} end`;
}

interface ListColumn {
  readonly names: Names;
  readonly column: Column;
  readonly type: SqlType;
}

// `array_position` compares by the equality of the type, and finds nulls.
function printWithout({ names, column, type }: ListColumn, value: Sql, operand: Sql): Sql {
  const element = names.next('e');
  const [item, place] = [ident(element, 'v'), ident(element, 'n')];
  const kept = sql`select pg_catalog.array_agg(${item} order by ${place}) from pg_catalog.unnest(${value}) with ordinality as ${ident(element)}("v", "n") where pg_catalog.array_position(${operand}, ${item}) is null`;
  const dimensions = sql`pg_catalog.array_ndims(${value})`;
  const refused = printRefusal('remove', column, dimensions, type);
  return sql`case when ${dimensions} operator(pg_catalog.>) 1 then ${refused} when ${value} is not null then coalesce((${kept}), '{}'::${typeIdent(type)}) end`;
}

// Casting this text fails on purpose (graphql/execute/answer/public-error.ts). It contains a column, or the planner would
// evaluate it before the condition.
function printRefusal(operator: UpdateOperator, { fieldName }: Column, found: Sql, type: SqlType): Sql {
  const prefix = literal(`${sentinels.operand}${operator}:${fieldName}:`);
  return sql`((${prefix} operator(pg_catalog.||) ${found})::pg_catalog.int4)::pg_catalog.text::${typeIdent(type)}`;
}

function typeIdent({ namespace, name }: SqlType): Sql {
  return ident(namespace, name);
}
