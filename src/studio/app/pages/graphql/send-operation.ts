/** Sends GraphiQL's operations to this gateway's API, and derives the page's notices from the answers. */
import type { GraphiQL } from 'graphiql';
import type { ComponentProps } from 'react';
import { ApiError } from '../../shared/api.ts';

/** GraphiQL's fetcher; may also return more than one result. */
export type Fetcher = ComponentProps<typeof GraphiQL>['fetcher'];

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
