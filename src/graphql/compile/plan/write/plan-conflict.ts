/**
 * Plans what an insert does with rows that are there already (extension `writes`, docs/upsert.md).
 *
 * Refuses what filters refuse (plan-filter.ts).
 */
import { invariant } from '../../../../shared/invariant.ts';
import { isUpsertable } from '../../../model/extensions/conflict-targets.ts';
import type { Table } from '../../../model/model.ts';
import { inputFieldOrigin } from '../../../schema/origin.ts';
import { type Input, refuseInput } from '../../input/input.ts';
import type { ConflictPlan, LimitPlan, ObjectsPlace } from '../plan.ts';
import { planFilter } from '../plan-filter.ts';
import { columnOf } from '../plan-order.ts';
import type { Planner } from '../planner.ts';

/** The objects that may meet rows. */
interface ConflictingObjects {
  readonly place: ObjectsPlace;
  /** Their number: the filter is evaluated once for each of them. */
  readonly count: LimitPlan;
  /** Number of tables down to theirs. */
  readonly depth: number;
}

/** Plans a *B*`OnConflict`; null without one. */
export function planConflict(
  planner: Planner,
  table: Table,
  onConflict: Input,
  { place, count, depth }: ConflictingObjects,
): ConflictPlan | null {
  if (onConflict.state() !== 'value') return null;
  const given = new Map(onConflict.fields().map(({ field, input }) => [inputFieldOrigin(field).kind, input]));
  const constraint = given.get('conflict_target');
  invariant(constraint, 'validation demands the constraint');
  constraint.requireValue();
  const target = table.conflictTargets[Number(constraint.choice())];
  invariant(target, 'the schema has the targets of the model');
  const filter = given.get('conflict_filter');
  return {
    target,
    update: planColumns(table, given.get('update_columns')),
    filter: filter === undefined ? null : planFilter(planner, { pages: [count], depth }, table, filter),
    objects: place,
  };
}

// In the table's order, so that the order of the names makes no second text.
function planColumns(table: Table, columns: Input | undefined): ConflictPlan['update'] {
  if (columns === undefined) return [];
  columns.requireValue();
  const named = new Set(
    [...columns.items()].map((item) => {
      item.requireValue();
      const column = columnOf(table, Number(item.choice()));
      // The enum has the columns of reads, too.
      if (isUpsertable(column)) return column;
      const message = `"${column.fieldName}" cannot be updated: the role may not insert, update and read it.`;
      throw refuseInput(message, item);
    }),
  );
  return [...named].sort((a, b) => a.number - b.number);
}

/** Whether the rows that are there are looked up, because they can be hidden from the role. The filter is then printed twice. */
export function mayMeetHidden({ target, filter }: ConflictPlan): boolean {
  return target.hiddenBy === 'view' || (target.hiddenBy === 'policy' && filter !== null);
}

/** Whether a row that is there may stay as it is: its object is then not written. */
export function mayKeepRows(conflict: ConflictPlan | null): boolean {
  return conflict !== null && (conflict.update.length === 0 || conflict.filter !== null);
}
