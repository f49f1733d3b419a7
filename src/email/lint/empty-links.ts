/**
 * Finds links whose whole address is a variable that is never in the data: they lead nowhere for every recipient.
 *
 * Members of variables, results of functions and metadata may exist and are not checked.
 */
import type { Operand, Pipeline, TemplateNode, TemplateTree } from '../engine/tree.ts';

interface EmptyLink {
  /** Name of the variable, without its dot. */
  readonly name: string;
  /** Offset of the action into the source. */
  readonly at: number;
}

/** All of them, in order of the branches. @param known Variables of the data. */
export function findEmptyLinks(tree: TemplateTree, known: readonly string[]): readonly EmptyLink[] {
  const finder = new LinkFinder(tree, known);
  finder.list(tree.main, { dot: data, dollar: data });
  return finder.found;
}

/** Knowledge about a value: it is the whole data, it may be anything, or it is empty because a variable is missing. */
type Known = typeof data | typeof anything | { readonly missing: string };

const data = 'data';
const anything = 'anything';

interface Scope {
  readonly dot: Known;
  /** `$`: the argument of the template. */
  readonly dollar: Known;
}

/** Behind it, there are blanks alone. */
const beforeAddress = /\bhref\s*=(?:\s*["'])?$/i;
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
    // An escaper of an empty value returns an empty value.
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

/** Whether the text between two nodes is the whole value of `href`. */
function isAddress(before: TemplateNode | undefined, behind: TemplateNode | undefined): boolean {
  if (before?.kind !== 'text' || behind?.kind !== 'text') return false;
  return beforeAddress.test(before.text.trimEnd()) && behindAddress.test(behind.text);
}
