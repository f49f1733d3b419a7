/**
 * Coerces the variables of a request: by their declared types and, where a variable stands in a place of another type,
 * once more by the type of that place (the rule "All Variable Usages Are Allowed" of the GraphQL specification is left out).
 *
 * A document is examined once; a request pays for its values only.
 */
import {
  coerceInputLiteral,
  coerceInputValue,
  type DocumentNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  type GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  getNullableType,
  getVariableValues,
  isInputType,
  isNonNullType,
  isTypeSubTypeOf,
  type OperationDefinitionNode,
  TypeInfo,
  typeFromAST,
  type ValueNode,
  type VariableNode,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { PublicError } from '../../shared/errors.ts';
import { fragmentsOf } from './collect-fields.ts';
import { coercerOf, type InputCoercer, PlainRecord } from './input-coercer.ts';
import type { Variables } from './slot.ts';
import { findUnstorable, printPath } from './storable-text.ts';

/** Where the variables of one operation stand. */
export interface DocumentVariables {
  /** The key of a variable's value for the place of this node. */
  key(node: VariableNode): string;
  /** Values for places whose type differs from the declared one. */
  readonly adapted: readonly AdaptedVariable[];
  /** Every variable, null where one is of no input type. */
  readonly declared: readonly DeclaredVariable[] | null;
}

interface DeclaredVariable {
  readonly name: string;
  readonly coerce: InputCoercer;
  /** Whether it may be missing: it is left out then. */
  readonly isOptional: boolean;
}

interface AdaptedVariable {
  readonly key: string;
  readonly name: string;
  readonly type: GraphQLInputType;
  readonly defaultValue: ValueNode | undefined;
}

/** Finds the places of an operation's variables, in the fragments that it uses as well: elsewhere a name is another variable. */
export function examineVariables(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): DocumentVariables {
  const definitions = (operation.variableDefinitions ?? []).map((definition) => {
    const type = typeFromAST(schema, definition.type) as GraphQLInputType | undefined;
    return { name: definition.variable.name.value, type, defaultValue: definition.defaultValue };
  });
  const declared = new Map(definitions.map((definition) => [definition.name, definition]));
  const keys = new Map<VariableNode, string>();
  const adapted = new Map<string, AdaptedVariable>();
  if (definitions.length === 0) return { key: (node) => node.name.value, adapted: [], declared: [] };
  const typeInfo = new TypeInfo(schema);
  const enterVariable = (node: VariableNode): void => {
    const name = node.name.value;
    const definition = declared.get(name);
    const placeType = typeInfo.getInputType();
    if (!definition?.type || !placeType) return;
    // Absent and null are the planner's business, so nullability alone is no difference.
    const place = getNullableType(placeType);
    if (isTypeSubTypeOf(schema, definition.type, place)) return;
    const key = `${name}#${String(place)}`;
    keys.set(node, key);
    adapted.set(key, { key, name, type: place, defaultValue: definition.defaultValue });
  };
  const fragments = fragmentsOf(document);
  const used: (OperationDefinitionNode | FragmentDefinitionNode)[] = [operation];
  const enterSpread = ({ name }: FragmentSpreadNode): void => {
    const fragment = fragments.get(name.value);
    if (fragment && fragments.delete(name.value)) used.push(fragment);
  };
  const visitor = { VariableDefinition: () => false, Variable: enterVariable, FragmentSpread: enterSpread };
  for (const node of used) visit(node, visitWithTypeInfo(typeInfo, visitor));
  return {
    key: (node) => keys.get(node) ?? node.name.value,
    adapted: [...adapted.values()],
    declared: readDeclarations(definitions),
  };
}

interface Definition {
  readonly name: string;
  /** Undefined where there is no such type; validation has refused those that are for output. */
  readonly type: GraphQLInputType | undefined;
  readonly defaultValue: ValueNode | undefined;
}

function readDeclarations(definitions: readonly Definition[]): DeclaredVariable[] | null {
  const declared: DeclaredVariable[] = [];
  for (const { name, type, defaultValue } of definitions) {
    if (!isInputType(type)) return null;
    const isOptional = defaultValue === undefined && !isNonNullType(type);
    declared.push({ name, coerce: coercerOf(type), isOptional });
  }
  return declared;
}

/** Coerced variables, or what is wrong with them. */
type CoercedVariables =
  | { readonly kind: 'coerced'; readonly variables: Variables }
  | { readonly kind: 'refused'; readonly errors: readonly (GraphQLError | PublicError)[] };

/** Coerces the values of a request. Values without a declaration are ignored. */
export function coerceVariables(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  places: DocumentVariables,
  options: { readonly values: Readonly<Record<string, unknown>>; readonly suggestions: boolean },
): CoercedVariables {
  const definitions = operation.variableDefinitions ?? [];
  let { values } = options;
  const fitting = coerceFitting(places, values);
  if (fitting !== null) return { kind: 'coerced', variables: fitting };
  const settings = { hideSuggestions: !options.suggestions, maxErrors: isLarge(values) ? 1 : 50 };
  let result = getVariableValues(schema, definitions, values, settings);
  if (result.errors) {
    // graphql-js finds the methods of every object under the names of missing fields, such as `constructor`.
    values = withoutMethods(values) as Readonly<Record<string, unknown>>;
    result = getVariableValues(schema, definitions, values, settings);
  }
  if (result.errors) return { kind: 'refused', errors: result.errors };
  const unstorable = findUnstorable(result.variableValues.coerced);
  if (unstorable !== null) {
    const message = `Variable "${printPath(unstorable.path)}" holds ${unstorable.problem}, which PostgreSQL cannot store.`;
    return { kind: 'refused', errors: [new PublicError('BAD_USER_INPUT', message)] };
  }
  if (places.adapted.length === 0) return { kind: 'coerced', variables: result.variableValues.coerced };
  const variables: Record<string, unknown> = { ...result.variableValues.coerced };
  for (const { key, name, type, defaultValue } of places.adapted) {
    const isGiven = Object.hasOwn(values, name) && values[name] !== undefined;
    if (!isGiven && defaultValue === undefined) continue;
    const given = isGiven ? values[name] : undefined;
    if (given === null) {
      variables[key] = null;
      continue;
    }
    const value = isGiven ? coerceInputValue(withoutMethods(given), type) : coerceInputLiteral(defaultValue!, type);
    if (value === undefined) {
      const message = `Variable "$${name}" got a value that does not fit its place, where "${String(type)}" is expected.`;
      return { kind: 'refused', errors: [new PublicError('BAD_USER_INPUT', message)] };
    }
    variables[key] = value;
  }
  return { kind: 'coerced', variables };
}

/** Characters of values whose every error graphql-js may take the time to print the whole of them for. */
const printableCharacters = 50_000;

/** Whether JSON data has more characters than that, counted roughly. */
function isLarge(values: unknown): boolean {
  const waiting = [values];
  let characters = 0;
  while (waiting.length > 0 && characters <= printableCharacters) {
    const value = waiting.pop();
    if (typeof value === 'string') characters += value.length;
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, member] of Object.entries(value)) {
      characters += key.length + 1;
      waiting.push(member);
    }
  }
  return characters > printableCharacters;
}

/** What nearly all values are: such as fit their types as they are. Null where graphql-js has to tell. */
function coerceFitting({ adapted, declared }: DocumentVariables, values: Readonly<Record<string, unknown>>) {
  if (declared === null || adapted.length > 0) return null;
  const variables = new PlainRecord();
  for (const { name, coerce, isOptional } of declared) {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined) {
      if (isOptional) continue;
      return null;
    }
    const coerced = coerce(value, 0);
    if (coerced === undefined) return null;
    variables[name] = coerced;
  }
  return variables;
}

/** Deeper than any input that a document within the limits can take; a deeper value is refused by its type anyway. */
const maxCopiedLevels = 500;

/** A copy of JSON data whose objects have no prototype. */
function withoutMethods(value: unknown, level = 0): unknown {
  if (value === null || typeof value !== 'object' || level > maxCopiedLevels) return value;
  if (Array.isArray(value)) return value.map((item) => withoutMethods(item, level + 1));
  const copy: Record<string, unknown> = Object.create(null);
  for (const [key, item] of Object.entries(value)) copy[key] = withoutMethods(item, level + 1);
  return copy;
}
