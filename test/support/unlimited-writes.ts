/**
 * Finds updates and deletes without `where` in a SQL text. Supabase preloads `safeupdate` for its login, which refuses them.
 */
import { loadModule, parseSync } from 'libpg-query';

await loadModule();

/** The kinds of the statements that have no `where`, also below `with`: `UpdateStmt`, `DeleteStmt`. */
export function findUnlimitedWrites(text: string): readonly string[] {
  const found: string[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, child] of Object.entries(value)) {
      const isWrite = key === 'UpdateStmt' || key === 'DeleteStmt';
      if (isWrite && (child as { readonly whereClause?: unknown }).whereClause === undefined) found.push(key);
      visit(child);
    }
  };
  visit(parseSync(text));
  return found;
}
