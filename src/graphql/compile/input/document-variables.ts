/**
 * Coerces the variables of a request: by their declared types, and again by the type of each place that differs
 * (validation leaves out the specification's rule "All Variable Usages Are Allowed"). Lists of updates in the document
 * are read like variables.
 *
 * A document is examined once; a request only pays for its values.
 */
import {
  type ArgumentNode,
  coerceInputLiteral,
  coerceInputValue,
  type DocumentNode,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  getVariableValues,
  isInputObjectType,
  isInputType,
  isNonNullType,
  isTypeSubTypeOf,
  Kind,
  type OperationDefinitionNode,
  TypeInfo,
  typeFromAST,
  type ValueNode,
  type VariableNode,
  valueFromASTUntyped,
} from 'graphql';
import { badInput, PublicError } from '../../../shared/errors.ts';
import { once } from '../../../shared/once.ts';
import { hasGivenOrder } from '../../schema/given-order.ts';
import { scalarTypes } from '../../schema/types/scalars.ts';
import { coercerOf, type InputCoercer, PlainRecord } from './input-coercer.ts';
import { inputFieldsOf } from './input-fields.ts';
import {
  type CoercedVariables,
  isLifted,
  type LiftedList,
  liftedKey,
  mayHaveLists,
  readLiftedLists,
} from './lifted-lists.ts';
import { findUnstorable, printPath } from './storable-text.ts';
import { visitOperation } from './visit-operation.ts';

/** The uses of an operation's variables. */
export interface DocumentVariables {
  /** Key of the value for this node: of a variable or a lifted list; null for others. */
  key(node: ValueNode): string | null;
  /** Lists in the document that are read like variables. */
  readonly lifted: readonly LiftedList[];
  /** Values for places with a type other than the declared one. */
  readonly adapted: readonly AdaptedVariable[];
  /** All variables; null if one has no input type. */
  readonly declared: readonly DeclaredVariable[] | null;
}

interface DeclaredVariable {
  readonly name: string;
  readonly type: GraphQLInputType;
  readonly coerce: InputCoercer;
  /** Whether it may be absent. */
  readonly isOptional: boolean;
  /** The coerced default; undefined without one, or if graphql-js must refuse it. */
  defaultOf(): unknown;
}

interface AdaptedVariable {
  readonly key: string;
  readonly name: string;
  readonly type: GraphQLInputType;
  readonly isOptional: boolean;
  defaultOf(): unknown;
}

/** Finds the uses of an operation's variables, those in its fragments too. */
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
  const keys = new Map<ValueNode, string>();
  const adapted = new Map<string, AdaptedVariable>();
  const lists: LiftedList[] = [];
  const keyOf = (node: ValueNode) => keys.get(node) ?? (node.kind === Kind.VARIABLE ? node.name.value : null);
  if (definitions.length === 0 && !mayHaveLists(document)) return { key: keyOf, lifted: [], adapted: [], declared: [] };
  const typeInfo = new TypeInfo(schema);
  const enterVariable = (node: VariableNode): void => {
    const name = node.name.value;
    const definition = declared.get(name);
    // Only within a JSON literal does a variable stand in no type.
    const placeType = typeInfo.getInputType() ?? scalarTypes.JSONValue;
    if (!definition?.type) return;
    // The planner handles absent and null values, so nullability alone is no difference.
    const place = getNullableType(placeType);
    if (isTypeSubTypeOf(schema, definition.type, place)) return;
    // Two scalars have the name `JSON`.
    const key = `${name}#${String(place)}${getNamedType(place) === scalarTypes.JSONValue ? ' value' : ''}`;
    keys.set(node, key);
    const { defaultValue } = definition;
    const isOptional = defaultValue === undefined;
    adapted.set(key, { key, name, type: place, isOptional, defaultOf: defaultOf(defaultValue, place) });
  };
  const enterArgument = ({ name, value }: ArgumentNode): void => {
    // Directives and `__type` are GraphQL's own.
    const isOurs = !typeInfo.getDirective() && !typeInfo.getFieldDef()?.name.startsWith('__');
    const argument = isOurs ? typeInfo.getArgument() : null;
    if (!argument || !isLifted(argument, value)) return;
    const key = liftedKey(name.value, lists.length);
    keys.set(value, key);
    lists.push({ key, node: value, type: argument.type });
  };
  visitOperation(typeInfo, document, operation, {
    VariableDefinition: () => false,
    Argument: enterArgument,
    Variable: enterVariable,
  });
  return {
    key: keyOf,
    lifted: lists,
    adapted: [...adapted.values()],
    declared: readDeclarations(definitions),
  };
}

interface Definition {
  readonly name: string;
  /** Undefined for an unknown type; validation has refused output types. */
  readonly type: GraphQLInputType | undefined;
  readonly defaultValue: ValueNode | undefined;
}

function readDeclarations(definitions: readonly Definition[]): DeclaredVariable[] | null {
  const declared: DeclaredVariable[] = [];
  for (const { name, type, defaultValue } of definitions) {
    if (!isInputType(type)) return null;
    const isOptional = defaultValue === undefined && !isNonNullType(type);
    declared.push({ name, type, coerce: coercerOf(type), isOptional, defaultOf: defaultOf(defaultValue, type) });
  }
  return declared;
}

/** Coerces a default once, for all requests. */
function defaultOf(node: ValueNode | undefined, type: GraphQLInputType): () => unknown {
  return node === undefined ? () => undefined : once(() => storableDefault(node, type));
}

function storableDefault(node: ValueNode, type: GraphQLInputType): unknown {
  const value = coerceDefault(node, type);
  return findUnstorable({ value }) === null ? value : undefined;
}

// graphql-js makes objects in the order of their types.
function coerceDefault(node: ValueNode, type: GraphQLInputType): unknown {
  const named = getNamedType(type);
  const isOrdered = isInputObjectType(named) && hasGivenOrder(named);
  const fitting = isOrdered ? coercerOf(type)(valueFromASTUntyped(node), 0) : undefined;
  return fitting === undefined ? coerceInputLiteral(node, type) : fitting;
}

/** Coerces the values of a request, and reads lifted lists. Ignores values without a declaration. */
export function coerceVariables(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  places: DocumentVariables,
  options: { readonly values: Readonly<Record<string, unknown>>; readonly suggestions: boolean },
): CoercedVariables {
  const declared = coerceDeclared(schema, operation, places, options);
  if (declared.kind === 'refused' || places.lifted.length === 0) return declared;
  return readLiftedLists(places.lifted, places.key, declared.variables);
}

function coerceDeclared(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  places: DocumentVariables,
  options: { readonly values: Readonly<Record<string, unknown>>; readonly suggestions: boolean },
): CoercedVariables {
  let { values } = options;
  const fitting = coerceFitting(places, values);
  if (fitting !== null) return { kind: 'coerced', variables: fitting };
  const declared = places.declared ?? [];
  const costly = declared.find(({ name, type }) => costOf(values[name], type) > maxFieldsRead);
  if (costly !== undefined) {
    if (costOf(values[costly.name], costly.type) === Number.POSITIVE_INFINITY) {
      const message = `Variable "$${costly.name}" is nested too deeply. Send fewer levels.`;
      const errors = [new PublicError('LIMIT_EXCEEDED', message, { extensions: { limit: 'nesting' } })];
      return { kind: 'refused', errors };
    }
    const message = `Variable "$${costly.name}" does not fit the type "${String(costly.type)}", and is too large to say where.`;
    const hint = 'Send fewer objects to see where.';
    return { kind: 'refused', errors: [badInput(message, { hint })] };
  }
  const definitions = operation.variableDefinitions ?? [];
  const settings = { hideSuggestions: !options.suggestions, maxErrors: isLarge(values) ? 1 : 50 };
  let result = getVariableValues(schema, definitions, values, settings);
  if (result.errors) {
    // graphql-js would find inherited methods, such as `constructor`, for missing fields.
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
  for (const { key, name, type, isOptional, defaultOf } of places.adapted) {
    const isGiven = Object.hasOwn(values, name) && values[name] !== undefined;
    if (!isGiven && isOptional) continue;
    const value = isGiven ? adaptValue(values[name], type) : defaultOf();
    if (value === undefined) {
      const message = `Variable "$${name}" got a value that does not fit its place, where "${String(type)}" is expected.`;
      return { kind: 'refused', errors: [badInput(message)] };
    }
    variables[key] = value;
  }
  return { kind: 'coerced', variables };
}

function adaptValue(value: unknown, type: GraphQLInputType): unknown {
  return value === null ? null : (coercerOf(type)(value, 0) ?? coerceInputValue(withoutMethods(value), type));
}

/** Most fields that graphql-js looks at for the objects of one variable: it goes through all fields of each one's type. */
const maxFieldsRead = 50_000;

/** Fields that graphql-js would look at for a value, up to a little over the limit; infinite if deep nesting reaches that. */
function costOf(value: unknown, type: GraphQLInputType): number {
  const waiting: [value: unknown, type: GraphQLInputType, level: number][] = [[value, type, 0]];
  let [fields, deepest] = [0, 0];
  for (let next = waiting.pop(); next !== undefined && fields <= maxFieldsRead; next = waiting.pop()) {
    const [found, at, level] = next;
    deepest = Math.max(deepest, level);
    const named = getNamedType(at);
    if (found === null || typeof found !== 'object' || !isInputObjectType(named)) continue;
    if (Array.isArray(found)) {
      for (const item of found) waiting.push([item, named, level + 1]);
      continue;
    }
    const { byName } = inputFieldsOf(named);
    fields += byName.size;
    for (const [key, member] of Object.entries(found)) {
      const placed = byName.get(key);
      if (placed !== undefined) waiting.push([member, placed.field.type, level + 1]);
    }
  }
  return fields > maxFieldsRead && deepest > maxCopiedLevels ? Number.POSITIVE_INFINITY : fields;
}

/** Limit of characters for graphql-js, which may print the whole value in each of its errors. */
const printableCharacters = 50_000;

/** Whether JSON data exceeds that, counted roughly. */
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

/** The fast path for values that fit their types. Null if graphql-js must decide. */
function coerceFitting({ adapted, declared }: DocumentVariables, values: Readonly<Record<string, unknown>>) {
  if (declared === null) return null;
  const variables = new PlainRecord();
  for (const { name, coerce, isOptional, defaultOf } of declared) {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined && isOptional) continue;
    const coerced = value === undefined ? defaultOf() : coerce(value, 0);
    if (coerced === undefined) return null;
    variables[name] = coerced;
  }
  for (const { key, name, type, isOptional, defaultOf } of adapted) {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined && isOptional) continue;
    const coerced = value === undefined ? defaultOf() : coercerOf(type)(value, 0);
    if (coerced === undefined) return null;
    variables[key] = coerced;
  }
  return variables;
}

/** Deeper than any input of a document within the limits; its type refuses a deeper value anyway. */
const maxCopiedLevels = 500;

/** A copy of JSON data with objects without prototype. */
function withoutMethods(value: unknown, level = 0): unknown {
  if (value === null || typeof value !== 'object' || level > maxCopiedLevels) return value;
  if (Array.isArray(value)) return value.map((item) => withoutMethods(item, level + 1));
  const copy: Record<string, unknown> = Object.create(null);
  for (const [key, item] of Object.entries(value)) copy[key] = withoutMethods(item, level + 1);
  return copy;
}
