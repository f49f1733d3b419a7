/** Plans an operation. A refused root field does not fail the others: only here are refusals caught. */
import { type FieldNode, type GraphQLObjectType, type OperationDefinitionNode, OperationTypeNode } from 'graphql';
import { PublicError } from '../../../shared/errors.ts';
import { invariant } from '../../../shared/invariant.ts';
import { collectFields } from '../input/collect-fields.ts';
import { RequestRefusal } from '../input/input.ts';
import type { OperationPlan, SelectedValue, ValuePlan } from './plan.ts';
import { planConnection } from './plan-connection.ts';
import { invalidNodeId, planNodeId } from './plan-node-id.ts';
import { planCall, planObject, planRow } from './plan-object.ts';
import {
  descend,
  inputOf,
  inputsOf,
  keySlots,
  locate,
  type MergedFields,
  misplaced,
  type Nesting,
  type Planner,
  planMerged,
} from './planner.ts';
import { planUpdateList } from './write/plan-update-list.ts';
import { planRowWrite, planWrite } from './write/plan-write.ts';

const root: Nesting = { pages: [], depth: 0 };

/** Plans the chosen operation. Refused root fields are in `errors`, with their path. */
export function planOperation(planner: Planner, operation: OperationDefinitionNode): OperationPlan {
  const isMutation = operation.operation === OperationTypeNode.MUTATION;
  const type = planner.schema.getRootType(operation.operation);
  invariant(type, 'validation demands the root type');
  const fields: SelectedValue[] = [];
  const errors: PublicError[] = [];
  for (const [key, nodes] of collectFields(planner, type, [operation])) {
    const before = { costs: planner.costs.length, depth: planner.maxDepth };
    try {
      fields.push(planRootField(planner, type, key, nodes));
    } catch (error) {
      if (!(error instanceof PublicError) || error instanceof RequestRefusal) throw error;
      // A refused field costs nothing.
      planner.costs.length = before.costs;
      planner.maxDepth = before.depth;
      errors.push(
        new PublicError(error.code, error.message, { ...error.details, path: [key], locations: locate(nodes) }),
      );
    }
  }
  const {
    costs,
    maxDepth: depth,
    model: { enums, composites },
  } = planner;
  return { kind: isMutation ? 'mutation' : 'query', fields, errors, costs, depth, enums, composites };
}

function planRootField(
  planner: Planner,
  type: GraphQLObjectType,
  key: string,
  nodes: readonly FieldNode[],
): SelectedValue {
  const name = nodes[0]!.name.value;
  if (name === '__schema' || name === '__type') {
    if (planner.introspection) return { key, kind: 'introspection' };
    throw new PublicError('INTROSPECTION_DISABLED', `Unknown field "${name}" on type Query`);
  }
  return planMerged(type, key, nodes, (field) => planRootValue(planner, field));
}

function planRootValue(planner: Planner, field: MergedFields): ValuePlan {
  const { origin } = field;
  switch (origin.kind) {
    case 'collection':
      return {
        kind: 'connection',
        connection: planConnection(planner, { kind: 'table', table: origin.table }, field, root),
      };
    case 'by_pk': {
      const slots = keySlots(inputsOf(planner, field));
      return planRow(planner, { kind: 'key', table: origin.table, slots }, field, root);
    }
    case 'node':
      return planNode(planner, field);
    case 'routine':
      return planCall(planner, origin.routine, field, root);
    case 'insert':
    case 'update':
    case 'delete':
      return { kind: 'write', write: planWrite(planner, origin.kind, origin.table, field) };
    case 'row_write':
      return { kind: 'write', write: planRowWrite(planner, origin.command, origin.table, field) };
    case 'update_many':
      return { kind: 'update_list', list: planUpdateList(planner, origin.table, field) };
    default:
      throw misplaced(field);
  }
}

function planNode(planner: Planner, field: MergedFields): ValuePlan {
  const input = inputOf(inputsOf(planner, field), 'node_id');
  const { table, slots } = planNodeId(input, [...planner.model.tables.values()], invalidNodeId);
  const type = planner.schema.getType(table.baseName) as GraphQLObjectType;
  const object = planObject(planner, { type, table, nesting: descend(planner, root) }, field.nodes);
  return { kind: 'row', source: { kind: 'key', table, slots }, object };
}
