/**
 * Finds conditions where one branch uses a variable and the other does not, and nothing around them does either:
 * recipients in the other branch miss it. Visits each node once.
 */
import { findVariables } from '../engine/parse/template-variables.ts';
import type { TemplateNode, TemplateTree } from '../engine/tree.ts';

/** Offsets into the source, in order. Conditions with a single branch do not count. @param names Without their dot. */
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

  /** Excluding nested nodes. */
  function usesItself(node: TemplateNode): boolean {
    const alone = 'list' in node ? { ...node, list: [], otherwise: null } : node;
    const used = findVariables({ main: [alone], named: new Map() });
    return names.some((name) => used.has(name));
  }

  function usesNamed(name: string): boolean {
    const before = known.get(name);
    if (before !== undefined) return before;
    // Recursion adds nothing.
    known.set(name, false);
    const found = usesOne(tree.named.get(name) ?? []);
    known.set(name, found);
    return found;
  }
}
