/**
 * Writes the JSON text of introspection fields directly from a schema, by graphql-js's own definitions of `__Type` and
 * the others, but without building a result tree and without keeping the described types.
 *
 * A selection is compiled once and run per value: the standard introspection of a thousand tables visits half a
 * million.
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
  getOperationAST,
  getVariableValues,
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
import { fragmentsOf } from '../../compile/input/collect-fields.ts';
import type { LazySchema } from '../../schema/lazy-schema.ts';
import { invariant } from '../../shared/invariant.ts';
import type { TextWriter } from '../answer/compressed-text.ts';

/** Writers of the JSON text by response key, without fields that `@skip` or `@include` removes. */
export type FieldWriters = ReadonlyMap<string, (text: TextWriter) => void>;

/**
 * Compiles an operation. The writers throw a GraphQLError with the field's path if a variable does not fit its
 * argument.
 *
 * @param document One operation with only introspection fields, valid for the schema.
 * @throws GraphQLError if a variable does not fit its type.
 */
export function compileIntrospection(
  schema: LazySchema,
  document: DocumentNode,
  variableValues: Readonly<Record<string, unknown>>,
): FieldWriters {
  const operation = getOperationAST(document);
  invariant(operation, 'there is one operation');
  const coerced = getVariableValues(schema, operation.variableDefinitions ?? [], variableValues);
  if (coerced.errors !== undefined) throw coerced.errors[0]!;
  const scope: Scope = { schema, fragments: fragmentsOf(document), variables: coerced.variableValues };
  const fields = compileFields(scope, schema.getQueryType(), [operation.selectionSet]);
  return new Map(
    fields.map(({ key, resolve, write }) => [
      key,
      (text) => {
        try {
          write(resolve(undefined), text);
        } catch (error) {
          throw at(key, error);
        }
      },
    ]),
  );
}

interface Scope {
  readonly schema: LazySchema;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly variables: VariableValues;
}

/** Writes one value for one selection. */
type Writer = (value: unknown, text: TextWriter) => void;

interface CompiledField {
  /** Response key. */
  readonly key: string;
  resolve(source: unknown): unknown;
  readonly write: Writer;
}

function compileFields(
  scope: Scope,
  type: GraphQLObjectType,
  selectionSets: readonly SelectionSetNode[],
): readonly CompiledField[] {
  const selected = new Map<string, FieldNode[]>();
  const spread = new Set<string>();
  for (const { selections } of selectionSets) collect(scope, selections, { selected, spread });
  return [...selected].map(([key, nodes]) => compileField(scope, type, key, nodes));
}

/** All introspection types are object types, so in a valid operation each fragment applies where it is spread. */
function collect(
  scope: Scope,
  selections: readonly SelectionNode[],
  found: { readonly selected: Map<string, FieldNode[]>; readonly spread: Set<string> },
): void {
  for (const node of selections) {
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
    return field.resolve?.(source, values, undefined, info);
  };
  const describesAll = field.name === 'types' && parentType.name === '__Schema';
  const write = compileValue(scope, field.type, nodes);
  return { key, resolve: describesAll ? () => scope.schema.eachType() : resolve, write };
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
  if (isListType(type)) return compileList(compileValue(scope, type.ofType, nodes));
  if (!isObjectType(type)) return writeLeaf;
  const selectionSets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
  return compileObject(compileFields(scope, type, selectionSets));
}

function compileObject(fields: readonly CompiledField[]): Writer {
  const starts = fields.map(({ key }, index) => `${index === 0 ? '{' : ','}${JSON.stringify(key)}:`);
  return (value, text) => {
    if (value == null) return text.write('null');
    let index = 0;
    try {
      for (const field of fields) {
        text.write(starts[index]!);
        field.write(field.resolve(value), text);
        index += 1;
      }
    } catch (error) {
      throw at(fields[index]!.key, error);
    }
    text.write(fields.length === 0 ? '{}' : '}');
  };
}

function compileList(writeItem: Writer): Writer {
  return (value, text) => {
    if (value == null) return text.write('null');
    let index = 0;
    text.write('[');
    try {
      for (const item of value as Iterable<unknown>) {
        if (index > 0) text.write(',');
        writeItem(item, text);
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
