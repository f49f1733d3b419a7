/**
 * Unsaved input: every page reports whether it has some, and leaving the studio asks first.
 *
 * Kept in the tab: after a reload, the page's code may not be loaded yet.
 */
const storageName = 'pgreflect:unsaved';
const pages = new Set<string>(JSON.parse(sessionStorage.getItem(storageName) ?? '[]') as string[]);

addEventListener('beforeunload', (event) => {
  if (pages.size > 0) event.preventDefault();
});

/** @param page Path of the page. */
export function noteUnsaved(page: string, has: boolean): void {
  if (has) pages.add(page);
  else pages.delete(page);
  sessionStorage.setItem(storageName, JSON.stringify([...pages]));
}

/** Whether nothing is unsaved, or the user agrees to lose it; asks only once. */
export function mayLose(): boolean {
  if (pages.size > 0 && !confirm('You have unsaved changes that will be lost. Continue?')) return false;
  pages.clear();
  return true;
}
