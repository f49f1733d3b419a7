/** The SQL that the page has collected, in order; kept in the tab. */
import { session } from '../../shared/session.ts';
import { createStore, type Store, useStore } from '../../shared/store.ts';
import type { Action } from './access-words.ts';

/** A collected change. */
export interface SqlChange {
  /** What it changes: of two with the same key, the later takes the place of the earlier. */
  readonly key: string;
  readonly sql: string;
  /** What it does, in words beside what is. */
  readonly words: string;
  /** Of a grant: the columns that it leads to. */
  readonly columns?: readonly string[];
  /** Of a new policy: whose rows it adds. */
  readonly adds?: { readonly object: string; readonly role: string; readonly action: Action };
  /** Tables that a condition reads, so that their row security decides. */
  readonly leansOn?: readonly string[];
  /** Of a policy that one role leaves: what happens to the others. */
  readonly shared?: SharedPolicy;
  /** The others do the same without it. */
  readonly isOptional?: boolean;
  /** Somebody has written other SQL, which may do anything. */
  readonly isEdited?: boolean;
}

/** A policy that one role leaves, while others keep or lose it. */
interface SharedPolicy {
  readonly policy: string;
  readonly role: string;
  readonly others: readonly string[];
  /** What they have by it, as `all rows`; null: it is restrictive, so that without it they would have more. */
  readonly rows: string | null;
  readonly isKept: boolean;
  /** The SQL if they do not keep it, or else if they do. */
  readonly otherwise: string;
}

/** What a change does for a role, in words; null: nothing. */
export function wordsFor({ words, shared, isEdited = false }: SqlChange, role: string): string | null {
  if (isEdited) return 'your own SQL';
  if (shared === undefined || shared.role === role) return words;
  if (!shared.others.includes(role)) return null;
  if (shared.rows === null) return 'as before';
  return shared.isKept ? `${shared.rows}, as before` : `“${shared.policy}” dropped`;
}

/** What a change does for each role, in words. */
export function wordsForAll(change: SqlChange): string {
  const { shared, words } = change;
  if (shared === undefined || change.isEdited === true) return wordsFor(change, '') ?? words;
  return [shared.role, ...shared.others].map((role) => `${role}: ${wordsFor(change, role)}`).join('; ');
}

/** The change by which the others lose the policy, if they keep it, or else keep it. */
export function turned(change: SqlChange): SqlChange {
  const { sql, shared } = change;
  if (shared === undefined) return change;
  return { ...change, sql: shared.otherwise, shared: { ...shared, isKept: !shared.isKept, otherwise: sql } };
}

const storageName = 'pgreflect:access-changes';

/** The changes. */
export const sqlChanges: Store<readonly SqlChange[]> = createStore<readonly SqlChange[]>(
  JSON.parse(sessionStorage.getItem(storageName) ?? '[]') as SqlChange[],
);
sqlChanges.subscribe(() => sessionStorage.setItem(storageName, JSON.stringify(sqlChanges.get())));
session.subscribe(() => {
  if (session.get().kind === 'none') sqlChanges.set([]);
});

/** Adds a change, in the place of one that cannot stand beside it. */
export function collect(change: SqlChange): void {
  const others = sqlChanges.get();
  const isThere = others.some(({ key }) => key === change.key);
  sqlChanges.set(isThere ? others.map((each) => (each.key === change.key ? change : each)) : [...others, change]);
}

/** Takes a change back. */
export function undo(wanted: string): void {
  sqlChanges.set(sqlChanges.get().filter(({ key }) => key !== wanted));
}

/** Hook: the collected change with the key. */
export function useChange(wanted: string): SqlChange | undefined {
  return useStore(sqlChanges).find(({ key }) => key === wanted);
}

/** `1 change`. */
export function sayCount(count: number): string {
  return count === 1 ? '1 change' : `${count} changes`;
}

/** Name and text of a migration, as the tools of Supabase name them. */
export function toMigration(
  changes: readonly SqlChange[],
  now: Date,
): { readonly name: string; readonly text: string } {
  const stamp = now.toISOString().replaceAll(/\D/g, '').slice(0, 14);
  return { name: `${stamp}_access.sql`, text: `${changes.map(({ sql }) => sql).join('\n\n')}\n` };
}
