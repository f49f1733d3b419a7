/** Finds links whose whole address is a variable that is never in the data: they lead nowhere for every recipient. */
import { findEmptyActions } from '../engine/parse/template-variables.ts';
import type { TemplateNode, TemplateTree } from '../engine/tree.ts';

interface EmptyLink {
  /** Name of the variable, without its dot. */
  readonly name: string;
  /** Offset of the action into the source. */
  readonly at: number;
}

/** All of them, in order of the branches. @param known Variables of the data. */
export function findEmptyLinks(tree: TemplateTree, known: readonly string[]): readonly EmptyLink[] {
  return findEmptyActions(tree, known).filter(({ before, behind }) => isAddress(before, behind));
}

/** Behind it, there are blanks alone. */
const beforeAddress = /\bhref\s*=(?:\s*["'])?$/i;
const behindAddress = /^\s*["'\s>]/;

/** Whether the text between two nodes is the whole value of `href`. */
function isAddress(before: TemplateNode | undefined, behind: TemplateNode | undefined): boolean {
  if (before?.kind !== 'text' || behind?.kind !== 'text') return false;
  return beforeAddress.test(before.text.trimEnd()) && behindAddress.test(behind.text);
}
