/** The fetcher of the GraphQL page: sends as the selected caller, and reports the answers to the page. */
import { useCallback, useRef } from 'react';
import { ApiError, findReason, noteOutage } from '../../shared/api.ts';
import { type Caller, credentialsOf, isOperatorPath } from '../../shared/caller.ts';
import { isRefused, type Result, sendOperation, subscribe } from '../../shared/send-operation.ts';
import { expireSession, session } from '../../shared/session.ts';
import {
  asResult,
  type Fetched,
  type Fetcher,
  hasOperation,
  isSubscription,
  type Params,
  withPresentName,
} from './graphiql-operation.ts';
import type { Operation } from './plan-panel.tsx';

interface Sender {
  readonly caller: Caller;
  readonly onOperation: (operation: Operation) => void;
  /** Why sending failed, or that the key was refused; null for success. */
  readonly onProblem: (problem: ApiError | null) => void;
}

/** Always the same: GraphiQL would begin anew with another. */
export function useFetcher(sender: Sender): Fetcher {
  const latest = useRef(sender);
  latest.current = sender;
  return useCallback((params: Params) => send(latest.current, withPresentName(params)) as Fetched, []);
}

async function send(
  { caller, onOperation, onProblem }: Sender,
  params: Params,
): Promise<Result | AsyncIterable<Result>> {
  if (!hasOperation(params.query)) {
    return asResult('Nothing to run yet. Write an operation, or choose one from Examples.');
  }
  try {
    const asked = session.get();
    const credentials = await credentialsOf(caller);
    const { path, headers, role, claims } = credentials;
    const noteRefusal = (isOne: boolean, { errors }: Result): void => {
      const isExpired = isOne && isOperatorPath(path);
      if (isExpired && asked.kind !== 'none') expireSession(asked.token);
      onProblem(isOne && !isExpired ? new ApiError(401, 'unauthorized', errors?.[0]?.message ?? '') : null);
    };
    if (isSubscription(params))
      return subscribe(params, credentials, (answer) => noteRefusal(isRefused(answer), answer));
    const { status, result } = await sendOperation(params, headers, path);
    noteRefusal(status === 401, result);
    await findReason(status);
    const { query, operationName = null, variables = null } = params;
    onOperation({ query, operationName, variables, role, claims, doneAt: Date.now() });
    return result;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 0) noteOutage();
    onProblem(error);
    return asResult(error.message);
  }
}
