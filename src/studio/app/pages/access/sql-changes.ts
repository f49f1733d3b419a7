/** The SQL that the page has collected, in order; kept in the tab. */
import { session } from '../../shared/session.ts';
import { createStore, type Store } from '../../shared/store.ts';

const storageName = 'pgreflect:sql-changes';

/** The statements. */
export const sqlChanges: Store<readonly string[]> = createStore<readonly string[]>(
  JSON.parse(sessionStorage.getItem(storageName) ?? '[]') as string[],
);
sqlChanges.subscribe(() => sessionStorage.setItem(storageName, JSON.stringify(sqlChanges.get())));
session.subscribe(() => {
  if (session.get().kind === 'none') sqlChanges.set([]);
});

/** Adds a statement, once. */
export function collect(sql: string): void {
  if (!sqlChanges.get().includes(sql)) sqlChanges.set([...sqlChanges.get(), sql]);
}

/** Name and text of a migration, as the tools of Supabase name them. */
export function toMigration(
  statements: readonly string[],
  now: Date,
): { readonly name: string; readonly text: string } {
  const stamp = now.toISOString().replaceAll(/\D/g, '').slice(0, 14);
  return { name: `${stamp}_access.sql`, text: `${statements.join('\n\n')}\n` };
}
