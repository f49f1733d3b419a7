/**
 * Finds conditions of which one branch uses some variables and the other does not, where nothing around them does: recipients of
 * whom the condition decides otherwise miss what the others get. Looks at each node once.
 */

import type { TemplateNode, TemplateTree } from '../tree.ts';
import { findVariables } from './template-variables.ts';

/** Offsets into the source, in its order. A condition with one branch alone does not count. @param names Without their dot. */
export function findUnevenBranches(tree: TemplateTree, names: readonly string[]): readonly number[] {
  const known = new Map<TemplateNode | string, boolean>();
  return inList(tree.main);

  function inList(nodes: readonly TemplateNode[]): readonly number[] {
    const using = nodes.filter(uses);
    return nodes.flatMap((node) => {
      if ((node.kind !== 'if' && node.kind !== 'with') || node.otherwise === null) return [];
      if (using.length !== 1 || using[0] !== node) return [];
      const isUneven = usesOne(node.list) !== usesOne(node.otherwise) && !(node.kind === 'with' && usesItself(node));
      return isUneven ? [node.at] : [...inList(node.list), ...inList(node.otherwise)];
    });
  }

  function usesOne(nodes: readonly TemplateNode[]): boolean {
    return nodes.some(uses);
  }

  function uses(node: TemplateNode): boolean {
    const before = known.get(node);
    if (before !== undefined) return before;
    const found = look(node);
    known.set(node, found);
    return found;
  }

  function look(node: TemplateNode): boolean {
    switch (node.kind) {
      case 'if':
      case 'with':
      case 'range':
        return (node.kind !== 'if' && usesItself(node)) || usesOne(node.list) || usesOne(node.otherwise ?? []);
      case 'call':
        return usesItself(node) || usesNamed(node.name);
      case 'action':
        return usesItself(node);
      default:
        return false;
    }
  }

  /** Without the nodes in it. */
  function usesItself(node: TemplateNode): boolean {
    const alone = 'list' in node ? { ...node, list: [], otherwise: null } : node;
    const used = findVariables({ main: [alone], named: new Map() });
    return names.some((name) => used.has(name));
  }

  function usesNamed(name: string): boolean {
    const before = known.get(name);
    if (before !== undefined) return before;
    // One that calls itself has nothing more for that.
    known.set(name, false);
    const found = usesOne(tree.named.get(name) ?? []);
    known.set(name, found);
    return found;
  }
}
