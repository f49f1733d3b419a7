/** Writes that the gateway refuses by their form, whatever the rows are. */
import type { Change, Conflict, Link, Related, Tree, Write } from './write.ts';

/** Whether a write with related rows is refused. */
export function isRefused(write: Write): boolean {
  if (isForged(write)) return true;
  if (write.kind === 'update') return refusesChange(write.change);
  if (write.kind !== 'insert' || !isTree(write)) return false;
  const { trees, conflict, columns } = write;
  return trees.some((tree) => keepsRows(tree, conflict, columns !== null) || keepsOthers(tree, conflict));
}

function refusesChange({ links, related }: Change): boolean {
  return related.some(refusesRelated) || links.some(refusesLink);
}

function refusesLink(link: Link): boolean {
  if (link.way === 'update') return refusesChange(link.change);
  return link.way === 'insert' && (keepsRows(link.tree, link.conflict) || keepsOthers(link.tree, link.conflict));
}

function refusesRelated({ reference, updates, trees, conflict, replace }: Related): boolean {
  const isNeeded = replace !== null;
  return (
    trees.some((tree) => keepsRows(tree, conflict, isNeeded) || keepsOthers(tree, conflict, reference.columns)) ||
    updates.some(refusesChange)
  );
}

/** Whether an object gives a column that a relationship sets. */
export function isForged(write: Write): boolean {
  if (write.kind === 'update') return isChangeForged(write.change);
  return write.kind === 'insert' && write.trees.some(isTreeForged);
}

function isChangeForged({ isForged: own, links, related }: Change): boolean {
  return (
    own ||
    links.some((link) =>
      link.way === 'insert' ? isTreeForged(link.tree) : link.way === 'update' && isChangeForged(link.change),
    ) ||
    related.some(({ updates, trees }) => updates.some(isChangeForged) || trees.some(isTreeForged))
  );
}

function isTreeForged({ isForged: own, up, down }: Tree): boolean {
  return (
    own ||
    up.some(({ tree }) => tree !== null && isTreeForged(tree)) ||
    down.some(({ trees }) => trees.some(isTreeForged))
  );
}

/** A row that is updated would not get the key of another one. @param left Columns that the object around it sets. */
function keepsOthers({ up, down }: Tree, conflict: Conflict | null, left: readonly string[] = []): boolean {
  const found = /^\(([\w, ]+)\)/.exec(conflict?.arbiter ?? '')?.[1]?.split(', ') ?? [];
  const set = [...left, ...up.flatMap(({ reference }) => reference.columns)];
  return (
    (conflict !== null &&
      conflict.columns.length > 0 &&
      set.some((column) => !found.includes(column) && !conflict.columns.includes(column))) ||
    up.some((each) => each.tree !== null && keepsOthers(each.tree, each.conflict)) ||
    down.some((each) => each.trees.some((tree) => keepsOthers(tree, each.conflict, each.reference.columns)))
  );
}

/** Whether a row that is there may stay as it is. */
function mayKeep({ columns, filter }: Conflict): boolean {
  return columns.length === 0 || filter.length > 0;
}

/** Rows that others are made with cannot stay as they are. */
function keepsRows({ up, down }: Tree, conflict: Conflict | null, isNeeded = true): boolean {
  return (
    (conflict !== null && mayKeep(conflict) && (isNeeded || down.length > 0)) ||
    up.some((each) => each.tree !== null && keepsRows(each.tree, each.conflict)) ||
    down.some((each) => each.trees.some((tree) => keepsRows(tree, each.conflict, false)))
  );
}

/** Whether a write has related rows. */
export function isTree(write: Write): boolean {
  if (write.kind === 'update') return isTreeOfChange(write.change);
  return write.kind === 'insert' && write.trees.some(({ up, down }) => up.length + down.length > 0);
}

/** A reference that is only removed is a column of the row. */
function isTreeOfChange({ links, related }: Change): boolean {
  return related.length > 0 || links.some(({ way }) => way !== 'disconnect');
}
