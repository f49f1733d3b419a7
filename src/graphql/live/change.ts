/** What has changed between two looks at the database. */

/** A change. */
export interface LiveChange {
  /** A transaction that wrote has ended, in any database of the server. */
  readonly hasMoved: boolean;
  /** Relations that were written, by oid; null: unknown, so all. */
  readonly relations: ReadonlySet<string> | null;
}

/** Anything may have changed. */
export const everything: LiveChange = { hasMoved: true, relations: null };

/** Both together. */
export function joinChanges(a: LiveChange, b: LiveChange): LiveChange {
  if (a.relations === null || b.relations === null) return everything;
  return { hasMoved: a.hasMoved || b.hasMoved, relations: new Set([...a.relations, ...b.relations]) };
}
