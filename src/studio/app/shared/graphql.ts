/** Runs operations as a chosen caller. */
import { ApiError, explainError, noteOutage, withId } from './api.ts';
import { type Caller, credentialsOf, isOperatorPath } from './caller.ts';
import { type GraphqlError, isRefused, type Operation, sendOperation, subscribe } from './send-operation.ts';
import { expireSession, session } from './session.ts';

/** The API refused an operation. */
export class OperationError extends ApiError {
  /** What to do about it, by the API. */
  readonly hint: string | null;
  /** The part of the input that it is about: `objects[1]`. */
  readonly input: string | null;

  constructor(status: number, { message, extensions = {} }: GraphqlError) {
    super(status, extensions.code ?? 'REFUSED', withId(message, extensions.id));
    this.hint = extensions.hint ?? null;
    this.input = extensions.input ?? null;
  }
}

/** Runs an operation as a caller. @returns Its data. @throws ApiError, of which OperationError is the API's refusal. */
export async function runAs<T>(caller: Caller, operation: Operation, signal: AbortSignal | null = null): Promise<T> {
  const asked = session.get();
  const { path, headers } = await credentialsOf(caller);
  const { status, result } = await sendOperation(operation, headers, path, signal).catch((error: unknown) => {
    if (error instanceof ApiError) noteOutage();
    throw error;
  });
  if (status === 401 && isOperatorPath(path) && asked.kind !== 'none') expireSession(asked.token);
  const [error] = result.errors ?? [];
  if (error !== undefined) throw await explainError(new OperationError(status, error));
  return result.data as T;
}

/** The answers of a subscription as a caller, until it ends or is aborted. @throws ApiError as `runAs` */
export async function* subscribeAs<T>(caller: Caller, operation: Operation, signal: AbortSignal): AsyncGenerator<T> {
  const asked = session.get();
  const credentials = await credentialsOf(caller);
  const answers = subscribe(operation, credentials);
  signal.addEventListener('abort', () => void answers.return(undefined), { once: true });
  try {
    for await (const result of answers) {
      const [error] = result.errors ?? [];
      if (isRefused(result) && isOperatorPath(credentials.path) && asked.kind !== 'none') expireSession(asked.token);
      if (error !== undefined) throw new OperationError(isRefused(result) ? 401 : 200, error);
      yield result.data as T;
    }
  } catch (error) {
    if (error instanceof ApiError && error.status === 0) noteOutage();
    throw error;
  }
}
