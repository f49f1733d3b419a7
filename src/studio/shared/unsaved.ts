/**
 * What would be lost: every page says whether it has something, and nobody leaves the studio without being asked.
 */
const pages = new Set<string>();

addEventListener('beforeunload', (event) => {
  if (pages.size > 0) event.preventDefault();
});

/** @param page Its path. */
export function noteUnsaved(page: string, has: boolean): void {
  if (has) pages.add(page);
  else pages.delete(page);
}

/** Whether there is nothing to lose, or the person agrees to lose it. */
export function mayLose(): boolean {
  return pages.size === 0 || confirm('What you changed and did not save will be lost. Go on?');
}
