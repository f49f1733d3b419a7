/**
 * Finds the variables that a template uses, without running it: for the studio, and for warnings about unknown names.
 */
import { leftOut } from '../escape/escapers.ts';
import type { Operand, Pipeline, TemplateNode, TemplateTree } from '../tree.ts';

/** Top-level fields, sorted by name, with the offset of their first use. What is reached only through `index` is not seen. */
export function findVariables(tree: TemplateTree): ReadonlyMap<string, number> {
  return find(tree, ([name]) => name);
}

/** The same with the members of metadata: `Data.name`, and `Data` where it is used as a whole. */
export function findVariablePaths(tree: TemplateTree): ReadonlyMap<string, number> {
  return find(tree, (path) => (path[0] === 'Data' ? path.slice(0, 2).join('.') : path[0]));
}

/** The members of metadata that a template reads, as paths, and its constant texts, each once: what it may look for there. */
export function findMetadata(tree: TemplateTree): {
  readonly paths: readonly (readonly string[])[];
  readonly constants: readonly string[];
} {
  const paths = new Map<string, readonly string[]>();
  const constants = new Set<string>();
  const look = (operand: Operand): void => {
    if (operand.kind === 'string') constants.add(operand.value);
    else if (operand.kind === 'pipeline') inPipeline(operand);
    else if (operand.kind === 'chain') look(operand.of);
    else if ((operand.kind === 'field' || operand.kind === 'variable') && operand.path[0] === 'Data')
      paths.set(operand.path.join('.'), operand.path.slice(1));
  };
  const inPipeline = ({ commands }: Pipeline): void => {
    for (const { operands } of commands) for (const operand of operands) look(operand);
  };
  const inList = (nodes: readonly TemplateNode[]): void => {
    for (const node of nodes) {
      if ('pipeline' in node && node.pipeline !== null) inPipeline(node.pipeline);
      if ('list' in node) inList([...node.list, ...(node.otherwise ?? [])]);
    }
  };
  for (const list of [tree.main, ...tree.named.values()]) inList(list);
  return { paths: [...paths.values()].filter((path) => path.length > 0), constants: [...constants] };
}

type NameOf = (path: readonly string[]) => string | undefined;

function find(tree: TemplateTree, nameOf: NameOf): ReadonlyMap<string, number> {
  const finder = new Finder(tree, nameOf);
  finder.list(tree.main, true);
  return new Map([...finder.found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Tracks where dot is the whole data. `$` always counts as such: templates called with other data are not searched. */
class Finder {
  readonly found = new Map<string, number>();
  readonly #tree: TemplateTree;
  readonly #seen = new Set<string>();

  readonly #nameOf: NameOf;

  constructor(tree: TemplateTree, nameOf: NameOf) {
    this.#tree = tree;
    this.#nameOf = nameOf;
  }

  list(nodes: readonly TemplateNode[], dotIsRoot: boolean): void {
    for (const node of nodes) {
      // What stands in a comment is not sent.
      if (node.kind === 'action' && node.escapers[0] !== leftOut) this.#pipeline(node.pipeline, dotIsRoot);
      else if (node.kind === 'call') {
        if (node.pipeline === null) continue;
        this.#pipeline(node.pipeline, dotIsRoot);
        if (this.#isRoot(node.pipeline, dotIsRoot)) this.#template(node.name);
      } else if (node.kind === 'if' || node.kind === 'with' || node.kind === 'range') {
        this.#pipeline(node.pipeline, dotIsRoot);
        const keepsRoot = node.kind === 'with' && this.#isRoot(node.pipeline, dotIsRoot);
        this.list(node.list, node.kind === 'if' ? dotIsRoot : keepsRoot);
        this.list(node.otherwise ?? [], dotIsRoot);
      }
    }
  }

  /** A named template called with the whole data. */
  #template(name: string): void {
    if (this.#seen.has(name)) return;
    this.#seen.add(name);
    this.list(this.#tree.named.get(name) ?? [], true);
  }

  /** Whether a pipeline is `.` or `$`. */
  #isRoot({ commands }: Pipeline, dotIsRoot: boolean): boolean {
    const [command, more] = commands;
    if (command === undefined || more !== undefined || command.operands.length > 1) return false;
    const [operand] = command.operands;
    if (operand.kind === 'dot') return dotIsRoot;
    return operand.kind === 'variable' && operand.name === '$' && operand.path.length === 0;
  }

  #pipeline(pipeline: Pipeline, dotIsRoot: boolean): void {
    for (const { operands } of pipeline.commands) for (const operand of operands) this.#operand(operand, dotIsRoot);
  }

  #operand(operand: Operand, dotIsRoot: boolean): void {
    switch (operand.kind) {
      case 'field':
        if (dotIsRoot) this.#add(operand);
        break;
      case 'variable':
        if (operand.name === '$') this.#add(operand);
        break;
      case 'chain':
        if (operand.of.kind === 'pipeline' && this.#isRoot(operand.of, dotIsRoot)) this.#add(operand);
        this.#operand(operand.of, dotIsRoot);
        break;
      case 'pipeline':
        this.#pipeline(operand, dotIsRoot);
        break;
      default:
    }
  }

  #add({ path, at }: { readonly path: readonly string[]; readonly at: number }): void {
    const name = this.#nameOf(path);
    if (name !== undefined && !this.found.has(name)) this.found.set(name, at);
  }
}
