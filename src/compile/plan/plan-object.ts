/**
 * Plans the fields of a table's object type: columns, relationships, computed fields.
 */
import type { FieldNode, SelectionSetNode } from 'graphql';
import { fieldOrigin } from '../../schema/origin.ts';
import { invariant } from '../../shared/invariant.ts';
import { collectFields, selectionSetsOf } from './collect-fields.ts';
import type { CallPlan, ObjectPlan, ValuePlan } from './plan.ts';
import { planConnection } from './plan-connection.ts';
import {
  definitionOf,
  descend,
  firstOf,
  objectTypeOf,
  type Place,
  type PlannedRow,
  type Planner,
  tableOf,
} from './planner.ts';

/** Plans an object of `table` from the selection sets that were merged for it. */
export function planObject(planner: Planner, row: PlannedRow, selectionSets: readonly SelectionSetNode[]): ObjectPlan {
  const entries = [...collectFields(planner, row.type, selectionSets)].map(([key, fields]) => ({
    key,
    value: planField(planner, row, fields),
  }));
  return { entries };
}

function planField(planner: Planner, row: PlannedRow, fields: readonly FieldNode[]): ValuePlan {
  const node = firstOf(fields);
  if (node.name.value === '__typename') return { kind: 'typename', name: row.type.name };
  const definition = definitionOf(row.type, node);
  const origin = fieldOrigin(definition);
  switch (origin.kind) {
    case 'node_id':
      return { kind: 'node_id', table: row.table };
    case 'column':
      return { kind: 'column', column: origin.column };
    case 'relationship': {
      const { relationship, target } = origin;
      const source = { kind: 'relationship', relationship, from: row.table, table: target } as const;
      if (relationship.cardinality === 'many') {
        return { kind: 'connection', connection: planConnection(planner, { source, definition, fields }, row.place) };
      }
      const below = { type: objectTypeOf(definition), table: target, place: descend(planner, row.place) };
      return { kind: 'row', source, object: planObject(planner, below, selectionSetsOf(fields)) };
    }
    case 'computed':
      return planCall(planner, { call: { routine: origin.routine, arguments: [] }, definition, fields }, row.place);
    default:
      invariant(false, `a ${origin.kind} field cannot stand on ${row.type.name}`);
  }
}

/** Plans what a routine gives back, wherever it stands. */
export function planCall(
  planner: Planner,
  field: {
    readonly call: CallPlan;
    readonly definition: ReturnType<typeof definitionOf>;
    readonly fields: readonly FieldNode[];
  },
  place: Place,
): ValuePlan {
  const { result } = field.call.routine;
  if (result.kind !== 'row' && result.kind !== 'set') return { kind: 'call', call: field.call };
  const source = { kind: 'routine', call: field.call, table: tableOf(planner, result.table) } as const;
  if (result.kind === 'set') {
    return { kind: 'connection', connection: planConnection(planner, { source, ...field }, place) };
  }
  const below = { type: objectTypeOf(field.definition), table: source.table, place: descend(planner, place) };
  return { kind: 'row', source, object: planObject(planner, below, selectionSetsOf(field.fields)) };
}
