/** What the management API says of live queries: by operation and role, without any value or variable. */
import { about, integer, listOf, objectOf, orNull, text, type ValueOf } from '../../shared/schema.ts';

/** Of the signed-in users of one operation that are named. */
export const maxUsers = 20;

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
