/** Shared by the planning functions: the role's model and schema, the document, and collected results. */
import {
  type FieldNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  getNamedType,
  isObjectType,
} from 'graphql';
import { invariant } from '../../../shared/invariant.ts';
import type { Model, Oid, Table } from '../../model/model.ts';
import { type ArgumentOrigin, argumentOrigin, type FieldOrigin, fieldOrigin } from '../../schema/origin.ts';
import { collectFields, type SelectionScope } from '../input/collect-fields.ts';
import { Input } from '../input/input.ts';
import { spend } from '../input/plan-budget.ts';
import type { Slot } from '../input/slot.ts';
import type { Keyed, LimitPlan, ObjectPlan, Typename } from './plan.ts';

/** Shared state of one planning run. */
export interface Planner extends SelectionScope {
  readonly model: Model;
  /** Whether `__schema` and `__type` are answered. */
  readonly introspection: boolean;
  /** Page sizes along the path of each collection. */
  readonly costs: (readonly LimitPlan[])[];
  /** Most fields with another table on one path so far. */
  maxDepth: number;
  /** Objects and connections contain each other; the recursion goes through here, to avoid a mutual import. */
  planObject(planner: Planner, row: PlannedRow, parents: readonly FieldNode[]): ObjectPlan;
}

/** A row whose fields are being planned. */
export interface PlannedRow {
  readonly type: GraphQLObjectType;
  readonly table: Table;
  readonly nesting: Nesting;
}

/** How deep in the answer a field stands. */
export interface Nesting {
  /** Page sizes of the enclosing collections. */
  readonly pages: readonly LimitPlan[];
  /** Number of fields with another table above. */
  readonly depth: number;
}

/** The nesting below a field with another table. */
export function descend(planner: Planner, nesting: Nesting, page: LimitPlan | null = null): Nesting {
  spend(planner.budget, 'tables');
  const depth = nesting.depth + 1;
  planner.maxDepth = Math.max(planner.maxDepth, depth);
  if (page === null) return { pages: nesting.pages, depth };
  const pages = [...nesting.pages, page];
  planner.costs.push(pages);
  return { pages, depth };
}

/** Merged fields of one response key; all of them have the same name and arguments. */
export interface MergedFields {
  readonly key: string;
  /** The type with these fields. */
  readonly parent: GraphQLObjectType;
  readonly definition: GraphQLField<unknown, unknown>;
  readonly origin: FieldOrigin;
  readonly nodes: readonly FieldNode[];
}

/** Plans each response key that merged fields or an operation select on a type. */
export function planFields<T>(
  planner: Planner,
  type: GraphQLObjectType,
  parents: Parameters<typeof collectFields>[2],
  plan: (fields: MergedFields) => T,
): readonly Keyed<T | Typename>[] {
  return [...collectFields(planner, type, parents)].map(([key, nodes]) => planMerged(type, key, nodes, plan));
}

/** Plans the fields of one response key; `__typename` is always the same. */
export function planMerged<T>(
  parent: GraphQLObjectType,
  key: string,
  nodes: readonly FieldNode[],
  plan: (fields: MergedFields) => T,
): Keyed<T | Typename> {
  const name = nodes[0]!.name.value;
  if (name === '__typename') return { key, kind: 'typename', name: parent.name };
  const definition = parent.getFields()[name];
  invariant(definition, `${parent.name} has no field ${name}`);
  return { key, ...plan({ key, parent, definition, origin: fieldOrigin(definition), nodes }) };
}

/** The error for a field that the schema has nowhere: our bug. */
export function misplaced({ origin, parent }: MergedFields): Error {
  return new Error(`a ${origin.kind} field cannot stand on ${parent.name}`);
}

/** The object type below a field. */
export function objectTypeOf(definition: GraphQLField<unknown, unknown>): GraphQLObjectType {
  const type: GraphQLNamedType = getNamedType(definition.type);
  invariant(isObjectType(type), `${definition.name} does not lead to an object`);
  return type;
}

/** The arguments of a field with their origins. */
export type Inputs = readonly { readonly origin: ArgumentOrigin; readonly input: Input }[];

/** Reads the arguments of merged fields. */
export function inputsOf(planner: Planner, { definition, nodes }: MergedFields): Inputs {
  return definition.args.map((argument) => ({
    origin: argumentOrigin(argument),
    input: Input.argument(planner.input, nodes[0]!, argument),
  }));
}

/** The argument with an origin of this kind; null if the field has none. */
export function maybeInputOf(inputs: Inputs, kind: ArgumentOrigin['kind']): Input | null {
  return inputs.find(({ origin }) => origin.kind === kind)?.input ?? null;
}

/** The argument with an origin of this kind. */
export function inputOf(inputs: Inputs, kind: ArgumentOrigin['kind']): Input {
  const found = maybeInputOf(inputs, kind);
  invariant(found, `no argument of kind ${kind}`);
  return found;
}

/** The values of the arguments for a key, in key order. */
export function keySlots(inputs: Inputs): readonly Slot[] {
  return inputs.flatMap(({ origin, input }) => {
    if (origin.kind !== 'key') return [];
    // A null key is a request error, which `state` throws: the argument is non-null.
    input.requireValue();
    return [input.slot()];
  });
}

/** A table of the model. */
export function tableOf(planner: Planner, oid: Oid): Table {
  const table = planner.model.tables.get(oid);
  invariant(table, `the model has no table ${oid}`);
  return table;
}

/** The place of a field in the document. */
export function locate(nodes: readonly FieldNode[]): readonly { readonly line: number; readonly column: number }[] {
  const { loc } = nodes[0]!;
  if (!loc) return [];
  const before = loc.source.body.slice(0, loc.start).split(/\r\n|\n|\r/);
  return [{ line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }];
}
