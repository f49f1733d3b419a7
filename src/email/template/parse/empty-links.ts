/**
 * Finds links whose whole address is a variable that the data never have: they lead nowhere, whoever gets them.
 *
 * What comes from inside a variable, from functions or from metadata may be there, and is not looked at.
 */
import type { Operand, Pipeline, TemplateNode, TemplateTree } from '../tree.ts';

interface EmptyLink {
  /** Name of the variable, without its dot. */
  readonly name: string;
  /** Offset of the action into the source. */
  readonly at: number;
}

/** All of them, in the order in which the branches stand. @param known Variables that the data have. */
export function findEmptyLinks(tree: TemplateTree, known: readonly string[]): readonly EmptyLink[] {
  const finder = new LinkFinder(tree, known);
  finder.list(tree.main, { dot: data, dollar: data });
  return finder.found;
}

/** What is known of a value: it is all data, it may be anything, or it is nothing, because a variable of this name is not there. */
type Known = typeof data | typeof anything | { readonly missing: string };

const data = 'data';
const anything = 'anything';

interface Scope {
  readonly dot: Known;
  /** `$`: what the template was called with. */
  readonly dollar: Known;
}

const beforeAddress = /\bhref\s*=\s*["']?\s*$/i;
const behindAddress = /^\s*["'\s>]/;

class LinkFinder {
  readonly found: EmptyLink[] = [];
  readonly #tree: TemplateTree;
  readonly #known: readonly string[];
  readonly #seen = new Set<string>();

  constructor(tree: TemplateTree, known: readonly string[]) {
    this.#tree = tree;
    this.#known = known;
  }

  list(nodes: readonly TemplateNode[], scope: Scope): void {
    for (const [index, node] of nodes.entries()) {
      if (node.kind === 'action') {
        const value = this.#pipeline(node.pipeline, scope);
        if (typeof value === 'object' && isAddress(nodes[index - 1], nodes[index + 1]))
          this.found.push({ name: value.missing, at: node.at });
      } else if (node.kind === 'call') {
        if (node.pipeline !== null) this.#template(node.name, this.#pipeline(node.pipeline, scope));
      } else if (node.kind === 'if' || node.kind === 'with' || node.kind === 'range') {
        const value = this.#pipeline(node.pipeline, scope);
        const dot = { if: scope.dot, with: value, range: anything } as const;
        if (typeof value !== 'object') this.list(node.list, { ...scope, dot: dot[node.kind] });
        this.list(node.otherwise ?? [], scope);
      }
    }
  }

  #template(name: string, dot: Known): void {
    const key = JSON.stringify([name, dot]);
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.list(this.#tree.named.get(name) ?? [], { dot, dollar: dot });
  }

  #pipeline({ commands }: Pipeline, scope: Scope): Known {
    const [first, ...rest] = commands;
    if (first === undefined || first.operands.length > 1) return anything;
    const value = this.#operand(first.operands[0], scope);
    // What they make of nothing is nothing.
    const areEscapers = rest.every(
      ({ operands: [called] }) => called.kind === 'function' && ['html', 'urlquery'].includes(called.name),
    );
    return areEscapers && (rest.length === 0 || value !== data) ? value : anything;
  }

  #operand(operand: Operand, scope: Scope): Known {
    switch (operand.kind) {
      case 'dot':
        return scope.dot;
      case 'field':
        return this.#field(scope.dot, operand.path);
      case 'variable':
        return operand.name === '$' ? this.#field(scope.dollar, operand.path) : anything;
      case 'chain':
        return this.#field(this.#operand(operand.of, scope), operand.path);
      case 'pipeline':
        return this.#pipeline(operand, scope);
      default:
        return anything;
    }
  }

  #field(of: Known, [name]: readonly string[]): Known {
    if (name === undefined || of !== data) return of;
    return this.#known.includes(name) ? anything : { missing: name };
  }
}

/** Whether what stands between two nodes is the whole value of `href`. */
function isAddress(before: TemplateNode | undefined, behind: TemplateNode | undefined): boolean {
  if (before?.kind !== 'text' || behind?.kind !== 'text') return false;
  return beforeAddress.test(before.text) && behindAddress.test(behind.text);
}
