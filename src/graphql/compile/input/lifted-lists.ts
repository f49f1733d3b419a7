/**
 * Lists of updates in the document, which are read like variables: their statements depend on their values, and lists
 * of any length are one shape (update-list.ts).
 */
import {
  coerceInputLiteral,
  type DocumentNode,
  type GraphQLArgument,
  type GraphQLError,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  Kind,
  type ObjectFieldNode,
  type ObjectValueNode,
  type ValueNode,
} from 'graphql';
import { PublicError } from '../../../shared/errors.ts';
import { tableRootFields } from '../../model/inflect.ts';
import { argumentOrigin } from '../../schema/origin.ts';
import { hasVariables, jsonTemplate, templateLength, templateText } from '../../schema/types/json-text.ts';
import { scalarTypes } from '../../schema/types/scalars.ts';
import { PlainRecord } from './input-coercer.ts';
import { inOrder, inputFieldsOf, type PlacedField } from './input-fields.ts';
import type { Variables } from './slot.ts';
import { findUnstorable, lifted, printPath } from './storable-text.ts';
import { maxTexts } from './text-bound.ts';

/** A list in the document. */
export interface LiftedList {
  /** Key of its value among the variables. */
  readonly key: string;
  readonly node: ValueNode;
  readonly type: GraphQLInputType;
}

/** Whether the value of the argument is read like a variable. */
export function isLifted(argument: GraphQLArgument, { kind }: ValueNode): boolean {
  return kind !== Kind.VARIABLE && kind !== Kind.NULL && argumentOrigin(argument).kind === 'updates';
}

/** Whether the document may have such a list: all fields with one begin alike. */
export function mayHaveLists({ loc }: DocumentNode): boolean {
  return loc?.source.body.includes(tableRootFields('').updateMany.replace('Collection', '')) ?? true;
}

/** The key of a list's value; no variable has such a name. */
export function liftedKey(argument: string, index: number): string {
  return `${lifted}${argument}#${index}`;
}

/** Coerced variables, or their faults. */
export type CoercedVariables =
  | { readonly kind: 'coerced'; readonly variables: Variables }
  | { readonly kind: 'refused'; readonly errors: readonly (GraphQLError | PublicError)[] };

/** Key of the value of a variable. */
type KeyOf = (node: ValueNode) => string | null;

/** The variables, with the values of the lists. */
export function readLiftedLists(lists: readonly LiftedList[], keyOf: KeyOf, declared: Variables): CoercedVariables {
  const variables: Record<string, unknown> = { ...declared };
  const room = { characters: maxTexts };
  for (const { key, node, type } of lists) {
    const value = literalValue(node, type, { keyOf, variables, room });
    if (room.characters < 0) {
      const message = `The JSON in "${printPath([key])}" has more than ${maxTexts} characters. Send fewer entries.`;
      const errors = [new PublicError('LIMIT_EXCEEDED', message, { extensions: { limit: 'operands' } })];
      return { kind: 'refused', errors };
    }
    const problem = value === undefined ? 'does not fit its place' : unstorableProblem({ [key]: value });
    if (problem !== null) {
      const message = `The value of "${printPath([key])}" ${problem}.`;
      return { kind: 'refused', errors: [new PublicError('BAD_USER_INPUT', message)] };
    }
    variables[key] = value;
  }
  return { kind: 'coerced', variables };
}

function unstorableProblem(value: object): string | null {
  const found = findUnstorable(value);
  return found && `holds ${found.problem} at "${printPath(found.path)}", which PostgreSQL cannot store`;
}

interface LiteralScope {
  readonly keyOf: KeyOf;
  readonly variables: Variables;
  /** How many characters of JSON there may be: a long variable may be in it many times. */
  readonly room: { characters: number };
}

/** The value of a literal with variables, as the GraphQL specification has it; undefined if it does not fit. */
function literalValue(node: ValueNode, type: GraphQLInputType, scope: LiteralScope): unknown {
  if (isNonNullType(type)) return literalValue(node, type.ofType as GraphQLInputType, scope) ?? undefined;
  if (node.kind === Kind.VARIABLE) return variableValue(node, scope);
  if (node.kind === Kind.NULL) return null;
  if (isListType(type)) return literalList(node, type.ofType as GraphQLInputType, scope);
  if (type === scalarTypes.JSONValue && hasVariables(node)) return literalJson(node, scope);
  if (!isInputObjectType(type)) return coerceInputLiteral(node, type);
  return node.kind === Kind.OBJECT ? literalObject(node, type, scope) : undefined;
}

function variableValue(node: ValueNode, { keyOf, variables }: LiteralScope): unknown {
  return variables[keyOf(node)!];
}

function literalJson(node: ValueNode, { keyOf, variables, room }: LiteralScope): string | undefined {
  const template = jsonTemplate(node, (variable) => keyOf(variable)!);
  if (template === undefined) return undefined;
  const read = (key: string) => variables[key];
  room.characters -= templateLength(template, read);
  return room.characters < 0 ? undefined : templateText(template, read);
}

function literalList(node: ValueNode, element: GraphQLInputType, scope: LiteralScope): unknown {
  const nodes = node.kind === Kind.LIST ? node.values : [node];
  const items = nodes.map((item) => {
    const value = literalValue(item, element, scope);
    // An absent variable is null as an element.
    return value === undefined && item.kind === Kind.VARIABLE && !isNonNullType(element) ? null : value;
  });
  return items.includes(undefined) ? undefined : items;
}

function literalObject(node: ObjectValueNode, type: GraphQLInputObjectType, scope: LiteralScope): unknown {
  const { byName, always } = inputFieldsOf(type);
  const isGiven = ({ value }: ObjectFieldNode) =>
    value.kind !== Kind.VARIABLE || variableValue(value, scope) !== undefined;
  const given = new Map(node.fields.filter(isGiven).map(({ name, value }) => [name.value, value]));
  const placed = [...given.keys()].map((name) => byName.get(name));
  if (placed.includes(undefined)) return undefined;
  const others = always.filter(({ field }) => !given.has(field.name));
  const object = new PlainRecord();
  for (const { field } of inOrder(type, [...(placed as PlacedField[]), ...others])) {
    const member = given.get(field.name);
    const value = member === undefined ? field.default?.value : literalValue(member, field.type, scope);
    if (value !== undefined) object[field.name] = value;
    else if (member !== undefined || isRequiredInputField(field)) return undefined;
  }
  return object;
}
