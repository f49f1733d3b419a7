/**
 * Limits the size of an operation's statement. A small document can mean a very large statement: fragments spread many
 * times, a variable used in many places, and deeply nested conditions, which are read through all levels above.
 *
 * One table, a row for each limit, and not one sum of weights: an operation may reach all limits at once, and the error
 * names the one that it exceeds, so that the client knows what to leave out.
 */
import type { OperandWork } from '../../schema/operators.ts';
import { RequestRefusal } from './input.ts';
import { maxCells } from './row-keys.ts';
import type { Slot } from './slot.ts';

const limits = {
  /** Selections with spread fragments: thirty fragments that spread each other twice give a thousand million fields. */
  selections: {
    max: 50_000,
    message: 'The operation selects more than 50000 fields when its fragments are spread out.',
  },
  /** The same below `__schema` and `__type`, which are read at once. */
  introspection: {
    max: 5000,
    message: 'The introspection selects more than 5000 fields when its fragments are spread out.',
  },
  /** Fields with a table. PostgreSQL takes seconds to plan more, whatever they return. */
  tables: {
    max: 1000,
    message: 'The operation has more than 1000 fields that lead to a table when its fragments are spread out.',
  },
  /**
   * Values of lists and objects; conditions of filters and terms of orders once more per level or term above. As often
   * as rows are scanned: about fourteen thousand conditions side by side, or four hundred nested ones, for a page alone.
   * Half of the pairs of alternatives from `or`s that must hold together: 450 and 450 take PostgreSQL most of a second.
   */
  inputs: {
    max: 100_000,
    message: 'The filters and orders of the operation have too many conditions, or are nested too deep.',
  },
  /** Each may be called for every row of a table. */
  functions: {
    max: 100,
    message: 'The filters and orders of the operation call functions more than 100 times.',
  },
  /** Each may be evaluated for every row of a table. */
  relationFilters: {
    max: 20,
    message: 'The operation has more than 20 filters through relationships.',
  },
  /** PostgreSQL plans each as a subquery, and reads all elements of each row. */
  elementFilters: {
    max: 100,
    message: 'The operation has more than 100 filters of the elements of lists.',
  },
  /** Each is a statement. */
  nestedWrites: {
    max: 100,
    message: 'The operation writes related rows in more than 100 places.',
  },
  /** Of lists of updates: PostgreSQL plans each, and each has an answer of its own. */
  statements: {
    max: 100,
    message:
      'The updates need more than 100 statements. Filter by the primary key alone, with the same changes in entries that follow each other.',
  },
} as const;

/** Most statements of all lists of updates. */
export const maxStatements = limits.statements.max;

type LimitName = keyof typeof limits;
const names = Object.keys(limits) as LimitName[];

/** The remaining budget while an operation is planned. */
export interface PlanBudget extends Record<LimitName, number> {
  /** Collects the patterns, whose cost depends on their values. */
  readonly patterns: Pattern[];
  /** Collects the operands whose size multiplies the work on a row. */
  readonly operands: ComparedOperand[];
  /** Values of objects that lack different keys. */
  cells: number;
}

/** Languages of values. */
export type ValueLanguage = 'regex' | 'jsonpath' | 'tsquery' | 'regconfig';

/** A value in a language. */
export interface Pattern {
  readonly slot: Slot;
  readonly language: ValueLanguage;
  /** Its place, for messages. */
  readonly place: string;
}

/** An operand that PostgreSQL compares with each part of a row's value, in one step that it does not cancel. */
export interface ComparedOperand {
  readonly slot: Slot;
  readonly by: OperandWork;
}

/** The budget of one operation. */
export function createBudget(): PlanBudget {
  const remaining = Object.fromEntries(names.map((name) => [name, limits[name].max])) as Record<LimitName, number>;
  return { ...remaining, patterns: [], operands: [], cells: maxCells };
}

/** Spends a cost. @throws RequestRefusal `LIMIT_EXCEEDED` */
export function spend(budget: PlanBudget, limit: LimitName, cost = 1): void {
  budget[limit] -= cost;
  const hint = 'Send several operations, each with a part of this one.';
  if (budget[limit] < 0)
    throw new RequestRefusal('LIMIT_EXCEEDED', limits[limit].message, { extensions: { limit }, hint });
}

type Spent = readonly (readonly [limit: LimitName, cost: number])[];

/** What has been spent since this copy of the budget was made. */
export function spentSince(before: PlanBudget, budget: PlanBudget): Spent {
  return names.map((limit) => [limit, before[limit] - budget[limit]]);
}

/** Spends it so many times again, for what is planned once and printed more often. */
export function spendAgain(budget: PlanBudget, spent: Spent, times: number): void {
  for (const [limit, cost] of spent) spend(budget, limit, cost * times);
}
