/**
 * Operations for GraphiQL: sent to the API of this gateway, and what the page has to say about the answer.
 */
import type { GraphiQL } from 'graphiql';
import type { ComponentProps } from 'react';
import { ApiError } from '../../shared/api.ts';

/** Sends what GraphiQL wants to know; may also answer with more than one result. */
export type Fetcher = ComponentProps<typeof GraphiQL>['fetcher'];

/** What GraphiQL sends. */
export type Params = Parameters<Fetcher>[0];

/** What the API answers. */
export interface Result {
  readonly data?: unknown;
  readonly errors?: readonly {
    readonly message: string;
    readonly extensions?: { readonly code?: string; readonly hint?: string };
  }[];
}

/** @throws ApiError with status 0 where there is no answer. */
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

/** Whether it is the question about the schema, which GraphiQL asks by itself. */
export function isIntrospection({ operationName }: Params): boolean {
  return operationName === 'IntrospectionQuery';
}

/** Why the role may not read its schema: the server's hint, empty where it has none; null where it may. */
export function introspectionRefusal({ errors }: Result): string | null {
  const [first] = errors ?? [];
  const isRefused =
    first?.extensions?.code === 'INTROSPECTION_DISABLED' || /^Unknown field "__schema"/.test(first?.message ?? '');
  return isRefused ? (first?.extensions?.hint ?? '') : null;
}

/** A result without a request. */
export function asResult(message: string): Result {
  return { errors: [{ message }] };
}

/** Whether there is anything but comments. */
export function hasOperation(text: string): boolean {
  return text.replace(/#.*/g, '').trim() !== '';
}
