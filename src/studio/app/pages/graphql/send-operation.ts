/** Sends GraphiQL's operations to this gateway's API, and derives the page's notices from the answers. */
import type { GraphiQL } from 'graphiql';
import type { ComponentProps } from 'react';
import { ApiError, readEvents } from '../../shared/api.ts';
import type { Credentials } from '../../shared/caller.ts';

/** GraphiQL's fetcher; may also return more than one result. */
export type Fetcher = ComponentProps<typeof GraphiQL>['fetcher'];

/** What the fetcher returns. */
export type Fetched = ReturnType<Fetcher>;

/** The parameters of GraphiQL. */
export type Params = Parameters<Fetcher>[0];

/** The API's answer. */
export interface Result {
  readonly data?: unknown;
  readonly errors?: readonly {
    readonly message: string;
    readonly extensions?: { readonly code?: string; readonly hint?: string };
  }[];
}

/** @throws ApiError with status 0 without an answer. */
export async function sendOperation(
  { query, operationName, variables }: Params,
  headers: Readonly<Record<string, string>>,
  path = '/graphql/v1',
): Promise<{ readonly status: number; readonly result: Result }> {
  try {
    const response = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query, operationName, variables }),
    });
    return { status: response.status, result: (await response.json()) as Result };
  } catch {
    throw new ApiError(0, 'unreachable', 'The server is not responding.');
  }
}

/**
 * The answers of a subscription, one after the other, until the reader stops.
 *
 * @param onAnswer Called with each.
 * @throws ApiError with status 0 without an answer.
 */
export function subscribe(
  params: Params,
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
  { query, operationName, variables }: Params,
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
    if (!left.signal.aborted) throw new ApiError(0, 'unreachable', 'The server is not responding.');
  } finally {
    left.abort();
  }
}

/** Whether key or token was refused. */
export function isRefused({ errors }: Result): boolean {
  return errors?.[0]?.extensions?.code === 'UNAUTHENTICATED';
}

/** Whether the document subscribes. A query that seems to is answered all the same. */
export function isSubscription({ query }: Params): boolean {
  return /(?:^|\})\s*subscription\b/.test(query.replace(/#.*/g, ''));
}

/** Whether it is the introspection that GraphiQL sends on its own. */
export function isIntrospection({ operationName }: Params): boolean {
  return operationName === 'IntrospectionQuery';
}

/** Why the role may not read its schema: the server's hint, or empty; null if it may. */
export function introspectionRefusal({ errors }: Result): string | null {
  const [first] = errors ?? [];
  const isRefused =
    first?.extensions?.code === 'INTROSPECTION_DISABLED' || /^Unknown field "__schema"/.test(first?.message ?? '');
  return isRefused ? (first?.extensions?.hint ?? '') : null;
}

/** A local result, without a request. */
export function asResult(message: string): Result {
  return { errors: [{ message }] };
}

/** Whether the text is more than comments. */
export function hasOperation(text: string): boolean {
  return text.replace(/#.*/g, '').trim() !== '';
}
