/**
 * How large the statement of one operation may become. A small document is a very large statement where fragments are spread many
 * times, where a variable that is written once stands in many places, and where a condition is nested deep, which is read through
 * all levels above it.
 */
import { RequestRefusal } from './input.ts';
import type { Slot } from './slot.ts';

const limits = {
  /** Selections, fragments spread out: thirty that spread each other twice are a thousand million fields of a small document. */
  selections: {
    most: 50_000,
    message: 'The operation selects more than 50000 fields when its fragments are spread out.',
  },
  /** Fields that lead to a table. PostgreSQL takes seconds to plan more, whatever they return. */
  tables: {
    most: 1000,
    message: 'The operation has more than 1000 fields that lead to a table when its fragments are spread out.',
  },
  /**
   * Conditions of filters and terms of orders, each as often as there are levels or terms above it: about twenty thousand
   * conditions side by side, or four hundred one within the other.
   */
  inputs: {
    most: 100_000,
    message: 'The filters and orders of the operation have too many conditions, or are nested too deep.',
  },
  /** Each may be called for every row of a table. */
  functions: {
    most: 100,
    message: 'The filters and orders of the operation call functions more than 100 times.',
  },
  /** Each may be asked for every row of a table. */
  relationFilters: {
    most: 20,
    message: 'The operation has more than 20 filters through relationships.',
  },
} as const;

/** Counts down while an operation is planned. */
export interface PlanBudget extends Record<keyof typeof limits, number> {
  /** Collects the patterns: what one costs is known by its value. */
  readonly patterns: Pattern[];
}

/** What values are written in that are more than values. */
export type ValueLanguage = 'regex' | 'jsonpath' | 'tsquery' | 'regconfig';

/** A value in a language of its own. */
export interface Pattern {
  readonly slot: Slot;
  readonly language: ValueLanguage;
  /** Where it is written, for messages. */
  readonly place: string;
}

/** What one operation may spend. */
export function createBudget(): PlanBudget {
  const { selections, tables, inputs, functions, relationFilters } = limits;
  return {
    selections: selections.most,
    tables: tables.most,
    inputs: inputs.most,
    functions: functions.most,
    relationFilters: relationFilters.most,
    patterns: [],
  };
}

/** Takes what one thing costs. @throws RequestRefusal `LIMIT_EXCEEDED` */
export function spend(budget: PlanBudget, limit: keyof typeof limits, cost = 1): void {
  budget[limit] -= cost;
  if (budget[limit] < 0) throw new RequestRefusal('LIMIT_EXCEEDED', limits[limit].message, { extensions: { limit } });
}
