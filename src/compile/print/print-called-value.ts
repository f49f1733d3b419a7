/**
 * Prints a call at the root that gives one plain value as the call alone; the gateway makes the JSON.
 */

import type { CallPlan } from '../plan/plan.ts';
import type { AnswerColumn } from './answer-layout.ts';
import { printCall } from './printer.ts';
import { plainForms } from './row-layout.ts';
import { type Sql, sql } from './sql.ts';

/** A select of one row with one column. */
export interface PrintedValue {
  readonly select: Sql;
  readonly column: { readonly kind: 'column' } & AnswerColumn;
}

/** Prints the call; null where its value is no plain scalar. */
export function printCalledValue(call: CallPlan): PrintedValue | null {
  const { result, returnsSet } = call.routine;
  if (returnsSet || result.kind !== 'value' || result.type.kind !== 'scalar') return null;
  const form = plainForms[result.type.scalar];
  if (form === undefined) return null;
  return { select: sql`select ${printCall(call, null)}`, column: { kind: 'column', index: 0, form } };
}
