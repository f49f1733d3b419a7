/** Sends operations to the API with given headers, and reads the answers. */
import { readEvents, unreachable } from './api.ts';
import type { Credentials } from './caller.ts';

/** An operation, as requests name its parts. */
export interface Operation {
  readonly query: string;
  readonly operationName?: string | null | undefined;
  readonly variables?: unknown;
}

/** An error of the API. */
export interface GraphqlError {
  readonly message: string;
  readonly extensions?: {
    readonly code?: string;
    readonly hint?: string;
    readonly input?: string;
    readonly id?: string;
  };
}

/** The API's answer. */
export interface Result {
  readonly data?: unknown;
  readonly errors?: readonly GraphqlError[];
}

/** @throws ApiError with status 0 without an answer; the signal's reason if aborted. */
export async function sendOperation(
  { query, operationName, variables }: Operation,
  headers: Readonly<Record<string, string>>,
  path = '/graphql/v1',
  signal: AbortSignal | null = null,
): Promise<{ readonly status: number; readonly result: Result }> {
  try {
    const response = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query, operationName, variables }),
      signal,
    });
    return { status: response.status, result: (await response.json()) as Result };
  } catch {
    signal?.throwIfAborted();
    throw unreachable();
  }
}

/**
 * The answers of a subscription, one after the other, until the reader stops.
 *
 * @param onAnswer Called with each.
 * @throws ApiError with status 0 without an answer.
 */
export function subscribe(
  params: Operation,
  { path = '/graphql/v1', headers }: Pick<Credentials, 'path' | 'headers'>,
  onAnswer: (answer: Result) => void = () => {},
): AsyncGenerator<Result, void> {
  const left = new AbortController();
  const answers = readAnswers(params, { headers, path, left, onAnswer });
  const end = answers.return.bind(answers);
  // A generator that waits would end with its next answer only.
  answers.return = (value) => {
    left.abort();
    return end(value);
  };
  return answers;
}

interface Reading {
  readonly headers: Readonly<Record<string, string>>;
  readonly path: string;
  /** Ends the request. */
  readonly left: AbortController;
  readonly onAnswer: (answer: Result) => void;
}

async function* readAnswers(
  { query, operationName, variables }: Operation,
  { headers, path, left, onAnswer }: Reading,
): AsyncGenerator<Result, void> {
  try {
    const response = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
      body: JSON.stringify({ query, operationName, variables }),
      signal: left.signal,
    });
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
      const answer = (await response.json()) as Result;
      onAnswer(answer);
      yield answer;
      return;
    }
    for await (const { name, data } of readEvents(response.body!)) {
      if (name === 'complete') return;
      if (data === null) continue;
      const answer = JSON.parse(data) as Result;
      onAnswer(answer);
      yield answer;
    }
  } catch {
    if (!left.signal.aborted) throw unreachable();
  } finally {
    left.abort();
  }
}

/** Whether key or token was refused. */
export function isRefused({ errors }: Result): boolean {
  return errors?.[0]?.extensions?.code === 'UNAUTHENTICATED';
}
