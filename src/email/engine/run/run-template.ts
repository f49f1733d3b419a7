/** Runs an escaped tree with data and collects the output, within limits. */
import { Budget } from '../budget.ts';
import { EvaluationFailure } from '../template-error.ts';
import type { ActionNode, Branch, CallNode, Pipeline, TemplateNode, TemplateTree } from '../tree.ts';
import { formatPlainValue } from '../values/format-value.ts';
import { stringify } from '../values/stringify.ts';
import {
  Byte,
  fromData,
  isTruthy,
  type ListValue,
  type MapValue,
  mapEntry,
  mapKeys,
  type Value,
  valueKind,
} from '../values/value.ts';
import type { Tolerate } from './compare-values.ts';
import { Evaluator } from './evaluate.ts';

/** Limits of one rendering. */
export interface TemplateLimits {
  readonly maxOutputBytes: number;
  /** Iterations of all ranges together. */
  readonly maxIterations: number;
  readonly maxDepth: number;
  /** Processor time of the thread in milliseconds. */
  readonly maxMs: number;
}

/** How a body was left early, for the enclosing range. */
type Exit = 'break' | 'continue' | null;

/** Yields nested bodies instead of calling them, so depth uses no stack. */
type Work = Generator<Work, Exit, Exit>;

/** Most levels of bodies that are run without a generator, which takes half of the time of usual emails. */
const maxFlatLevels = 50;

/** Levels of bodies by their nodes, which belong to one tree. */
const levels = new WeakMap<readonly TemplateNode[], number>();

/** How deep the bodies in a body are nested; without end for recursion and for loops, which may be left early. */
function levelsOf(nodes: readonly TemplateNode[], named: TemplateTree['named']): number {
  const known = levels.get(nodes);
  if (known !== undefined) return known;
  // What is found again on the way contains itself.
  levels.set(nodes, Number.POSITIVE_INFINITY);
  const inner = nodes.map((node) => {
    if (node.kind === 'text' || node.kind === 'action') return 0;
    if (node.kind === 'call') return levelsOf(named.get(node.name) ?? [], named);
    if (node.kind !== 'if' && node.kind !== 'with') return Number.POSITIVE_INFINITY;
    return Math.max(levelsOf(node.list, named), levelsOf(node.otherwise ?? [], named));
  });
  const found = 1 + Math.max(0, ...inner);
  levels.set(nodes, found);
  return found;
}

/** One rendering. */
export class TemplateRun {
  readonly evaluator: Evaluator;
  readonly #tree: TemplateTree;
  readonly #limits: TemplateLimits;
  #output = '';
  /** Bytes that are left at least. */
  #room: number;
  #iterations = 0;
  #depth = 0;

  constructor(tree: TemplateTree, limits: TemplateLimits, tolerate: Tolerate | null) {
    this.#tree = tree;
    this.#limits = limits;
    this.#room = limits.maxOutputBytes;
    this.evaluator = new Evaluator(tolerate, new Budget(limits.maxMs, 'time_limit', 'rendering'));
  }

  /** The output. @throws EvaluationFailure; `evaluator.at` gives the place. */
  main(data: Value): string {
    this.evaluator.variables = [{ name: '$', value: data }];
    if (this.#isFlat(this.#tree.main)) {
      this.#flat(this.#tree.main, data);
      return this.#output;
    }
    const underWay = [this.#list(this.#tree.main, data)];
    let exit: Exit = null;
    for (let work = underWay.at(-1); work !== undefined; work = underWay.at(-1)) {
      const { done, value } = work.next(exit);
      exit = done ? value : null;
      if (done) underWay.pop();
      else underWay.push(value);
    }
    return this.#output;
  }

  #isFlat(nodes: readonly TemplateNode[]): boolean {
    return levelsOf(nodes, this.#tree.named) <= maxFlatLevels;
  }

  /** As `#list`, for bodies that are not nested deeply and have no loops. */
  #flat(nodes: readonly TemplateNode[], dot: Value): void {
    const { evaluator } = this;
    const { variables } = evaluator;
    const known = variables.length;
    for (const node of nodes) {
      if (node.kind === 'text') this.#write(node.text);
      else if (node.kind === 'action') this.#action(node, dot);
      else if (node.kind === 'call') {
        const { body, argument } = this.#enter(node, dot);
        this.#flat(body, argument);
        this.#leave(variables);
      } else if (node.kind === 'if' || node.kind === 'with') {
        const before = variables.length;
        const value = evaluator.pipeline(node.pipeline, dot);
        if (isTruthy(value)) this.#flat(node.list, node.kind === 'with' ? value : dot);
        else if (node.otherwise !== null) this.#flat(node.otherwise, dot);
        variables.length = before;
      }
    }
    variables.length = known;
  }

  *#list(nodes: readonly TemplateNode[], dot: Value): Work {
    const { variables } = this.evaluator;
    const known = variables.length;
    let exit: Exit = null;
    for (const node of nodes) {
      switch (node.kind) {
        case 'text':
          this.#write(node.text);
          break;
        case 'action':
          this.#action(node, dot);
          break;
        case 'call':
          yield* this.#call(node, dot);
          break;
        case 'if':
        case 'with':
          exit = yield* this.#branch(node, dot);
          break;
        case 'range':
          exit = yield* this.#range(node, dot);
          break;
        default:
          exit = node.kind;
      }
      if (exit !== null) break;
    }
    variables.length = known;
    return exit;
  }

  #action(node: ActionNode, dot: Value): void {
    this.evaluator.at = node.at;
    let value = this.evaluator.pipeline(node.pipeline, dot);
    if (node.pipeline.variables.length > 0) return;
    for (const escaper of node.escapers) value = escaper(value);
    this.#write(stringify(value));
  }

  /** Counts three bytes a character, the most that it takes, and exactly where that would be too many. */
  #write(text: string): void {
    this.#output += text;
    this.#room -= text.length * 3;
    if (this.#room >= 0) return;
    const { maxOutputBytes } = this.#limits;
    this.#room = maxOutputBytes - Buffer.byteLength(this.#output);
    if (this.#room < 0) throw new EvaluationFailure('output_limit', `the output exceeds ${maxOutputBytes} bytes`);
  }

  *#branch(node: Branch, dot: Value): Work {
    const { variables } = this.evaluator;
    const known = variables.length;
    const value = this.evaluator.pipeline(node.pipeline, dot);
    const exit = yield isTruthy(value)
      ? this.#list(node.list, node.kind === 'with' ? value : dot)
      : this.#list(node.otherwise ?? [], dot);
    variables.length = known;
    return exit;
  }

  *#call(node: CallNode, dot: Value): Work {
    const { variables } = this.evaluator;
    const { body, argument } = this.#enter(node, dot);
    yield this.#list(body, argument);
    this.#leave(variables);
    return null;
  }

  /** Begins a named template, with variables of its own. */
  #enter(node: CallNode, dot: Value): { readonly body: readonly TemplateNode[]; readonly argument: Value } {
    const { evaluator } = this;
    evaluator.at = node.at;
    const body = this.#tree.named.get(node.name);
    if (body === undefined)
      throw new EvaluationFailure('missing_template', `template ${JSON.stringify(node.name)} not defined`);
    if (this.#depth >= this.#limits.maxDepth)
      throw new EvaluationFailure('depth_limit', `exceeded maximum template depth (${this.#limits.maxDepth})`);
    const argument = node.pipeline === null ? undefined : evaluator.pipeline(node.pipeline, dot);
    evaluator.step();
    evaluator.variables = [{ name: '$', value: argument }];
    this.#depth += 1;
    return { body, argument };
  }

  /** Ends it. @param outer The variables around it. */
  #leave(outer: Evaluator['variables']): void {
    this.#depth -= 1;
    this.evaluator.variables = outer;
  }

  *#range(node: Branch, dot: Value): Work {
    const { evaluator } = this;
    const { variables } = evaluator;
    const known = variables.length;
    let isEmpty = true;
    let exit: Exit = null;
    for (const [key, element] of this.#rounds(node, evaluator.pipeline(node.pipeline, dot))) {
      isEmpty = false;
      this.#iterations += 1;
      if (this.#iterations > this.#limits.maxIterations)
        throw new EvaluationFailure('iteration_limit', `exceeded ${this.#limits.maxIterations} range iterations`);
      evaluator.step();
      this.#setVariables(node.pipeline, key, element);
      exit = yield this.#list(node.list, element);
      if (exit === 'break') break;
    }
    if (isEmpty) exit = yield this.#list(node.otherwise ?? [], dot);
    variables.length = known;
    // In the else part, `break` also leaves this range, but `continue` continues the enclosing one.
    return isEmpty && exit === 'continue' ? exit : null;
  }

  #setVariables({ variables: [first, second], assigns }: Pipeline, key: Value, element: Value): void {
    const { evaluator } = this;
    if (first === undefined) return;
    if (assigns) {
      evaluator.assign(first, second === undefined ? element : key);
      if (second !== undefined) evaluator.assign(second, element);
    } else {
      evaluator.setRecent(0, element);
      if (second !== undefined) evaluator.setRecent(1, key);
    }
  }

  /** Key and element of each iteration. */
  *#rounds({ pipeline }: Branch, value: Value): Generator<readonly [Value, Value]> {
    switch (valueKind(value)) {
      case 'nil':
        return;
      case 'list':
        for (const [index, element] of (value as ListValue).entries()) yield [BigInt(index), fromData(element)];
        return;
      case 'map':
        for (const key of mapKeys(value as MapValue)) yield [key, mapEntry(value as MapValue, key)];
        return;
      case 'int':
      case 'byte': {
        if (pipeline.variables.length > 1)
          return this.evaluator.missing(`can't use ${formatPlainValue(value)} to iterate over more than one variable`);
        const count = value instanceof Byte ? value.value : Number(value);
        for (let index = 0; index < count; index += 1)
          yield [undefined, value instanceof Byte ? new Byte(index) : BigInt(index)];
        return;
      }
      default:
        this.evaluator.missing(`range can't iterate over ${formatPlainValue(value)}`);
    }
  }
}
