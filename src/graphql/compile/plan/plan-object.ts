/** Plans the fields of a table's object type: columns, relationships, computed fields. */
import type { FieldNode } from 'graphql';
import type { Routine } from '../../model/model.ts';
import type { Slot } from '../input/slot.ts';
import type { LimitPlan, ObjectPlan, ResultPlan, RowSource, ValuePlan } from './plan.ts';
import { planArguments } from './plan-arguments.ts';
import { planConnection } from './plan-connection.ts';
import { planNumber } from './plan-groups.ts';
import { planLimit, planOffset } from './plan-page.ts';
import { planFieldRank } from './plan-search.ts';
import {
  descend,
  type Inputs,
  inputOf,
  inputsOf,
  type MergedFields,
  misplaced,
  type Nesting,
  objectTypeOf,
  type PlannedRow,
  type Planner,
  planFields,
  tableOf,
} from './planner.ts';

/** Plans a row's object from the selections of merged parents. */
export function planObject(planner: Planner, row: PlannedRow, parents: readonly FieldNode[]): ObjectPlan {
  return { entries: planFields(planner, row.type, parents, (field) => planField(planner, row, field)) };
}

function planField(planner: Planner, { table, nesting }: PlannedRow, field: MergedFields): ValuePlan {
  const { origin } = field;
  switch (origin.kind) {
    case 'node_id':
      return { kind: 'node_id', table };
    case 'column':
      return { kind: 'column', column: origin.column, at: planJsonAt(planner, field) };
    case 'relationship': {
      const { relationship, target } = origin;
      const source = { kind: 'relationship', relationship, from: table, table: target } as const;
      if (relationship.cardinality === 'one') return planRow(planner, source, field, nesting);
      return { kind: 'connection', connection: planConnection(planner, source, field, nesting) };
    }
    case 'rank':
      return {
        kind: 'rank',
        rank: planFieldRank(planner.budget, origin.column, field.definition.name, inputsOf(planner, field)),
      };
    case 'computed':
      return planCall(planner, origin.routine, field, nesting);
    default:
      throw misplaced(field);
  }
}

/** The path of the requested part, null for the whole value. */
function planJsonAt(planner: Planner, field: MergedFields): Slot | null {
  const path = inputsOf(planner, field).find(({ origin }) => origin.kind === 'json_at')?.input;
  return path?.state() === 'value' ? path.listSlot() : null;
}

/** Plans the row of a field. */
export function planRow(planner: Planner, source: RowSource, field: MergedFields, nesting: Nesting): ValuePlan {
  const row = { type: objectTypeOf(field.definition), table: source.table, nesting: descend(planner, nesting) };
  return { kind: 'row', source, object: planObject(planner, row, field.nodes) };
}

/** Plans the result of a routine, for any field. */
export function planCall(planner: Planner, routine: Routine, field: MergedFields, nesting: Nesting): ValuePlan {
  const { result } = routine;
  const call = { routine, arguments: planArguments(inputsOf(planner, field)) };
  if (result.kind === 'object')
    return { kind: 'result', result: { call, ...planResult(planner, result.maxRows, field, nesting) } };
  if (result.kind !== 'row' && result.kind !== 'set') return { kind: 'call', call, at: planJsonAt(planner, field) };
  const source = { kind: 'routine', call, table: tableOf(planner, result.table) } as const;
  if (result.kind === 'row') return planRow(planner, source, field, nesting);
  return { kind: 'connection', connection: planConnection(planner, source, field, nesting) };
}

/** Plans a result with columns of its own. @param maxRows Null: a single object. */
function planResult(
  planner: Planner,
  maxRows: number | null,
  field: MergedFields,
  nesting: Nesting,
): Omit<ResultPlan, 'call'> {
  const page = maxRows === null ? null : planList(inputsOf(planner, field), maxRows);
  descend(planner, nesting, page?.limit);
  const entries = planFields(planner, objectTypeOf(field.definition), field.nodes, (column) => {
    if (column.origin.kind !== 'column') throw misplaced(column);
    return { kind: 'column', column: column.origin.column, at: planJsonAt(planner, column) } as const;
  });
  return { object: { entries }, page };
}

function planList(inputs: Inputs, maxRows: number): ResultPlan['page'] {
  const [first, offset] = (['first', 'offset'] as const).map((kind) => planNumber(kind, inputOf(inputs, kind)));
  const limit: LimitPlan = first ? planLimit(first, maxRows) : { kind: 'constant', value: maxRows };
  return { limit, offset: offset ? planOffset(offset) : null };
}
