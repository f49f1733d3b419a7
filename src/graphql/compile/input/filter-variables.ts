/**
 * Finds the variables in filters that choose the rows of a write: an absent one is no condition, so that more rows
 * change (option `--absent-filter-variables`).
 */
import {
  type ArgumentNode,
  type DocumentNode,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  type ObjectFieldNode,
  type OperationDefinitionNode,
  OperationTypeNode,
  TypeInfo,
  type VariableNode,
} from 'graphql';
import { badInput, type PublicError } from '../../../shared/errors.ts';
import { fieldOrigin, inputFieldOrigin } from '../../schema/origin.ts';
import { visitOperation } from './visit-operation.ts';

/** The names of such variables without a default, those in fragments too. */
export function filterVariables(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): readonly string[] {
  if (operation.operation !== OperationTypeNode.MUTATION) return [];
  const typeInfo = new TypeInfo(schema);
  const names = new Set<string>();
  let filters = 0;
  const enter = (node: ArgumentNode | ObjectFieldNode) => {
    if (choosesRows(typeInfo, node)) filters += 1;
  };
  const leave = (node: ArgumentNode | ObjectFieldNode) => {
    if (choosesRows(typeInfo, node)) filters -= 1;
  };
  visitOperation(typeInfo, document, operation, {
    VariableDefinition: () => false,
    Argument: { enter, leave },
    ObjectField: { enter, leave },
    Variable({ name }: VariableNode): void {
      if (filters > 0) names.add(name.value);
    },
  });
  const optional = (operation.variableDefinitions ?? []).filter(({ defaultValue }) => defaultValue === undefined);
  return optional.map(({ variable }) => variable.name.value).filter((name) => names.has(name));
}

/** Whether the value of an argument or of a member of an input chooses the rows that a write changes. */
function choosesRows(typeInfo: TypeInfo, { kind, name }: ArgumentNode | ObjectFieldNode): boolean {
  if (name.value !== 'filter') return false;
  if (kind === 'Argument') {
    const field = typeInfo.getFieldDef();
    const of = field && !typeInfo.getDirective() ? fieldOrigin(field).kind : null;
    return of === 'update' || of === 'delete';
  }
  const parent = getNamedType(typeInfo.getParentInputType());
  const member = isInputObjectType(parent) ? parent.getFields()[name.value] : undefined;
  const of = member === undefined ? null : inputFieldOrigin(member).kind;
  return of === 'filter' || of === 'conflict_filter';
}

/** The error for the first of these variables that has no value; null without one. */
export function absentFrom(values: Readonly<Record<string, unknown>>, names: readonly string[]): PublicError | null {
  const absent = names.find((name) => !Object.hasOwn(values, name) || values[name] === undefined);
  if (absent === undefined) return null;
  const message = `Variable "$${absent}" is absent. It stands in a filter that chooses the rows of a write, which would be more without it.`;
  const hint = 'Send a value; null equals nothing. With a default, the variable may be absent.';
  return badInput(message, { hint });
}
