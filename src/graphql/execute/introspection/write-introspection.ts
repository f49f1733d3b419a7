/**
 * Writes the JSON text of introspection fields directly from a schema, by graphql-js's own definitions of `__Type` and
 * the others, but without building a result tree and without keeping the described types.
 *
 * A selection is compiled once and run per value: the standard introspection of a thousand tables visits half a
 * million. Writers of lists are generators, which pause when their slice is over.
 */
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLField,
  GraphQLIncludeDirective,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  GraphQLSkipDirective,
  getArgumentValues,
  getDirectiveValues,
  getNamedType,
  getNullableType,
  getOperationAST,
  getVariableValues,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  SchemaMetaFieldDef,
  type SelectionNode,
  type SelectionSetNode,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
  type VariableValues,
} from 'graphql';
import { invariant } from '../../../shared/invariant.ts';
import { sliceIsOver } from '../../../shared/slices.ts';
import { fragmentsOf } from '../../compile/input/collect-fields.ts';
import { createBudget, type PlanBudget, spend } from '../../compile/input/plan-budget.ts';
import type { LazySchema } from '../../schema/lazy-schema.ts';
import { RootType } from '../../schema/types/root-type.ts';
import type { TextWriter } from '../answer/compressed-text.ts';

/** Writers of the JSON text by response key, without fields that `@skip` or `@include` removes. */
type FieldWriters = ReadonlyMap<string, (text: TextWriter) => Generator<void, void>>;

/** A compiled operation. */
export interface CompiledIntrospection {
  readonly fields: FieldWriters;
  /** It describes each type at most once, as the standard introspection does, so the schema limits its length. */
  readonly describesOnce: boolean;
}

/**
 * Compiles an operation. The writers throw a GraphQLError with the field's path if a variable does not fit its
 * argument.
 *
 * @param document One operation with only introspection fields, valid for the schema.
 * @throws GraphQLError if a variable does not fit its type; RequestRefusal if fragments spread out to too many fields.
 */
export function compileIntrospection(
  schema: LazySchema,
  document: DocumentNode,
  variableValues: Readonly<Record<string, unknown>>,
): CompiledIntrospection {
  const operation = getOperationAST(document);
  invariant(operation, 'there is one operation');
  const coerced = getVariableValues(schema, operation.variableDefinitions ?? [], variableValues);
  if (coerced.errors !== undefined) throw coerced.errors[0]!;
  const variables = coerced.variableValues;
  const fragments = fragmentsOf(document);
  const found = { describesOnce: true };
  const scope: Scope = { schema, fragments, variables, budget: createBudget(), isListed: false, found };
  const compiled = compileFields(scope, schema.getQueryType(), [operation.selectionSet]);
  const fields = new Map(
    compiled.map((field) => [
      field.key,
      function* (text: TextWriter): Generator<void, void> {
        try {
          const value = field.resolve(undefined);
          if (field.writer.pauses) yield* field.writer.write(value, text);
          else field.writer.write(value, text);
        } catch (error) {
          throw at(field.key, error);
        }
      },
    ]),
  );
  return { fields, describesOnce: found.describesOnce };
}

interface Scope {
  readonly schema: LazySchema;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly variables: VariableValues;
  readonly budget: PlanBudget;
  /** Whether the described type is an item of the list of all types, and not what refers to it. */
  readonly isListed: boolean;
  /** `describesOnce` becomes false where a selection may describe something again. */
  readonly found: { describesOnce: boolean };
}

/** Writes one value for one selection: in one step, or with pauses if it may have lists. */
type Writer =
  | { readonly pauses: false; write(value: unknown, text: TextWriter): void }
  | { readonly pauses: true; write(value: unknown, text: TextWriter): Generator<void, void> };

interface CompiledField {
  readonly key: string;
  resolve(source: unknown): unknown;
  readonly writer: Writer;
}

function compileFields(
  scope: Scope,
  type: GraphQLObjectType,
  selectionSets: readonly SelectionSetNode[],
): readonly CompiledField[] {
  const selected = new Map<string, FieldNode[]>();
  const spread = new Set<string>();
  for (const { selections } of selectionSets) collect(scope, selections, { selected, spread });
  // Another key describes a field again, or makes each item as long as the key is. Tools write names.
  if (selected.entries().some(([key, [node]]) => key !== node!.name.value)) scope.found.describesOnce = false;
  return [...selected].map(([key, nodes]) => compileField(scope, type, key, nodes));
}

/** All introspection types are object types, so in a valid operation each fragment applies where it is spread. */
function collect(
  scope: Scope,
  selections: readonly SelectionNode[],
  found: { readonly selected: Map<string, FieldNode[]>; readonly spread: Set<string> },
): void {
  for (const node of selections) {
    spend(scope.budget, 'introspection');
    if (!isIncluded(scope, node)) continue;
    if (node.kind === Kind.FIELD) {
      const key = (node.alias ?? node.name).value;
      const nodes = found.selected.get(key);
      if (nodes === undefined) found.selected.set(key, [node]);
      else nodes.push(node);
    } else if (node.kind === Kind.INLINE_FRAGMENT) {
      collect(scope, node.selectionSet.selections, found);
    } else if (!found.spread.has(node.name.value)) {
      found.spread.add(node.name.value);
      collect(scope, scope.fragments.get(node.name.value)?.selectionSet.selections ?? [], found);
    }
  }
}

function isIncluded({ variables }: Scope, node: SelectionNode): boolean {
  if (getDirectiveValues(GraphQLSkipDirective, node, variables)?.if === true) return false;
  return getDirectiveValues(GraphQLIncludeDirective, node, variables)?.if !== false;
}

function compileField(
  scope: Scope,
  parentType: GraphQLObjectType,
  key: string,
  nodes: readonly FieldNode[],
): CompiledField {
  const node = nodes[0]!;
  const field = fieldOf(parentType, node.name.value);
  const info = { schema: scope.schema, parentType } as unknown as GraphQLResolveInfo;
  // Evaluate only when the field is reached: an invalid argument is an error there, and none if nothing is described.
  let values: Record<string, unknown> | null = null;
  const resolve = (source: unknown): unknown => {
    values ??= getArgumentValues(field, node, scope.variables);
    // graphql-js would make all of them at once. None is deprecated.
    if (field.name === 'fields' && source instanceof RootType) return source.eachField();
    if (field.name === 'possibleTypes' && isInterfaceType(source)) return scope.schema.eachImplementation();
    return field.resolve?.(source, values, undefined, info);
  };
  const describesAll = field.name === 'types' && parentType.name === '__Schema';
  const describesLists = parentType.name === '__Type' && isListType(getNullableType(field.type));
  if (describesLists && !scope.isListed) scope.found.describesOnce = false;
  const isType = getNamedType(field.type).name === '__Type';
  const writer = compileValue(isType ? { ...scope, isListed: describesAll } : scope, field.type, nodes);
  return { key, resolve: describesAll ? () => scope.schema.eachType() : resolve, writer };
}

function fieldOf(type: GraphQLObjectType, name: string): GraphQLField<unknown, unknown> {
  const field = metaFields.get(name) ?? type.getFields()[name];
  invariant(field, `${type.name} has a field ${name}`);
  return field;
}

const metaFields: ReadonlyMap<string, GraphQLField<unknown, unknown>> = new Map(
  [SchemaMetaFieldDef, TypeMetaFieldDef, TypeNameMetaFieldDef].map((field) => [field.name, field]),
);

function compileValue(scope: Scope, type: GraphQLOutputType, nodes: readonly FieldNode[]): Writer {
  if (isNonNullType(type)) return compileValue(scope, type.ofType, nodes);
  if (isListType(type)) return { pauses: true, write: listWriter(compileValue(scope, type.ofType, nodes)) };
  if (!isObjectType(type)) return { pauses: false, write: writeLeaf };
  const selectionSets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
  const fields = compileFields(scope, type, selectionSets);
  return fields.some(({ writer }) => writer.pauses)
    ? { pauses: true, write: objectWriter(fields) }
    : { pauses: false, write: plainWriter(fields) };
}

function startsOf(fields: readonly CompiledField[]): readonly string[] {
  return fields.map(({ key }, index) => `${index === 0 ? '{' : ','}${JSON.stringify(key)}:`);
}

function objectWriter(fields: readonly CompiledField[]) {
  const starts = startsOf(fields);
  return function* (value: unknown, text: TextWriter): Generator<void, void> {
    if (value == null) return text.write('null');
    let index = 0;
    try {
      for (const field of fields) {
        text.write(starts[index]!);
        if (field.writer.pauses) yield* field.writer.write(field.resolve(value), text);
        else field.writer.write(field.resolve(value), text);
        index += 1;
      }
    } catch (error) {
      throw at(fields[index]!.key, error);
    }
    text.write('}');
  };
}

/** For objects without lists. */
function plainWriter(fields: readonly CompiledField[]) {
  const starts = startsOf(fields);
  return (value: unknown, text: TextWriter): void => {
    if (value == null) {
      text.write('null');
      return;
    }
    let index = 0;
    try {
      for (const field of fields) {
        text.write(starts[index]!);
        field.writer.write(field.resolve(value), text);
        index += 1;
      }
    } catch (error) {
      throw at(fields[index]!.key, error);
    }
    text.write(fields.length === 0 ? '{}' : '}');
  };
}

function listWriter(item: Writer) {
  return function* (value: unknown, text: TextWriter): Generator<void, void> {
    if (value == null) return text.write('null');
    let index = 0;
    text.write('[');
    try {
      for (const element of value as Iterable<unknown>) {
        if (index > 0) text.write(',');
        text.countItem();
        if (item.pauses) yield* item.write(element, text);
        else item.write(element, text);
        if (sliceIsOver()) yield;
        index += 1;
      }
    } catch (error) {
      throw at(index, error);
    }
    text.write(']');
  };
}

/** Names and descriptions are strings, the rest are booleans. */
function writeLeaf(value: unknown, text: TextWriter): void {
  text.write(value == null ? 'null' : JSON.stringify(value));
}

/** The error of something inside, with the step that led there: the path is made on the way out, because hardly anything fails. */
function at(step: string | number, error: unknown): unknown {
  if (!(error instanceof GraphQLError)) return error;
  return new GraphQLError(error.message, { nodes: error.nodes, path: [step, ...(error.path ?? [])] });
}
