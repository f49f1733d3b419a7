/** Conditions of a view: the filter that they make, and what can be asked of a column. */
import type { TableColumn } from '../../shared/role-schema.ts';
import type { Condition } from './data-place.ts';
import { operandOf, type Row } from './row-key.ts';

/** Operators by name, in the order of a choice, as people say them. Others are left to GraphQL. */
export const operatorWords: Readonly<Record<string, string>> = {
  eq: 'is',
  neq: 'is not',
  lt: 'less than',
  lte: 'at most',
  gt: 'more than',
  gte: 'at least',
  in: 'is one of',
  ilike: 'contains',
  startsWith: 'starts with',
  like: 'matches pattern',
  iregex: 'matches expression',
  contains: 'has',
  containedBy: 'is within',
  overlaps: 'has any of',
  hasKey: 'has key',
  websearch: 'finds words',
  is: 'null',
};

/** Operators of a column that the page offers. */
export function operatorsOf({ operators }: Pick<TableColumn, 'operators'>): TableColumn['operators'] {
  return Object.keys(operatorWords).flatMap((name) => operators.find((operator) => operator.name === name) ?? []);
}

/** Whether the operand is a list, written with commas. */
export function takesList(type: string): boolean {
  return type.startsWith('[');
}

/**
 * The filter; null without conditions.
 *
 * @param conditions Their operands carry the type with them: `Int:12`.
 */
export function conditionsToFilter(conditions: readonly Condition[]): Row | null {
  const filters = conditions.map(({ path, operator, value }) =>
    path
      .split('.')
      .reduceRight<Row>((inner, name) => ({ [name]: inner }), { [operator]: readOperand(operator, value) }),
  );
  const [only] = filters;
  if (only === undefined) return null;
  return filters.length === 1 ? only : { and: filters };
}

/** An operand as an address keeps it: `Int:12`, so that it can be sent before the table is known. */
export function writeOperand(text: string, type: string): string {
  return `${type.replaceAll('!', '')}:${text}`;
}

/** The text of an operand without its type. */
export function textOfOperand(value: string): string {
  return value.slice(value.indexOf(':') + 1);
}

function readOperand(operator: string, value: string): unknown {
  const at = value.indexOf(':');
  const [type, text] = at === -1 ? ['String', value] : [value.slice(0, at), value.slice(at + 1)];
  if (takesList(type)) return text === '' ? [] : text.split(',').map((part) => operandOf(part.trim(), type));
  if (type === 'JSON') return readJson(text);
  return operator === 'ilike' && !/[%_]/.test(text) ? `%${text}%` : operandOf(text, type);
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
