/**
 * Prints cursors and node ids, byte for byte as in pg_graphql: Base64 of PostgreSQL's `jsonb` text of an array, which
 * read-cursor.ts parses. PostgreSQL makes it in answers that are JSON texts, and write-cursor.ts in those that are rows.
 *
 * An element is the value as `jsonb` shows it (`cursorForm` of model/scalars.ts), or its text for lists and JSON: as JSON
 * they would not be one element. An order with arguments adds their digest.
 */
import type { Table, ValueType } from '../../model/model.ts';
import { type ScalarName, scalarRow } from '../../model/scalars.ts';
import { isJson } from '../../model/tables/columns.ts';
import type { AnswerColumn } from '../answer/answer-layout.ts';
import { jsonColumn, type RowContext, rawColumn } from '../answer/row-layout.ts';
import type { Slot } from '../input/slot.ts';
import type { OrderExpression, OrderTerm } from '../plan/plan.ts';
import { keyColumns } from '../plan/plan-order.ts';
import { isSummed } from '../sql/expression.ts';
import { list, type Row } from '../sql/row.ts';
import { builtin, join, literal, param, type Sql, sql } from '../sql/sql.ts';

/** What an element is: a scalar, or a value of another type. */
type Element = ScalarName | 'list' | 'enum' | null;

function elementOf(expression: OrderExpression): Element {
  switch (expression.kind) {
    case 'related':
      return elementOf(expression.expression);
    case 'count':
    case 'count_values':
    case 'distinct_count':
      return 'BigInt';
    case 'rank':
      return 'Float';
    case 'computed':
      return elementOfType(expression.type);
    default:
      if (expression.kind === 'aggregate' && isSummed(expression.function)) return 'BigFloat';
      return elementOfType(expression.column.type);
  }
}

function elementOfType(type: ValueType | null): Element {
  if (isJson(type)) return 'JSON';
  return type?.kind === 'scalar' ? type.scalar : (type?.kind ?? null);
}

/** The cursor of a row: one element per term of the effective order, and the digest of its arguments if any. */
export function printCursor(order: readonly OrderTerm[], sortKeys: readonly Sql[], digest: Slot | null): Sql {
  const elements = order.map(({ expression }, index) => printElement(sortKeys[index]!, elementOf(expression)));
  return encode(digest === null ? elements : [...elements, param(digest, builtin.text)]);
}

/** The node id of a row of `table`. */
export function printNodeId(table: Table, row: Row): Sql {
  const names = [table.namespace, table.name].map((name) => sql`${literal(name)}::pg_catalog.text`);
  const keys = keyColumns(table).map((column) => printElement(row.column(column), elementOfType(column.type)));
  return encode([...names, ...keys]);
}

function printElement(value: Sql, element: Element): Sql {
  return element === 'list' || element === 'JSON' ? sql`${value}::pg_catalog.text` : value;
}

// A function takes at most 100 arguments; an order may have more columns.
const maxArguments = 50;

// `encode` breaks lines after 76 characters.
function encode(elements: readonly Sql[]): Sql {
  const parts: Sql[] = [];
  for (let start = 0; start < elements.length; start += maxArguments) {
    parts.push(sql`pg_catalog.jsonb_build_array(${list(elements.slice(start, start + maxArguments))})`);
  }
  const array = sql`(${join(parts, sql` operator(pg_catalog.||) `)})::pg_catalog.text`;
  return sql`pg_catalog.translate(pg_catalog.encode(pg_catalog.convert_to(${array}, 'UTF8'), 'base64'), e'\\n', '')`;
}

/** Whether cursors in this order have no bound for their length. */
export function hasLongCursors(order: readonly OrderTerm[]): boolean {
  return order.some(({ expression }) => {
    const element = elementOf(expression);
    return element !== 'enum' && (element === null || element === 'list' || scalarRow(element).maxBytes === null);
  });
}

/** Whether a row's columns suffice for its cursor. */
export function hasCursorColumns(order: readonly OrderTerm[]): boolean {
  return order.every(({ expression }) => rowOf(expression)?.cursorForm);
}

function rowOf(expression: OrderExpression) {
  const element = elementOf(expression);
  return element === null || element === 'list' || element === 'enum' ? null : scalarRow(element);
}

/** The columns of a cursor in this order (check `hasCursorColumns` first). @param sortKeys The values of its terms. */
export function cursorColumns(
  context: RowContext,
  order: readonly OrderTerm[],
  sortKeys: readonly Sql[],
  digest: Slot | null,
): readonly AnswerColumn[] {
  const columns = order.map(({ expression }, index): AnswerColumn => {
    const key = sortKeys[index]!;
    const { cursorForm, dependsOnSettings } = rowOf(expression)!;
    const form = cursorForm!;
    if (expression.kind === 'column') {
      const { column } = expression;
      return dependsOnSettings ? jsonColumn(context, column) : { ...rawColumn(context, column), form };
    }
    return { index: context.selection.add(null, dependsOnSettings ? sql`pg_catalog.to_json(${key})` : key), form };
  });
  return digest === null
    ? columns
    : [...columns, { index: context.selection.add('digest', param(digest, builtin.text)), form: 'text' }];
}
