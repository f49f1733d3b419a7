/**
 * Collects the fields of selection sets for one object type: spreads fragments, applies `@skip` and `@include`, merges
 * fields of one response key (GraphQL specification, CollectFields and MergeSelectionSets).
 *
 * The document is valid: fragments exist without cycles, and fields of one key can be merged.
 */
import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLIncludeDirective,
  type GraphQLObjectType,
  type GraphQLSchema,
  GraphQLSkipDirective,
  isAbstractType,
  Kind,
  type SelectionSetNode,
  type TypeNode,
  type ValueNode,
} from 'graphql';
import { invariant } from '../../../shared/invariant.ts';
import { type InputScope, RequestRefusal } from './input.ts';
import { type PlanBudget, spend } from './plan-budget.ts';

/** What collecting needs of the document. */
export interface SelectionScope {
  readonly schema: GraphQLSchema;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly input: InputScope;
  readonly budget: PlanBudget;
}

/** The fragments of a document by name. */
export function fragmentsOf({ definitions }: DocumentNode): Map<string, FragmentDefinitionNode> {
  const fragments = definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
  return new Map(fragments.map((fragment) => [fragment.name.value, fragment]));
}

/** Collects selections on `type` by response key, in document order. @throws RequestRefusal `LIMIT_EXCEEDED` */
export function collectFields(
  scope: SelectionScope,
  type: GraphQLObjectType,
  parents: readonly { readonly selectionSet?: SelectionSetNode | undefined }[],
): ReadonlyMap<string, readonly FieldNode[]> {
  const fields = new Map<string, FieldNode[]>();
  const visited = new Set<string>();
  for (const { selectionSet } of parents) if (selectionSet) collect(scope, type, selectionSet, { fields, visited });
  return fields;
}

function collect(
  scope: SelectionScope,
  type: GraphQLObjectType,
  selectionSet: SelectionSetNode,
  state: { readonly fields: Map<string, FieldNode[]>; readonly visited: Set<string> },
): void {
  for (const selection of selectionSet.selections) {
    spend(scope.budget, 'selections');
    if (!isIncluded(scope, selection.directives ?? [])) continue;
    if (selection.kind === Kind.FIELD) {
      const key = selection.alias?.value ?? selection.name.value;
      const merged = state.fields.get(key);
      if (merged) merged.push(selection);
      else state.fields.set(key, [selection]);
    } else if (selection.kind === Kind.INLINE_FRAGMENT) {
      if (applies(scope, selection.typeCondition, type)) collect(scope, type, selection.selectionSet, state);
    } else {
      const name = selection.name.value;
      if (state.visited.has(name)) continue;
      state.visited.add(name);
      const fragment = scope.fragments.get(name);
      invariant(fragment, 'validation found every fragment');
      if (applies(scope, fragment.typeCondition, type)) collect(scope, type, fragment.selectionSet, state);
    }
  }
}

function applies(scope: SelectionScope, condition: TypeNode | undefined, type: GraphQLObjectType): boolean {
  if (condition === undefined || condition.kind !== Kind.NAMED_TYPE) return true;
  if (condition.name.value === type.name) return true;
  const conditional = scope.schema.getType(condition.name.value);
  return isAbstractType(conditional) && scope.schema.isSubType(conditional, type);
}

function isIncluded(scope: SelectionScope, directives: readonly DirectiveNode[]): boolean {
  return directives.every((directive) => {
    if (directive.name.value === GraphQLSkipDirective.name) return !condition(scope, directive);
    if (directive.name.value === GraphQLIncludeDirective.name) return condition(scope, directive);
    return true;
  });
}

function condition(scope: SelectionScope, directive: DirectiveNode): boolean {
  const value: ValueNode | undefined = directive.arguments?.find((argument) => argument.name.value === 'if')?.value;
  invariant(value, 'validation demands the argument');
  if (value.kind === Kind.VARIABLE) {
    const path = [scope.input.variableKey(value)!];
    const answer = scope.input.shape.ask({ kind: 'choice', path });
    if (answer === 'true' || answer === 'false') return answer === 'true';
    const message = `Variable "$${value.name.value}" must not be null where "Boolean!" is expected.`;
    throw new RequestRefusal('BAD_USER_INPUT', message);
  }
  return value.kind === Kind.BOOLEAN && value.value;
}
