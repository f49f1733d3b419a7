/**
 * Unsaved input: every page reports whether it has some, and leaving the studio asks first. So does going to another of its
 * addresses where that loses what stands in a form.
 */
import { useEffect, useId } from 'react';

const storageName = 'pgreflect:unsaved';

/** Pages that keep their input. Kept in the tab, too: after a reload, the page's code may not be loaded yet. */
const pages = new Set<string>(JSON.parse(sessionStorage.getItem(storageName) ?? '[]') as string[]);

/** What of the address a form belongs to: its path and parts of its query; null: the page alone. */
type Ties = readonly string[] | null;

/** Forms whose input is lost with them. */
const forms = new Map<string, Ties>();

addEventListener('beforeunload', (event) => {
  if (pages.size + forms.size > 0) event.preventDefault();
});

/** @param page Path of a page that keeps its input. */
export function noteUnsaved(page: string, has: boolean): void {
  if (has) pages.add(page);
  else pages.delete(page);
  sessionStorage.setItem(storageName, JSON.stringify([...pages]));
}

/** Hook of a form whose input is lost with it. @param ties The same array each time. */
export function useUnsaved(has: boolean, ties: Ties): void {
  const id = useId();
  useEffect(() => {
    if (!has) return;
    forms.set(id, ties);
    return () => void forms.delete(id);
  }, [id, has, ties]);
}

/** Whether nothing is unsaved, or the user agrees to lose it; asks only once. */
export function mayLose(): boolean {
  if (pages.size + forms.size > 0 && !isAgreed()) return false;
  pages.clear();
  forms.clear();
  return true;
}

/** The same of what is lost between two addresses of the studio. */
export function mayLeave(from: string, to: string): boolean {
  const lost = [...forms].filter(([, ties]) => partOf(from, ties) !== partOf(to, ties));
  if (lost.length > 0 && !isAgreed()) return false;
  for (const [id] of lost) forms.delete(id);
  return true;
}

function isAgreed(): boolean {
  return confirm('You have unsaved changes that will be lost. Continue?');
}

function partOf(address: string, ties: Ties): string {
  const { pathname, searchParams } = new URL(address, location.origin);
  if (ties === null) return pathname.split('/').slice(0, 3).join('/');
  return JSON.stringify([pathname, ...ties.map((name) => searchParams.get(name))]);
}
