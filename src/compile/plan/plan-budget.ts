/**
 * How large the statement of one operation may become. A small document is a very large statement where fragments are spread many
 * times, where a variable that is written once stands in many places, and where a condition is nested deep, which is read through
 * all levels above it.
 */
import { RequestRefusal } from './input.ts';
import type { Slot } from './slot.ts';

/** Counts down while an operation is planned. */
export interface PlanBudget {
  /** Fields that lead to a table. */
  tables: number;
  /** Conditions of filters and terms of orders, each as often as there are levels or terms above it. */
  inputs: number;
  /** Collects the regular expressions: what one costs is known by its value. */
  readonly patterns: Slot[];
}

/** PostgreSQL takes seconds to plan more, whatever they return. */
export const maxTables = 1000;
/** About twenty thousand conditions side by side, or four hundred one within the other. */
export const maxInputs = 100_000;

/** Takes one table. @throws RequestRefusal `LIMIT_EXCEEDED` */
export function spendTable(budget: PlanBudget): void {
  budget.tables -= 1;
  if (budget.tables >= 0) return;
  const message = `The operation has more than ${maxTables} fields that lead to a table when its fragments are spread out.`;
  throw new RequestRefusal('LIMIT_EXCEEDED', message, { extensions: { limit: 'tables' } });
}

/** Takes what one input costs. @throws RequestRefusal `LIMIT_EXCEEDED` */
export function spendInput(budget: PlanBudget, cost: number): void {
  budget.inputs -= cost;
  if (budget.inputs >= 0) return;
  const message = 'The filters and orders of the operation have too many conditions, or are nested too deep.';
  throw new RequestRefusal('LIMIT_EXCEEDED', message, { extensions: { limit: 'inputs' } });
}
