/** The live queries of a gateway for its operators: by operation and role, without any value, variable or claim. */
import { loggableName } from '../../server/track-requests.ts';
import { integer, listOf, objectOf, orNull, text, type ValueOf } from '../../shared/schema.ts';
import type { LiveGroup } from './live-group.ts';

/** Subscriptions to one operation as one role. */
const liveOperation = objectOf({
  operation: orNull(text),
  /** Of the document; null before its first answer. */
  document: orNull(text),
  role: text,
  subscribers: integer,
  /** Live queries with other variables or callers, which run by themselves. */
  groups: integer,
  /** Those that run only after a change of a table that they read (`init --live`). */
  exactGroups: integer,
  /** Of the groups that there are. */
  runs: integer,
  events: integer,
  /** Age of the oldest change that no run has seen yet, in milliseconds. */
  lagMs: integer,
  /** Of the slowest group. */
  lastRunMs: integer,
});

/** One row. */
export type LiveOperationState = ValueOf<typeof liveOperation>;

/** Live queries of all processes. */
export const liveOverview = objectOf({
  /** Processes of this gateway, and how many have answered. */
  processes: integer,
  answered: integer,
  operations: listOf(liveOperation),
});

/** The same. */
export type LiveOverview = ValueOf<typeof liveOverview>;

/** What a process has. */
export function describeGroups(
  groups: Iterable<LiveGroup>,
  isExact: (group: LiveGroup) => boolean,
): readonly LiveOperationState[] {
  const now = performance.now();
  const rows = [...groups].map((group) => ({
    operation: loggableName(group.document.operationName),
    document: group.document.documentHash,
    role: group.operation.caller.role,
    subscribers: group.size,
    groups: 1,
    exactGroups: isExact(group) ? 1 : 0,
    runs: group.runs,
    events: group.events,
    lagMs: Math.round(group.changedAt === null ? 0 : now - group.changedAt),
    lastRunMs: Math.round(group.tookMs),
  }));
  return mergeOperations(rows);
}

/** One row for each operation and role: sums, and the longest times. Those with most subscribers come first. */
export function mergeOperations(rows: readonly LiveOperationState[]): readonly LiveOperationState[] {
  const same = Map.groupBy(rows, ({ operation, document, role }) => JSON.stringify([operation, document, role]));
  const merged = [...same.values()].map((all) => all.reduce(add));
  return merged.sort((one, other) => other.subscribers - one.subscribers || (nameOf(one) < nameOf(other) ? -1 : 1));
}

function add(one: LiveOperationState, other: LiveOperationState): LiveOperationState {
  return {
    ...one,
    subscribers: one.subscribers + other.subscribers,
    groups: one.groups + other.groups,
    exactGroups: one.exactGroups + other.exactGroups,
    runs: one.runs + other.runs,
    events: one.events + other.events,
    lagMs: Math.max(one.lagMs, other.lagMs),
    lastRunMs: Math.max(one.lastRunMs, other.lastRunMs),
  };
}

function nameOf({ operation, document, role }: LiveOperationState): string {
  return `${operation} ${document} ${role}`;
}
