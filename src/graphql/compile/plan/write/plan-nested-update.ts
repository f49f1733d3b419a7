/**
 * Plans the inserts, updates and deletes of related rows in the `set` of an update (docs/nested-writes.md).
 *
 * Refuses columns that relationships set, and too many levels.
 */
import type { FieldNode } from 'graphql';
import { invariant } from '../../../../shared/invariant.ts';
import type { Table } from '../../../model/model.ts';
import { inputFieldOrigin } from '../../../schema/origin.ts';
import type { Input } from '../../input/input.ts';
import type { Slot } from '../../input/slot.ts';
import type { WriteChange, WritePlan } from '../plan.ts';
import type { NestedField } from '../plan-connected.ts';
import { columnOf } from '../plan-order.ts';
import { planNestedObjects, refuseGiven } from '../plan-rows.ts';
import type { Planner } from '../planner.ts';
import type { Within } from './nested-writes.ts';
import { planAssignments } from './plan-assignments.ts';
import { planChangedRows } from './plan-changed-rows.ts';
import { planStep } from './plan-insert.ts';
import { addStep, type Building, type BuiltStep, enter, finish, keyOf } from './plan-nested-steps.ts';

/** Adds the writes of related rows to a planned update of `table`. */
export function planRelated(
  planner: Planner,
  { table, nodes }: { readonly table: Table; readonly nodes: readonly FieldNode[] },
  change: WriteChange,
  set: Input,
): Pick<WritePlan, 'change' | 'nested'> {
  const steps: BuiltStep[] = [];
  planUpdateStep({ planner, nodes, steps }, { table, change, set, level: 0, within: null });
  return { change, nested: finish(steps, 0) };
}

interface Level {
  readonly table: Table;
  readonly change: WriteChange;
  readonly set: Input;
  /** Number of updates that it is nested in. */
  readonly level: number;
  readonly within: Within | null;
}

function planUpdateStep(building: Building, { table, change, set, level, within }: Level): void {
  const { planner, steps } = building;
  const nested = nestedFields(set);
  const insertsAny = nested.some(({ inputs }) => inputs.get('nested_insert')?.state() === 'value');
  const count: Slot | null = insertsAny ? { kind: 'constant', value: '1' } : null;
  const own = { table, change, count, within, keys: [], place: set.place(), keepsRows: null };
  const number = addStep(building, own);
  for (const { inputs, ...of } of nested) {
    enter(planner, level);
    const below = withinOf(steps[number]!, number, of);
    const { target } = of;
    for (const entry of itemsOf(inputs.get('nested_delete'))) {
      const guards = planGuards(planner, target, level + 1, entry);
      addStep(building, {
        table: target,
        change: { kind: 'delete', ...guards },
        count: null,
        within: below,
        keys: [],
        place: entry.place(),
        keepsRows: null,
      });
    }
    for (const entry of itemsOf(inputs.get('nested_update'))) {
      const inner = entry.fields().find(({ field }) => inputFieldOrigin(field).kind === 'set')?.input;
      invariant(inner, 'validation demands set');
      inner.requireValue();
      refuseKeys(inner, below, of);
      const guards = planGuards(planner, target, level + 1, entry);
      const update = {
        kind: 'update',
        set: planAssignments(new Map([['set', inner]]), { withRelated: true, holder: inner }),
        ...guards,
      } as const;
      planUpdateStep(building, { table: target, change: update, set: inner, level: level + 1, within: below });
    }
    const objects = inputs.get('nested_insert');
    const found = objects?.state() === 'value' ? planNestedObjects(objects) : null;
    if (found === null) continue;
    const parent = { step: number, nested: of, places: found.parents };
    const onConflict = inputs.get('on_conflict') ?? null;
    planStep(building, { table: target, rows: found.rows, place: null, level: level + 1, parent, onConflict });
  }
}

function nestedFields(set: Input) {
  return set.fields().flatMap(({ field, input }) => {
    const origin = inputFieldOrigin(field);
    if (origin.kind !== 'nested' || input.state() !== 'value') return [];
    const inputs = new Map(input.fields().map((each) => [inputFieldOrigin(each.field).kind, each.input]));
    return [{ field, relationship: origin.relationship, target: origin.target, inputs }];
  });
}

// One by one, so that a list of too many is not read to its end.
function* itemsOf(list: Input | undefined): Generator<Input> {
  if (list?.state() !== 'value') return;
  for (const item of list.items()) if (item.state() === 'value') yield item;
}

function withinOf(from: BuiltStep, step: number, { relationship, target }: NestedField): Within {
  const pairs = relationship.pairs.map(({ local, foreign }) => {
    const of = columnOf(from.table, local);
    return { column: columnOf(target, foreign), of, key: keyOf(from, of) };
  });
  return { step, pairs };
}

function refuseKeys(set: Input, { pairs }: Within, nested: NestedField): void {
  for (const { field, input } of set.fields()) {
    const origin = inputFieldOrigin(field);
    if (origin.kind === 'column' && pairs.some(({ column }) => column === origin.column))
      throw refuseGiven(field.name, nested, input.place());
  }
}

function planGuards(planner: Planner, table: Table, level: number, entry: Input) {
  const given = new Map(entry.fields().map(({ field, input }) => [inputFieldOrigin(field).kind, input]));
  const chosen = { filter: given.get('filter'), atMost: given.get('at_most') };
  return planChangedRows({ planner, table, depth: level + 1 }, chosen);
}
