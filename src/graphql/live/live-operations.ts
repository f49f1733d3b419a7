/** The live queries of a gateway for its operators: by operation and role, without any value or variable. */
import { type LiveOperationState, type LiveTarget, maxUsers } from '../../server/recent/live-schemas.ts';
import { loggableName } from '../../server/track-requests.ts';
import { isUuid } from '../../shared/uuid.ts';
import type { LiveGroup } from './live-group.ts';

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
