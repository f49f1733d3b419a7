/** The length of a template's longest text, without its variables: of the branches of a condition, one is sent. */
import type { TemplateNode, TemplateTree } from '../engine/tree.ts';

/** In characters. Visits each node once. */
export function maxText({ main, named }: TemplateTree): number {
  const known = new Map<string, number>();
  return ofList(main);

  function ofList(nodes: readonly TemplateNode[]): number {
    let sum = 0;
    for (const node of nodes) sum += ofNode(node);
    return sum;
  }

  function ofNode(node: TemplateNode): number {
    if (node.kind === 'text') return [...node.text].length;
    if (node.kind === 'call') return ofNamed(node.name);
    return 'list' in node ? Math.max(ofList(node.list), ofList(node.otherwise ?? [])) : 0;
  }

  function ofNamed(name: string): number {
    const before = known.get(name);
    if (before !== undefined) return before;
    // Recursion adds nothing.
    known.set(name, 0);
    const length = ofList(named.get(name) ?? []);
    known.set(name, length);
    return length;
  }
}
