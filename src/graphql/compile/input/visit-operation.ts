/** Visits an operation, and each fragment that it reaches once. */
import {
  type ASTVisitor,
  type DocumentNode,
  type FragmentDefinitionNode,
  type FragmentSpreadNode,
  type OperationDefinitionNode,
  type TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { fragmentsOf } from './collect-fields.ts';

/** @param typeInfo Knows the types of the place while the visitor is called. @param visitor Without fragment spreads. */
export function visitOperation(
  typeInfo: TypeInfo,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  visitor: ASTVisitor,
): void {
  const fragments = fragmentsOf(document);
  const used: (OperationDefinitionNode | FragmentDefinitionNode)[] = [operation];
  const FragmentSpread = ({ name }: FragmentSpreadNode): void => {
    const fragment = fragments.get(name.value);
    if (fragment && fragments.delete(name.value)) used.push(fragment);
  };
  const whole = visitWithTypeInfo(typeInfo, { ...visitor, FragmentSpread });
  for (const node of used) visit(node, whole);
}
