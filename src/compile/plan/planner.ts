/**
 * What the planning functions share: the role's model and schema, the document, and what was learned on the way.
 */
import {
  type FieldNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  getNamedType,
  isObjectType,
  type SelectionSetNode,
} from 'graphql';
import type { Model, Oid, Table } from '../../model/model.ts';
import { type ArgumentOrigin, argumentOrigin } from '../../schema/origin.ts';
import { invariant } from '../../shared/invariant.ts';
import type { SelectionScope } from './collect-fields.ts';
import { Input } from './input.ts';
import type { LimitPlan, ObjectPlan } from './plan.ts';
import { type PlanBudget, spendTable } from './plan-budget.ts';

/** Shared state of one planning run. */
export interface Planner extends SelectionScope {
  readonly model: Model;
  readonly budget: SelectionScope['budget'] & PlanBudget;
  /** `__schema` and `__type` are answered. */
  readonly introspection: boolean;
  /** Page sizes along the path of each collection. */
  readonly costs: (readonly LimitPlan[])[];
  /** Most fields leading to another table on one path so far. */
  maxDepth: number;
  /** Objects and connections contain each other; the recursion runs through here, so that no two files import each other. */
  planObject(planner: Planner, row: PlannedRow, selectionSets: readonly SelectionSetNode[]): ObjectPlan;
}

/** A row whose fields are being planned. */
export interface PlannedRow {
  readonly type: GraphQLObjectType;
  readonly table: Table;
  readonly place: Place;
}

/** Where in the answer planning stands. */
export interface Place {
  /** Page sizes of the collections above. */
  readonly pages: readonly LimitPlan[];
  /** Fields leading to another table above. */
  readonly depth: number;
}

/** The place below a field that leads to another table. */
export function descend(planner: Planner, place: Place, page: LimitPlan | null = null): Place {
  spendTable(planner.budget);
  const depth = place.depth + 1;
  planner.maxDepth = Math.max(planner.maxDepth, depth);
  if (page === null) return { pages: place.pages, depth };
  const pages = [...place.pages, page];
  planner.costs.push(pages);
  return { pages, depth };
}

/** The first of the merged fields; all of them have the same name and arguments. */
export function firstOf(fields: readonly FieldNode[]): FieldNode {
  const [field] = fields;
  invariant(field, 'a response key has a field');
  return field;
}

/** The definition of a field that validation has found. */
export function definitionOf(type: GraphQLObjectType, node: FieldNode): GraphQLField<unknown, unknown> {
  const definition = type.getFields()[node.name.value];
  invariant(definition, `${type.name} has no field ${node.name.value}`);
  return definition;
}

/** The object type below a field. */
export function objectTypeOf(definition: GraphQLField<unknown, unknown>): GraphQLObjectType {
  const type: GraphQLNamedType = getNamedType(definition.type);
  invariant(isObjectType(type), `${definition.name} does not lead to an object`);
  return type;
}

/** The arguments of a field with their origins. */
export function inputsOf(
  planner: Planner,
  definition: GraphQLField<unknown, unknown>,
  node: FieldNode,
): readonly { readonly origin: ArgumentOrigin; readonly input: Input }[] {
  return definition.args.map((argument) => ({
    origin: argumentOrigin(argument),
    input: Input.argument(planner.input, node, argument),
  }));
}

/** The one argument of a field with an origin of this kind. */
export function inputOf(
  inputs: readonly { readonly origin: ArgumentOrigin; readonly input: Input }[],
  kind: ArgumentOrigin['kind'],
): Input {
  const found = inputs.find(({ origin }) => origin.kind === kind);
  invariant(found, `no argument of kind ${kind}`);
  return found.input;
}

/** A table of the model. */
export function tableOf(planner: Planner, oid: Oid): Table {
  const table = planner.model.tables.get(oid);
  invariant(table, `the model has no table ${oid}`);
  return table;
}
