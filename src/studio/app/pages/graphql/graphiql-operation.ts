/** What GraphiQL's operations are, and what its answers say about the page. */
import type { GraphiQL } from 'graphiql';
import type { ComponentProps } from 'react';
import type { Result } from '../../shared/send-operation.ts';

/** GraphiQL's fetcher; may also return more than one result. */
export type Fetcher = ComponentProps<typeof GraphiQL>['fetcher'];

/** What the fetcher returns. */
export type Fetched = ReturnType<Fetcher>;

/** The parameters of GraphiQL. */
export type Params = Parameters<Fetcher>[0];

/** Whether the document subscribes. A query that seems to is answered all the same. */
export function isSubscription({ query }: Params): boolean {
  return /(?:^|\})\s*subscription\b/.test(query.replace(/#.*/g, ''));
}

/** GraphiQL knows the name of an operation a moment after its text: one that the text has no more is left out. */
export function withPresentName(params: Params): Params {
  const { query, operationName } = params;
  return operationName && !query.includes(operationName) ? { ...params, operationName: null } : params;
}

/** Whether it is the introspection that GraphiQL sends on its own. */
export function isIntrospection({ operationName }: Params): boolean {
  return operationName === 'IntrospectionQuery';
}

/** What the role misses because it may not read its schema, and how to change that; null if it may. */
export function introspectionRefusal({ errors }: Result): string | null {
  const [first] = errors ?? [];
  const isRefused =
    first?.extensions?.code === 'INTROSPECTION_DISABLED' || /^Unknown field "__schema"/.test(first?.message ?? '');
  if (!isRefused) return null;
  return `Documentation and completion are unavailable; operations still work. ${first?.extensions?.hint ?? isOff}`;
}

const isOff =
  'Introspection is off for this role: set "introspection": true in the comment directive of the schema to turn it on.';

/** A local result, without a request. */
export function asResult(message: string): Result {
  return { errors: [{ message }] };
}

/** Whether the text is more than comments. */
export function hasOperation(text: string): boolean {
  return text.replace(/#.*/g, '').trim() !== '';
}
