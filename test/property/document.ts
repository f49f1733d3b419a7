/**
 * A request as the evaluator reads it: fields with their merged selections, and inputs as plain texts, lists and maps, where
 * undefined is absent and null is null. Parsing is graphql-js; everything else is written here.
 */
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  parse,
  type SelectionNode,
  type ValueNode,
} from 'graphql';

/** A value of an argument; numbers, booleans and enum values are texts. */
export type Input = undefined | null | string | readonly Input[] | ReadonlyMap<string, Input>;

/** One field of an answer: its key, and every node that was merged into it. */
export interface Field {
  readonly key: string;
  readonly name: string;
  readonly nodes: readonly FieldNode[];
}

/** A parsed request. */
export interface Document {
  readonly operation: OperationDefinitionNode;
  /** Fields of nodes' selections on an object of one of these types. */
  fields(nodes: readonly (FieldNode | OperationDefinitionNode)[], types: readonly string[]): readonly Field[];
  argument(field: Field, name: string): Input;
}

/** Parses a request of one operation. */
export function readDocument(query: string, variables: Readonly<Record<string, unknown>>): Document {
  const parsed: DocumentNode = parse(query, { allowEmptySelectionSets: false });
  const fragments = new Map<string, FragmentDefinitionNode>();
  let operation: OperationDefinitionNode | undefined;
  for (const definition of parsed.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
    if (definition.kind === Kind.OPERATION_DEFINITION) operation = definition;
  }
  if (!operation) throw new Error('There is no operation.');
  const values = readVariables(operation, variables);
  const collect = (
    selections: readonly SelectionNode[],
    types: readonly string[],
    found: Map<string, FieldNode[]>,
  ): void => {
    for (const node of selections.filter((selection) => isIncluded(selection, values))) {
      if (node.kind === Kind.FIELD) {
        const key = node.alias?.value ?? node.name.value;
        found.set(key, [...(found.get(key) ?? []), node]);
        continue;
      }
      const target =
        node.kind === Kind.FRAGMENT_SPREAD ? (fragments.get(node.name.value) as FragmentDefinitionNode) : node;
      const condition = target.typeCondition?.name.value;
      if (condition === undefined || types.includes(condition)) collect(target.selectionSet.selections, types, found);
    }
  };
  return {
    operation,
    fields(nodes, types) {
      const found = new Map<string, FieldNode[]>();
      for (const node of nodes) collect(node.selectionSet?.selections ?? [], types, found);
      return [...found].map(([key, merged]) => ({ key, name: merged[0]?.name.value ?? '', nodes: merged }));
    },
    argument(field, name) {
      const node = field.nodes[0]?.arguments?.find((argument) => argument.name.value === name);
      return node === undefined ? undefined : inputOf(node.value, values);
    },
  };
}

/** The list that an input stands for; a single value is a list of one. */
export function listOf(input: Input): readonly Input[] {
  return Array.isArray(input) ? input : [input];
}

function readVariables(
  operation: OperationDefinitionNode,
  given: Readonly<Record<string, unknown>>,
): ReadonlyMap<string, Input> {
  return new Map(
    (operation.variableDefinitions ?? []).map(({ variable, defaultValue }): [string, Input] => {
      const name = variable.name.value;
      if (Object.hasOwn(given, name)) return [name, jsonInput(given[name])];
      return [name, defaultValue === undefined ? undefined : inputOf(defaultValue, new Map())];
    }),
  );
}

function jsonInput(value: unknown): Input {
  if (value === null || value === undefined) return value;
  if (Array.isArray(value)) return value.map(jsonInput);
  if (typeof value === 'object') return new Map(Object.entries(value).map(([key, item]) => [key, jsonInput(item)]));
  return String(value);
}

function inputOf(node: ValueNode, values: ReadonlyMap<string, Input>): Input {
  switch (node.kind) {
    case Kind.VARIABLE:
      return values.get(node.name.value);
    case Kind.NULL:
      return null;
    case Kind.LIST:
      return node.values.map((item) => inputOf(item, values) ?? null);
    case Kind.OBJECT:
      return new Map(node.fields.map((field) => [field.name.value, inputOf(field.value, values)]));
    case Kind.BOOLEAN:
      return String(node.value);
    default:
      return node.value;
  }
}

function isIncluded(node: SelectionNode, values: ReadonlyMap<string, Input>): boolean {
  return (node.directives ?? []).every((directive) => {
    const condition = directive.arguments?.[0];
    const isTrue = condition !== undefined && inputOf(condition.value, values) === 'true';
    return directive.name.value === 'include' ? isTrue : !isTrue;
  });
}
