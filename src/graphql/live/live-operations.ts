/** The live queries of a gateway for its operators: by operation and role, without any value or variable. */
import { loggableName } from '../../server/track-requests.ts';
import { about, integer, listOf, objectOf, orNull, text, type ValueOf } from '../../shared/schema.ts';
import { isUuid } from '../../shared/uuid.ts';
import type { LiveGroup } from './live-group.ts';

/** Of the signed-in users of one operation that are named. */
const maxUsers = 20;

const targetFields = {
  operation: orNull(text),
  document: about(orNull(text), 'Hash of the document; null before its first answer.'),
  role: text,
};

/** What the subscriptions of one row have in common. */
export const liveTarget = objectOf(targetFields);

/** The same. */
export type LiveTarget = ValueOf<typeof liveTarget>;

/** Subscriptions to one operation as one role. */
const liveOperation = objectOf({
  ...targetFields,
  subscribers: integer,
  users: about(listOf(text), `IDs of the signed-in users among them, at most ${maxUsers}.`),
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
    users: userOf(group),
    groups: 1,
    exactGroups: isExact(group) ? 1 : 0,
    runs: group.runs,
    events: group.events,
    lagMs: Math.round(group.changedAt === null ? 0 : now - group.changedAt),
    lastRunMs: Math.round(group.tookMs),
  }));
  return mergeOperations(rows);
}

/** Whether the row of a target counts a group. */
export function isOf({ operation, document, role }: LiveTarget, group: LiveGroup): boolean {
  return (
    loggableName(group.document.operationName) === operation &&
    group.document.documentHash === document &&
    group.operation.caller.role === role
  );
}

function userOf({ operation }: LiveGroup): readonly string[] {
  const { sub } = JSON.parse(operation.caller.claims) as { readonly sub?: unknown };
  return typeof sub === 'string' && isUuid(sub) ? [sub] : [];
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
    users: [...new Set([...one.users, ...other.users])].slice(0, maxUsers),
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
