/**
 * Plans a list of updates (docs/counters-and-lists.md): one statement for each run of entries that are filtered by key,
 * and one for each other entry, in order.
 */
import { badInput } from '../../../../shared/errors.ts';
import { invariant } from '../../../../shared/invariant.ts';
import { operatorForm, updateOperators } from '../../../model/extensions/update-operators.ts';
import type { Column, Table } from '../../../model/model.ts';
import { inputFieldOrigin } from '../../../schema/origin.ts';
import type { Input } from '../../input/input.ts';
import { maxStatements, spend, spendAgain, spentSince } from '../../input/plan-budget.ts';
import type { Slot } from '../../input/slot.ts';
import type { Run, UpdateListKeys } from '../../input/update-list.ts';
import type { UpdateListPlan } from '../plan.ts';
import { keyColumns } from '../plan-order.ts';
import { inputOf, inputsOf, type MergedFields, type Planner } from '../planner.ts';
import type { BulkUpdate } from './assignment.ts';
import { addRemoved, isChange, planAssignments } from './plan-assignments.ts';
import { planUpdate, planWritten } from './plan-write.ts';

/** Plans a list of updates with its result. */
export function planUpdateList(planner: Planner, table: Table, field: MergedFields): UpdateListPlan {
  const updates = inputOf(inputsOf(planner, field), 'updates');
  updates.requireValue();
  const runs = updates.runs(shapeOf(table));
  if (runs?.length === 0) throw badInput('At least one entry must be provided to updates');
  spend(planner.budget, 'statements', runs?.length ?? maxStatements + 1);
  const writes = runs!.map((run) => {
    const entry = updates.item(run.from);
    const how = { withRelated: false, holder: entry };
    const change = run.isKeyed
      ? planRun(planner, table, updates, run)
      : planUpdate(planner, table, inputsIn(entry), how);
    return { change, place: run.isKeyed ? null : entry.place() };
  });
  const before = { ...planner.budget };
  const entries = planWritten(planner, table, field);
  // Each statement has an answer of its own.
  spendAgain(planner.budget, spentSince(before, planner.budget), writes.length - 1);
  return { table, writes, entries };
}

function inputsIn(entry: Input) {
  entry.requireValue();
  return entry.fields().map(({ field, input }) => ({ origin: inputFieldOrigin(field), input }));
}

/** A run updates a row once, so a table must have no two rows with one key, and equal keys must be found among the entries. */
function shapeOf(table: Table): UpdateListKeys {
  const key = keyColumns(table);
  const isUsable = table.uniqueKey && key.every(isComparable);
  const limits = table.columns.flatMap(({ fieldName, cast: { maxLength } }) =>
    fieldName === null || maxLength === null
      ? []
      : (['set', ...updateOperators] as const).map((operator) => ({ at: [operator, fieldName], maxLength })),
  );
  const isMerged = ({ type }: Column) => type !== null && operatorForm(type, 'append') === 'json';
  return {
    most: maxStatements,
    key: isUsable ? key.map(({ fieldName }) => fieldName!) : null,
    columns: new Set(table.columns.flatMap(({ fieldName }) => fieldName ?? [])),
    limits,
    nested: table.columns.filter(isMerged).map(({ fieldName }) => ['append', fieldName!]),
  };
}

function isComparable({ filterable, fieldName, type, cast, nondeterministicCollation }: Column): boolean {
  return (
    filterable &&
    nondeterministicCollation === null &&
    fieldName !== null &&
    type?.kind !== 'list' &&
    cast.arrays === 'of_it'
  );
}

function planRun(planner: Planner, table: Table, updates: Input, run: Run): BulkUpdate {
  const path = updates.path();
  invariant(path, 'a list of updates is read like a variable');
  const values = (at: readonly string[], isList: boolean): Slot => ({ kind: 'entry_values', path, run, at, isList });
  const entry = updates.item(run.from);
  const inputs = inputsIn(entry).flatMap(({ origin: { kind }, input }) =>
    isChange(kind) ? [[kind, input] as const] : [],
  );
  const set = planAssignments(new Map(inputs), { withRelated: false, holder: entry }).map(
    ({ column, operator, slot }) => ({
      column,
      operator,
      slot: values([operator, column.fieldName!], slot.kind === 'list'),
    }),
  );
  addRemoved(planner.budget, set);
  return {
    kind: 'update_each',
    keys: keyColumns(table).map((column) => ({ column, values: values(['filter', column.fieldName!, 'eq'], false) })),
    set,
  };
}
