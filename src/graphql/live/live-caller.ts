/**
 * The caller of a live query, and what makes two of them equal.
 *
 * Subscriptions share their runs where nothing that a policy may read differs: document, variables, role, claims and
 * headers. Operators who know which claims and headers their policies read name them. The others then do not reach the
 * database at all, so a policy that reads one of them sees nothing, and never the value of another caller.
 */
import { hash } from 'node:crypto';
import type { Config } from '../../config/config.ts';
import type { Caller } from '../../postgres/caller/caller.ts';
import type { GraphQLRequest } from '../execute/executor.ts';

/** Headers of one connection or one message, which say nothing of the caller. */
const ofConnection =
  /^(?:accept|accept-encoding|cache-control|connection|content-type|keep-alive|last-event-id|pragma|sec-websocket-.*|traceparent|tracestate|transfer-encoding|upgrade|x-request-id)$/;

/** The caller with the claims and headers that live queries get. */
export function liveCaller(
  caller: Caller,
  { liveClaims, liveHeaders }: Pick<Config, 'liveClaims' | 'liveHeaders'>,
): Caller {
  const isNamed = (name: string) => (liveHeaders === '*' ? !ofConnection.test(name) : liveHeaders.includes(name));
  return {
    ...caller,
    // The same for all transports.
    method: 'POST',
    claims: liveClaims === '*' ? caller.claims : keep(caller.claims, (name) => liveClaims.includes(name)),
    headers: keep(caller.headers, isNamed),
  };
}

/** The members of a JSON object with these names, in the order of their names. */
function keep(object: string, isKept: (name: string) => boolean): string {
  const members = Object.entries(JSON.parse(object) as Readonly<Record<string, unknown>>);
  return JSON.stringify(Object.fromEntries(members.filter(([name]) => isKept(name)).sort(byName)));
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

/** What a group is known by. */
interface GroupKey {
  /** Equal only for callers and requests that always have equal answers. */
  readonly key: string;
  /** The length of the request, which is kept as long as the group. */
  readonly length: number;
}

/** Makes it. @param limits What the caller is exempt from. */
export function groupKey({ role, claims, headers, path }: Caller, request: GraphQLRequest, limits: string): GroupKey {
  const { query, documentId, operationName, variables } = request;
  // Texts and whole numbers of equal digits differ.
  const value = (_name: string, each: unknown) => (typeof each === 'bigint' ? { integer: `${each}` } : each);
  const asked = JSON.stringify([query, documentId, operationName, variables], value);
  const key = hash('sha256', JSON.stringify([role, claims, headers, path, limits, asked]), 'base64url');
  return { key, length: asked.length };
}
