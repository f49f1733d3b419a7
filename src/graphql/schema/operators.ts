/**
 * The operators of filters, one row each: where they stand, what they take, and what they cost. A new operator is a row
 * here and its printer (graphql/compile/sql/condition.ts).
 *
 * No member of a row may be left out: a forgotten one would be a filter without a limit of its work.
 */
import type { FilterKind } from '../model/scalars.ts';

/** What the operand is compared with: nothing but the value, or each part of it, in one step that cannot be cancelled. */
export type OperandWork = 'pattern' | 'list' | 'in' | 'json' | 'rank';

interface OperatorRow {
  readonly filters: readonly FilterKind[];
  /** A value of the filter's type, a list of such, text, a list of texts, or whether there is a value. */
  readonly operand: 'value' | 'values' | 'text' | 'texts' | 'presence';
  /** Limits of the operand; null: comparing one costs no more than its length. */
  readonly work: OperandWork | null;
  /** Whether columns refuse it if their collation takes different texts for equal. */
  readonly isPattern: boolean;
  /** PostgreSQL parses the operand in this language; null: as a value. */
  readonly language: 'regex' | 'jsonpath' | null;
  /** It looks into values: a plan for any operand may be far worse than one for this one. */
  readonly looksInside: boolean;
  /** PostgreSQL knows its opposite, which indexes serve. */
  readonly hasOpposite: boolean;
}

const all = ['id', 'equality', 'membership', 'ordered', 'text', 'list', 'json'] as const;
const compares: OperatorRow = {
  filters: ['ordered', 'text'], operand: 'value', work: null, isPattern: false, language: null, looksInside: false, hasOpposite: true,
}; // biome-ignore format: a row
const matchesText: OperatorRow = {
  filters: ['text'], operand: 'value', work: 'pattern', isPattern: true, language: null, looksInside: false, hasOpposite: false,
}; // biome-ignore format: a row
const looksInto: OperatorRow = {
  filters: ['list', 'json'], operand: 'value', work: 'list', isPattern: false, language: null, looksInside: true, hasOpposite: false,
}; // biome-ignore format: a row
const findsKeys: OperatorRow = { ...looksInto, filters: ['json'], operand: 'texts', work: 'json' };

const operators = {
  eq: { ...compares, filters: all, hasOpposite: false },
  neq: { ...compares, filters: ['membership', 'ordered', 'text'] },
  lt: compares,
  lte: compares,
  gt: compares,
  gte: compares,
  in: { ...compares, filters: ['membership', 'ordered', 'text'], operand: 'values', work: 'in', hasOpposite: false },
  is: { ...compares, filters: all.filter((kind) => kind !== 'id'), operand: 'presence', hasOpposite: false },
  startsWith: { ...matchesText, work: null },
  like: matchesText,
  ilike: matchesText,
  // Their work is limited by what `language` says of the pattern.
  regex: { ...matchesText, work: null, language: 'regex' },
  iregex: { ...matchesText, work: null, language: 'regex' },
  // On JSON they count as `json`.
  contains: looksInto,
  containedBy: looksInto,
  overlaps: { ...looksInto, filters: ['list'] },
  hasKey: { ...findsKeys, operand: 'text' },
  hasAllKeys: findsKeys,
  hasAnyKey: findsKeys,
  matches: { ...findsKeys, operand: 'text', work: null, language: 'jsonpath' },
} as const satisfies Readonly<Record<string, OperatorRow>>;

/** Name of an operator. */
export type FilterOperator = keyof typeof operators;

/** One that compares a value with its operand. */
export type ComparisonOperator = Exclude<FilterOperator, 'is'>;

/** What code knows of an operator. */
export function operatorRow(operator: FilterOperator): OperatorRow {
  return operators[operator];
}

/** The operators of a kind of filter, by name. */
export function operatorsOf(kind: FilterKind): readonly FilterOperator[] {
  const names = Object.keys(operators) as FilterOperator[];
  return names.filter((name) => operatorRow(name).filters.includes(kind)).sort();
}
