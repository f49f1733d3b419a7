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

/** An action whose value is empty, and the nodes beside it. */
interface EmptyAction {
  /** Name of the missing variable, without its dot. */
  readonly name: string;
  readonly at: number;
  readonly before: TemplateNode | undefined;
  readonly behind: TemplateNode | undefined;
}

/**
 * The actions that print nothing for want of a variable, in order of the branches. Members of variables, results of functions
 * and metadata may exist. @param known Variables of the data.
 */
export function findEmptyActions(tree: TemplateTree, known: readonly string[]): readonly EmptyAction[] {
  const finder = new Finder(tree, ([name]) => name, known);
  finder.list(tree.main, whole);
  return finder.empty;
}

type NameOf = (path: readonly string[]) => string | undefined;

function find(tree: TemplateTree, nameOf: NameOf): ReadonlyMap<string, number> {
  const finder = new Finder(tree, nameOf, null);
  finder.list(tree.main, whole);
  return new Map([...finder.found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** What is known of a value: it is the whole data, it may be anything, or it is empty because a variable is missing. */
type Value = 'data' | 'anything' | { readonly missing: string };

interface Scope {
  readonly dot: Value;
  /** `$`: the argument of the template. */
  readonly dollar: Value;
}

const whole: Scope = { dot: 'data', dollar: 'data' };

class Finder {
  readonly found = new Map<string, number>();
  readonly empty: EmptyAction[] = [];
  readonly #tree: TemplateTree;
  readonly #seen = new Set<string>();
  readonly #nameOf: NameOf;
  readonly #known: readonly string[] | null;

  /** @param known Variables of the data; null: no variable is missing. */
  constructor(tree: TemplateTree, nameOf: NameOf, known: readonly string[] | null) {
    this.#tree = tree;
    this.#nameOf = nameOf;
    this.#known = known;
  }

  list(nodes: readonly TemplateNode[], scope: Scope): void {
    for (const [index, node] of nodes.entries()) {
      // What stands in a comment is not sent.
      if (node.kind === 'action' && node.escapers[0] !== leftOut) {
        const value = this.#pipeline(node.pipeline, scope);
        if (typeof value !== 'object') continue;
        this.empty.push({ name: value.missing, at: node.at, before: nodes[index - 1], behind: nodes[index + 1] });
      } else if (node.kind === 'call') {
        if (node.pipeline !== null) this.#template(node.name, this.#pipeline(node.pipeline, scope));
      } else if (node.kind === 'if' || node.kind === 'with' || node.kind === 'range') {
        const value = this.#pipeline(node.pipeline, scope);
        const dot = { if: scope.dot, with: value, range: 'anything' } as const;
        if (typeof value !== 'object') this.list(node.list, { ...scope, dot: dot[node.kind] });
        this.list(node.otherwise ?? [], scope);
      }
    }
  }

  #template(name: string, dot: Value): void {
    const key = JSON.stringify([name, dot]);
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.list(this.#tree.named.get(name) ?? [], { dot, dollar: dot });
  }

  #pipeline({ commands }: Pipeline, scope: Scope): Value {
    const [values, ...others] = commands.map(({ operands }) => operands.map((one) => this.#operand(one, scope)));
    const [value, argument] = values ?? [];
    if (value === undefined || argument !== undefined) return 'anything';
    if (others.length === 0) return value;
    // An escaper of an empty value returns an empty value.
    const areEscapers = commands
      .slice(1)
      .every(({ operands: [called] }) => called.kind === 'function' && ['html', 'urlquery'].includes(called.name));
    return areEscapers && value !== 'data' ? value : 'anything';
  }

  #operand(operand: Operand, scope: Scope): Value {
    switch (operand.kind) {
      case 'dot':
        return scope.dot;
      case 'field':
        return this.#field(scope.dot, operand);
      case 'variable':
        return operand.name === '$' ? this.#field(scope.dollar, operand) : 'anything';
      case 'chain':
        return this.#field(this.#operand(operand.of, scope), operand);
      case 'pipeline':
        return this.#pipeline(operand, scope);
      default:
        return 'anything';
    }
  }

  #field(of: Value, { path, at }: { readonly path: readonly string[]; readonly at: number }): Value {
    const [member] = path;
    if (member === undefined || of !== 'data') return of;
    const name = this.#nameOf(path);
    if (name !== undefined && !this.found.has(name)) this.found.set(name, at);
    return this.#known?.includes(member) === false ? { missing: member } : 'anything';
  }
}
