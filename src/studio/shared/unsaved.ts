/**
 * What would be lost: every page says whether it has something, and nobody leaves the studio without being asked.
 *
 * Kept in the tab: after a reload the code of a page that has something may not be there yet.
 */
const storageName = 'pgreflect:unsaved';
const pages = new Set<string>(JSON.parse(sessionStorage.getItem(storageName) ?? '[]') as string[]);

addEventListener('beforeunload', (event) => {
  if (pages.size > 0) event.preventDefault();
});

/** @param page Its path. */
export function noteUnsaved(page: string, has: boolean): void {
  if (has) pages.add(page);
  else pages.delete(page);
  sessionStorage.setItem(storageName, JSON.stringify([...pages]));
}

/** Whether there is nothing to lose, or the person agrees to lose it, which is not asked again. */
export function mayLose(): boolean {
  if (pages.size > 0 && !confirm('You have unsaved changes that will be lost. Continue?')) return false;
  pages.clear();
  return true;
}
