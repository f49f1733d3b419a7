/**
 * Plans an operation: every root field on its own, so that one that is refused does not take the others with it
 * (graphql.md 12.6). The only place where a refusal is caught.
 */
import {
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import { fieldOrigin } from '../../schema/origin.ts';
import { PublicError } from '../../shared/errors.ts';
import { invariant } from '../../shared/invariant.ts';
import { collectFields, selectionSetsOf } from './collect-fields.ts';
import { RequestRefusal } from './input.ts';
import type { CallPlan, Entry, OperationPlan, ValuePlan } from './plan.ts';
import { planConnection } from './plan-connection.ts';
import { invalidNodeId, planNodeId } from './plan-node-id.ts';
import { planCall, planObject } from './plan-object.ts';
import { planWrite } from './plan-write.ts';
import {
  definitionOf,
  descend,
  firstOf,
  inputOf,
  inputsOf,
  objectTypeOf,
  type Place,
  type Planner,
} from './planner.ts';

const root: Place = { pages: [], depth: 0 };

/** Plans the chosen operation. Refused root fields are in `errors`, with their path. */
export function planOperation(planner: Planner, operation: OperationDefinitionNode): OperationPlan {
  const isMutation = operation.operation === OperationTypeNode.MUTATION;
  const type = isMutation ? planner.schema.getMutationType() : planner.schema.getQueryType();
  invariant(type, 'validation demands the root type');
  const fields: Entry[] = [];
  const errors: PublicError[] = [];
  for (const [key, nodes] of collectFields(planner, type, [operation.selectionSet])) {
    const before = { costs: planner.costs.length, depth: planner.maxDepth };
    try {
      fields.push({ key, value: planRootField(planner, type, key, nodes) });
    } catch (error) {
      if (!(error instanceof PublicError) || error instanceof RequestRefusal) throw error;
      // What is not run costs nothing.
      planner.costs.length = before.costs;
      planner.maxDepth = before.depth;
      errors.push(
        new PublicError(error.code, error.message, { ...error.details, path: [key], locations: locate(nodes) }),
      );
    }
  }
  const { costs, maxDepth: depth } = planner;
  return { kind: isMutation ? 'mutation' : 'query', fields, errors, costs, depth, enums: planner.model.enums };
}

function planRootField(
  planner: Planner,
  type: GraphQLObjectType,
  key: string,
  fields: readonly FieldNode[],
): ValuePlan {
  const node = firstOf(fields);
  const name = node.name.value;
  if (name === '__typename') return { kind: 'typename', name: type.name };
  if (name === '__schema' || name === '__type') return planIntrospection(planner, key, name);
  const definition = definitionOf(type, node);
  const origin = fieldOrigin(definition);
  switch (origin.kind) {
    case 'collection': {
      const source = { kind: 'table', table: origin.table } as const;
      return { kind: 'connection', connection: planConnection(planner, { source, definition, fields }, root) };
    }
    case 'by_pk':
      return planByPk(planner, definition, fields);
    case 'node':
      return planNode(planner, definition, fields);
    case 'routine': {
      const call = planArguments(planner, definition, node, origin.routine);
      return planCall(planner, { call, definition, fields }, root);
    }
    case 'insert':
    case 'update':
    case 'delete':
      return {
        kind: 'write',
        write: planWrite(planner, { kind: origin.kind, table: origin.table, definition, fields }),
      };
    default:
      invariant(false, `a ${origin.kind} field cannot stand on ${type.name}`);
  }
}

function planIntrospection(planner: Planner, key: string, name: string): ValuePlan {
  if (planner.introspection) return { kind: 'introspection', key };
  throw new PublicError('INTROSPECTION_DISABLED', `Unknown field "${name}" on type Query`);
}

function planByPk(
  planner: Planner,
  definition: GraphQLField<unknown, unknown>,
  fields: readonly FieldNode[],
): ValuePlan {
  const origin = fieldOrigin(definition);
  invariant(origin.kind === 'by_pk', 'a key lookup');
  const { table } = origin;
  const slots = inputsOf(planner, definition, firstOf(fields)).map(({ input }) => {
    // A null key is a request error, which `state` raises: the argument is non-null.
    input.state();
    return input.slot();
  });
  const row = { type: objectTypeOf(definition), table, place: descend(planner, root) };
  return {
    kind: 'row',
    source: { kind: 'key', table, slots },
    object: planObject(planner, row, selectionSetsOf(fields)),
  };
}

function planNode(
  planner: Planner,
  definition: GraphQLField<unknown, unknown>,
  fields: readonly FieldNode[],
): ValuePlan {
  const input = inputOf(inputsOf(planner, definition, firstOf(fields)), 'node_id');
  const { table, slots } = planNodeId(input, [...planner.model.tables.values()], invalidNodeId);
  const type = planner.schema.getType(table.baseName) as GraphQLObjectType;
  const row = { type, table, place: descend(planner, root) };
  return {
    kind: 'row',
    source: { kind: 'key', table, slots },
    object: planObject(planner, row, selectionSetsOf(fields)),
  };
}

function planArguments(
  planner: Planner,
  definition: GraphQLField<unknown, unknown>,
  node: FieldNode,
  routine: CallPlan['routine'],
): CallPlan {
  const given = inputsOf(planner, definition, node).flatMap(({ origin, input }) => {
    if (origin.kind !== 'routine_argument') return [];
    const { argument } = origin;
    // Left out of the call, so that PostgreSQL applies its own default (11.4).
    if (input.state() === 'absent') return [];
    return [{ argument, slot: argument.type.kind === 'list' ? input.listSlot() : input.slot() }];
  });
  return { routine, arguments: given };
}

function locate(nodes: readonly FieldNode[]): readonly { readonly line: number; readonly column: number }[] {
  const { loc } = firstOf(nodes);
  if (!loc) return [];
  const before = loc.source.body.slice(0, loc.start).split(/\r\n|\n|\r/);
  return [{ line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }];
}
