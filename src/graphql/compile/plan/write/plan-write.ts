/**
 * Plans a root field of a mutation that writes a table (docs/mutations.md).
 *
 * See plan-insert.ts for the objects of inserts, plan-assignments.ts for the changes of updates.
 */
import type { Table, WriteCommand } from '../../../model/model.ts';
import type { Input } from '../../input/input.ts';
import { isCounted } from '../inspect-plan.ts';
import type { UpdateChange, WritePlan } from '../plan.ts';
import {
  descend,
  type Inputs,
  inputOf,
  inputsOf,
  keySlots,
  type MergedFields,
  maybeInputOf,
  objectTypeOf,
  type Planner,
  planFields,
} from '../planner.ts';
import { addRemoved, type ChangeContext, isChange, planAssignments } from './plan-assignments.ts';
import { planChangedRows } from './plan-changed-rows.ts';
import { planInsert, type WriteTarget } from './plan-insert.ts';
import { planRelated } from './plan-nested-update.ts';

/** Plans one insert, update or delete with its result. */
export function planWrite(
  planner: Planner,
  kind: 'insert' | 'update' | 'delete',
  table: Table,
  field: MergedFields,
): WritePlan {
  const inputs = inputsOf(planner, field);
  const entries = planWritten(planner, table, field);
  const target = { planner, table, nodes: field.nodes, isCounted: isCounted(table, { entries, isRow: false }) };
  const planned =
    kind === 'insert'
      ? planInsert(target, inputOf(inputs, 'objects'), maybeInputOf(inputs, 'on_conflict'))
      : planChange(target, kind, inputs, planRows(planner, table, inputs));
  return { table, ...planned, entries, isRow: false };
}

/** Plans the write of one row, whose result is the row. Others are never written: the key finds one at most. */
export function planRowWrite(planner: Planner, command: WriteCommand, table: Table, field: MergedFields): WritePlan {
  const inputs = inputsOf(planner, field);
  const entries = [{ key: field.key, ...planRecord(planner, table, field) }];
  const target = { planner, table, nodes: field.nodes, isCounted: isCounted(table, { entries, isRow: true }) };
  const byKey = () => ({
    filter: { kind: 'key', table, slots: keySlots(inputs) } as const,
    atMost: { kind: 'constant', value: '1' } as const,
  });
  const planned =
    command === 'insert'
      ? planInsert(target, inputOf(inputs, 'object'), maybeInputOf(inputs, 'on_conflict'))
      : planChange(target, command, inputs, byKey());
  return { table, ...planned, entries, isRow: true };
}

/** The result of a write. */
export function planWritten(planner: Planner, table: Table, field: MergedFields): WritePlan['entries'] {
  return planFields(planner, objectTypeOf(field.definition), field.nodes, (entry) =>
    entry.origin.kind === 'affected_count' ? ({ kind: 'affected_count' } as const) : planRecord(planner, table, entry),
  );
}

function planRecord(planner: Planner, table: Table, { definition, nodes }: MergedFields) {
  const row = { type: objectTypeOf(definition), table, nesting: descend(planner, { pages: [], depth: 0 }) };
  return { kind: 'records', object: planner.planObject(planner, row, nodes) } as const;
}

/** Arguments, or entries of an input object. */
type ChangeInputs = readonly { readonly origin: { readonly kind: string }; readonly input: Input }[];

function planChange(
  { planner, ...target }: WriteTarget,
  kind: 'update' | 'delete',
  inputs: Inputs,
  rows: ChangedRows,
): Pick<WritePlan, 'change' | 'nested'> {
  if (kind === 'delete') return { change: { kind, ...rows }, nested: null };
  const change = { ...planChanges(planner, inputs, { withRelated: true, holder: null }), ...rows };
  return planRelated(planner, target, change, inputOf(inputs, 'set'));
}

/** The change of an update. Related rows in it are planned by `planRelated`. */
export function planUpdate(planner: Planner, table: Table, inputs: ChangeInputs, how: ChangeContext): UpdateChange {
  return { ...planChanges(planner, inputs, how), ...planRows(planner, table, inputs) };
}

function planChanges(
  planner: Planner,
  inputs: ChangeInputs,
  how: ChangeContext,
): Omit<UpdateChange, keyof ChangedRows> {
  const set = planAssignments(
    new Map(inputs.flatMap(({ origin: { kind }, input }) => (isChange(kind) ? [[kind, input]] : []))),
    how,
  );
  addRemoved(planner.budget, set);
  return { kind: 'update', set, links: [] };
}

type ChangedRows = Pick<UpdateChange, 'filter' | 'atMost'>;

function planRows(planner: Planner, table: Table, inputs: ChangeInputs): ChangedRows {
  const inputOf = (name: string) => inputs.find(({ origin }) => origin.kind === name)?.input;
  return planChangedRows({ planner, table, depth: 1 }, { filter: inputOf('filter'), atMost: inputOf('at_most') });
}
