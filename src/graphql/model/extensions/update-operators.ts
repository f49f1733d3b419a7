/** The operators of an update, and the columns that each can change (extension `writes`, docs/mutations.md). */
import { type Column, comparedAs, type ValueType } from '../model.ts';
import { scalarRow } from '../scalars.ts';

/** Ways to change a column by its value in the row, in the order of their arguments. */
export const updateOperators = ['increment', 'append', 'prepend', 'remove'] as const;

/** One of them. */
export type UpdateOperator = (typeof updateOperators)[number];

/** How an operator changes a value. */
type OperatorForm = 'number' | 'text' | 'list' | 'json';

/** Not `char(n)`, whose end is blanks. */
const texts: readonly string[] = ['text', 'varchar', 'citext'];

/** How the operator changes values of the column's type; null if it cannot. */
export function operatorForm(type: ValueType, operator: UpdateOperator): OperatorForm | null {
  const { namespace, name } = comparedAs(type.cast);
  const isText = type.kind === 'scalar' && type.scalar === 'String' && texts.includes(name);
  const isJsonb = namespace === 'pg_catalog' && name === 'jsonb';
  const isList = type.kind === 'list';
  switch (operator) {
    case 'increment':
      return type.kind === 'scalar' && scalarRow(type.scalar).increments ? 'number' : null;
    case 'append':
      return isList ? 'list' : isText ? 'text' : isJsonb ? 'json' : null;
    case 'prepend':
      return isList ? 'list' : null;
    case 'remove':
      return isList && hasEquality(type.element) ? 'list' : isJsonb ? 'json' : null;
  }
}

function hasEquality(element: Exclude<ValueType, { kind: 'list' }>): boolean {
  return element.kind === 'enum' || scalarRow(element.scalar).inLists;
}

/** Whether the role may change the column with the operator, which also reads it. */
export function fitsOperator({ updatable, readable, type }: Column, operator: UpdateOperator): boolean {
  return updatable && readable && type !== null && operatorForm(type, operator) !== null;
}
