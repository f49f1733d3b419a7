/** Which kinds of operations a transport answers. */
import { type OperationDefinitionNode, OperationTypeNode } from 'graphql';
import { badInput, PublicError } from '../../shared/errors.ts';
import type { RequestContext } from './executor.ts';

/** The operation, if the request may ask for one of its kind. @throws PublicError */
export function allowed<T extends { readonly operation: OperationDefinitionNode }>(
  { queriesOnly, isLive }: RequestContext,
  chosen: T,
): T {
  const kind = chosen.operation.operation;
  if (queriesOnly && kind === OperationTypeNode.MUTATION) {
    throw new PublicError('METHOD_NOT_ALLOWED', 'Send mutations with POST.');
  }
  if (!isLive && kind === OperationTypeNode.SUBSCRIPTION) {
    const hint =
      'Send the header "Accept: text/event-stream", or use a WebSocket with the protocol graphql-transport-ws.';
    throw badInput('A subscription needs a stream of answers.', { hint });
  }
  // The id of a trusted document names another one after a change of the list.
  if (isLive && kind !== OperationTypeNode.SUBSCRIPTION) {
    throw badInput('The operation is no subscription any more.');
  }
  return chosen;
}
