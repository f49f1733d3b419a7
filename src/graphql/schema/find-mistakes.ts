/**
 * What is wrong at the places that graphql-js has found mistakes in, in a document or in variables: read from nodes and types, never from
 * its messages, which change.
 */
import {
  type ASTNode,
  BREAK,
  type DocumentNode,
  type GraphQLError,
  type GraphQLField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLNamedInputType,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isInputType,
  isListType,
  isRequiredArgument,
  isRequiredInputField,
  Kind,
  type OperationTypeNode,
  print,
  TypeInfo,
  typeFromAST,
  type ValueNode,
  type VariableDefinitionNode,
  validateInputValue,
  visit,
  visitWithTypeInfo,
} from 'graphql';

/** A mistake. */
export type Mistake =
  | WrongValue
  | { readonly kind: 'input_field'; readonly type: GraphQLInputObjectType; readonly name: string }
  | { readonly kind: 'field'; readonly type: GraphQLNamedType; readonly name: string }
  | { readonly kind: 'argument'; readonly field: GraphQLField<unknown, unknown>; readonly name: string }
  /** A field without a required argument. */
  | { readonly kind: 'missing_argument'; readonly missing: readonly string[]; readonly given: readonly string[] }
  | { readonly kind: 'type'; readonly name: string }
  | { readonly kind: 'operation'; readonly operation: OperationTypeNode };

/** A value of the wrong kind. */
export interface WrongValue {
  readonly kind: 'value';
  readonly type: GraphQLNamedInputType;
  readonly shape: Shape;
  /** As a document has it. */
  readonly text: string;
  /** Name of the argument or field that has it; null: it is the variable itself. */
  readonly place: string | null;
}

/** `name`: of an enum's value; in variables, such values are strings. */
type Shape = 'string' | 'name' | 'number' | 'boolean' | 'list' | 'object';

/** How much of a value is printed, in characters. */
const maxPrinted = 1000;

/** How many lists within each other are printed. */
const maxListLevels = 3;

/** The mistakes of these errors of the document; null where none is known. Visits the document once. */
export function findInDocument(
  schema: GraphQLSchema,
  document: DocumentNode,
  errors: readonly GraphQLError[],
): readonly (Mistake | null)[] {
  const keys = errors.map((error) => keyOf(error.nodes?.[0]));
  const wanted = new Set(keys);
  const found = new Map<string | null, Mistake | null>();
  const typeInfo = new TypeInfo(schema);
  const enter = (node: ASTNode) => {
    const key = keyOf(node);
    if (!wanted.delete(key)) return undefined;
    found.set(key, mistakeAt(node, typeInfo, schema));
    return wanted.size === 0 ? BREAK : undefined;
  };
  visit(document, visitWithTypeInfo(typeInfo, { enter }));
  return keys.map((key) => found.get(key) ?? null);
}

/** A place in the document; errors may have a copy of a node. */
function keyOf(node: ASTNode | undefined): string | null {
  return node?.loc === undefined ? null : `${node.kind} ${node.loc.start}`;
}

function mistakeAt(node: ASTNode, typeInfo: TypeInfo, schema: GraphQLSchema): Mistake | null {
  switch (node.kind) {
    case Kind.OPERATION_DEFINITION:
      return schema.getRootType(node.operation) ? null : { kind: 'operation', operation: node.operation };
    case Kind.NAMED_TYPE:
      return schema.getType(node.name.value) ? null : { kind: 'type', name: node.name.value };
    case Kind.FIELD: {
      const [type, field] = [typeInfo.getParentType(), typeInfo.getFieldDef()];
      if (!field) return type ? { kind: 'field', type, name: node.name.value } : null;
      const given = (node.arguments ?? []).map((argument) => argument.name.value);
      const missing = field.args.filter((argument) => isRequiredArgument(argument) && !given.includes(argument.name));
      return missing.length === 0
        ? null
        : { kind: 'missing_argument', missing: missing.map(({ name }) => name), given };
    }
    case Kind.ARGUMENT: {
      const field = typeInfo.getDirective() || typeInfo.getArgument() ? null : typeInfo.getFieldDef();
      return field ? { kind: 'argument', field, name: node.name.value } : null;
    }
    case Kind.OBJECT_FIELD: {
      const type = getNamedType(typeInfo.getParentInputType());
      const isUnknown = isInputObjectType(type) && type.getFields()[node.name.value] === undefined;
      return isUnknown ? { kind: 'input_field', type, name: node.name.value } : null;
    }
    default:
      // The type of a list's place, not of its items.
      return valueAt(node, node.kind === Kind.LIST ? typeInfo.getParentInputType() : typeInfo.getInputType());
  }
}

const shapes: Readonly<Partial<Record<ASTNode['kind'], Shape>>> = {
  [Kind.STRING]: 'string',
  [Kind.ENUM]: 'name',
  [Kind.INT]: 'number',
  [Kind.FLOAT]: 'number',
  [Kind.BOOLEAN]: 'boolean',
  [Kind.LIST]: 'list',
  [Kind.OBJECT]: 'object',
};

function valueAt(node: ASTNode, expected: GraphQLInputType | null | undefined): WrongValue | null {
  const shape = shapes[node.kind];
  if (shape === undefined || !expected) return null;
  const type = getNamedType(expected);
  const isLong = node.loc === undefined || node.loc.end - node.loc.start > maxPrinted;
  let token = node.loc?.startToken.prev;
  while (token?.kind === '[') token = token.prev;
  const name = token?.kind === ':' && token.prev?.kind === 'Name' ? token.prev.value : null;
  return { kind: 'value', type, shape, text: isLong ? '…' : print(node as ValueNode), place: name };
}

/** The same of errors of variables. */
export function findInVariables(
  schema: GraphQLSchema,
  values: Readonly<Record<string, unknown>>,
  errors: readonly GraphQLError[],
): readonly (Mistake | null)[] {
  const ofVariables = Map.groupBy(errors, (error) => error.nodes?.[0]);
  const found = new Map<GraphQLError, Mistake | null>();
  for (const [node, all] of ofVariables) {
    if (node?.kind !== Kind.VARIABLE_DEFINITION) continue;
    const mistakes = mistakesIn(schema, node, values, all.length);
    for (const [index, error] of all.entries()) found.set(error, mistakes[index] ?? null);
  }
  return errors.map((error) => found.get(error) ?? null);
}

/** The first mistakes in the value of a variable, in the order of graphql-js. */
function mistakesIn(
  schema: GraphQLSchema,
  { variable, type: node }: VariableDefinitionNode,
  values: Readonly<Record<string, unknown>>,
  count: number,
): readonly (Mistake | null)[] {
  const [name, type] = [variable.name.value, typeFromAST(schema, node)];
  if (!isInputType(type) || !Object.hasOwn(values, name)) return [];
  const mistakes: (Mistake | null)[] = [];
  const earlier = new Map<string, number>();
  const enough = new Error('enough');
  try {
    validateInputValue(values[name], type, (_error, path) => {
      const key = JSON.stringify(path);
      const before = earlier.get(key) ?? 0;
      earlier.set(key, before + 1);
      mistakes.push(mistakeBehind(values[name], type, path, before));
      if (mistakes.length === count) throw enough;
    });
  } catch (error) {
    if (error !== enough) throw error;
  }
  return mistakes;
}

/** @param before How many mistakes were found at this path already. */
function mistakeBehind(
  value: unknown,
  type: GraphQLInputType,
  path: readonly (string | number)[],
  before: number,
): Mistake | null {
  let [found, expected] = [value, type];
  for (const step of path) {
    found = (found as Readonly<Record<string | number, unknown>>)[step];
    const at = getNullableType(expected);
    if (typeof step === 'number') expected = isListType(at) ? at.ofType : at;
    else {
      const object = getNamedType(at);
      if (!isInputObjectType(object)) return null;
      expected = object.getFields()[step]!.type;
    }
  }
  const [named, place] = [getNamedType(expected), path.findLast((step) => typeof step === 'string') ?? null];
  if (isInputObjectType(named) && shapeOf(found) === 'object') return unknownField(named, found as object, before);
  const shape = shapeOf(found);
  return shape === null ? null : { kind: 'value', type: named, shape, text: printed(found), place };
}

/** Fields that lack come before those that are too many. */
function unknownField(type: GraphQLInputObjectType, value: object, before: number): Mistake | null {
  const fields = type.getFields();
  const lacking = Object.values(fields).filter(
    (field) => isRequiredInputField(field) && !Object.hasOwn(value, field.name),
  );
  const name = Object.keys(value).filter((key) => !Object.hasOwn(fields, key))[before - lacking.length];
  return name === undefined ? null : { kind: 'input_field', type, name };
}

function shapeOf(value: unknown): Shape | null {
  if (value === null || value === undefined) return null;
  if (Array.isArray(value)) return 'list';
  const kind = typeof value;
  return kind === 'string' || kind === 'number' || kind === 'boolean' || kind === 'object' ? kind : null;
}

/** @param level Of the list that it stands in; a value of a request may be nested 100,000 levels deep. */
function printed(value: unknown, level = 0): string {
  if (typeof value === 'string' && value.length > maxPrinted) return '…';
  if (!Array.isArray(value)) return typeof value === 'object' ? '…' : JSON.stringify(value);
  if (value.length > 10 || level === maxListLevels) return '…';
  return `[${value.map((item) => printed(item, level + 1)).join(', ')}]`;
}
