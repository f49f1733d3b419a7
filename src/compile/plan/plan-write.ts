/**
 * Plans a root field of a mutation that writes a table (docs/mutations.md).
 *
 * See plan-insert.ts for the objects of inserts, plan-assignments.ts for the changes of updates.
 */
import type { Table } from '../../model/model.ts';
import type { Input } from '../input/input.ts';
import type { Slot } from '../input/slot.ts';
import type { WriteChange, WritePlan } from './plan.ts';
import { type ChangeInputs, isChange, planAssignments } from './plan-assignments.ts';
import { planFilter } from './plan-filter.ts';
import { planInsert } from './plan-insert.ts';
import {
  descend,
  type Inputs,
  inputOf,
  inputsOf,
  type MergedFields,
  maybeInputOf,
  objectTypeOf,
  type Planner,
  planFields,
} from './planner.ts';

/** Plans one insert, update or delete with its result. */
export function planWrite(
  planner: Planner,
  kind: 'insert' | 'update' | 'delete',
  table: Table,
  field: MergedFields,
): WritePlan {
  const inputs = inputsOf(planner, field);
  const planned =
    kind === 'insert'
      ? planInsert(
          { planner, table, nodes: field.nodes },
          inputOf(inputs, 'objects'),
          maybeInputOf(inputs, 'on_conflict'),
        )
      : { change: planChange(planner, kind, table, inputs), tree: null };
  const entries = planFields(planner, objectTypeOf(field.definition), field.nodes, ({ origin, definition, nodes }) => {
    if (origin.kind === 'affected_count') return { kind: 'affected_count' } as const;
    const row = { type: objectTypeOf(definition), table, place: descend(planner, { pages: [], depth: 0 }) };
    return { kind: 'records', object: planner.planObject(planner, row, nodes) } as const;
  });
  return { table, ...planned, entries };
}

function planChange(planner: Planner, kind: 'update' | 'delete', table: Table, inputs: Inputs): WriteChange {
  const atMost = planAtMost(inputOf(inputs, 'at_most'));
  const set = kind === 'update' ? planAssignments(changeInputs(inputs)) : [];
  const place = { pages: [{ kind: 'slot', slot: atMost }], depth: 1 } as const;
  const filter = planFilter(planner, place, table, inputOf(inputs, 'filter'));
  return kind === 'update' ? { kind, set, filter, atMost } : { kind, filter, atMost };
}

function changeInputs(inputs: Inputs): ChangeInputs {
  return new Map(inputs.flatMap(({ origin: { kind }, input }) => (isChange(kind) ? [[kind, input]] : [])));
}

// With an absent variable, the schema's default applies; `state` refuses null.
function planAtMost(input: Input): Slot {
  if (!input.isGiven()) return { kind: 'constant', value: '1' };
  input.state();
  return input.slot();
}
