/**
 * Plans the filter of a JSON value and its parts, at any depth.
 *
 * Refuses too expensive JSON paths (json-path.ts), and what operators refuse (plan-operator.ts).
 */
import { invariant } from '../../../shared/invariant.ts';
import { inputFieldOrigin, type JsonReading } from '../../schema/origin.ts';
import { type Input, RequestRefusal } from '../input/input.ts';
import { spend } from '../input/plan-budget.ts';
import type { Condition, Expression, JsonPart } from './plan.ts';
import { combine, type OperatorContext, planOperator } from './plan-operator.ts';

/** What the filter of a value stands in. */
interface JsonContext extends OperatorContext {
  /** Depth of filters, from 1. */
  readonly level: number;
}

/** The condition of a `JSONFilter` on a value; null if empty. */
export function planJson(at: JsonContext, value: Expression, filter: Input): Condition | null {
  const conditions = filter.fields().map(({ field, input }) => {
    spend(at.budget, 'inputs', at.level);
    const origin = inputFieldOrigin(field);
    if (origin.kind === 'json_parts') return input.state() === 'value' ? planParts(at, value, input) : null;
    return planOperator(at, value, field, input);
  });
  return combine('and', conditions);
}

function planParts(at: JsonContext, value: Expression, parts: Input): Condition | null {
  const below = { ...at, level: at.level + 1 };
  return combine(
    'and',
    [...parts.items()].map((part) => planPart(below, value, part)),
  );
}

function planPart(at: JsonContext, of: Expression, part: Input): Condition | null {
  spend(at.budget, 'inputs', at.level);
  const fields = part.fields();
  const path = fields.find(({ field }) => inputFieldOrigin(field).kind === 'json_path');
  if (path?.input.state() !== 'value') throw new RequestRefusal('BAD_USER_INPUT', `"${part.place()}" has no path.`);
  const keys = path.input.listSlot();
  const conditions = fields.map(({ field, input }) => {
    if (field === path.field) return null;
    spend(at.budget, 'inputs', at.level);
    const origin = inputFieldOrigin(field);
    const read = (as: JsonReading): JsonPart => ({ kind: 'json_part', of, path: keys, as });
    // The text of JSON null is null, like that of an absent part.
    if (origin.kind === 'operator') return planOperator(at, read('text'), field, input);
    invariant(origin.kind === 'json_part', 'filters of parts hold a path and readings');
    return input.state() === 'value' ? planReading(at, read(origin.as), input) : null;
  });
  return combine('and', conditions);
}

function planReading(at: JsonContext, part: JsonPart, filter: Input): Condition | null {
  if (part.as === 'json') return planJson({ ...at, level: at.level + 1 }, part, filter);
  const item = combine(
    'and',
    filter.fields().map(({ field, input }) => planOperator(at, part, field, input)),
  );
  return item === null || part.as === 'text' ? item : { kind: 'json_type', part, type: part.as, item };
}
