/**
 * Runs an escaped tree with data and collects the output, within limits.
 */
import { unreachable } from '../../../shared/invariant.ts';
import { Budget } from '../budget.ts';
import type { ActionNode, Branch, CallNode, Pipeline, TemplateNode, TemplateTree } from '../parse/tree.ts';
import { EvaluationFailure, failValue } from '../template-error.ts';
import type { Comparison } from './compare-values.ts';
import { Evaluator, type Variables } from './evaluate.ts';
import { printValue } from './format-value.ts';
import { stringify } from './stringify.ts';
import {
  Byte,
  fromData,
  isTrue,
  kindOf,
  type ListValue,
  type MapValue,
  mapEntry,
  mapKeys,
  type Value,
} from './value.ts';

/** How much one rendering may use. */
export interface TemplateLimits {
  /** UTF-8 bytes of the output. */
  readonly maxOutputBytes: number;
  /** Rounds of all ranges together. */
  readonly maxIterations: number;
  /** Templates that are being run inside each other. */
  readonly maxDepth: number;
  /** Processor time of the thread in milliseconds. */
  readonly maxMs: number;
}

/** What is left to do of one body; frames stand on each other instead of calls, so that depth costs no stack. */
interface Frame {
  readonly kind: 'main' | 'branch' | 'call' | 'range' | 'otherwise';
  readonly nodes: readonly TemplateNode[];
  next: number;
  dot: Value;
  /** Number of variables before the frame. */
  readonly mark: number;
  /** Of a call: the variables of its caller. */
  readonly outer: Variables | null;
  /** Of a range: the rounds to come. */
  readonly rounds: Rounds | null;
}

/** The rounds of a range. */
interface Rounds {
  readonly pipeline: Pipeline;
  readonly count: number;
  /** Key and element of a round. */
  readonly round: (index: number) => readonly [Value, Value];
  done: number;
  /** Number of variables before a round. */
  readonly mark: number;
}

/** One rendering. */
export class TemplateRun {
  readonly evaluator: Evaluator;
  readonly #tree: TemplateTree;
  readonly #limits: TemplateLimits;
  readonly #frames: Frame[] = [];
  #output = '';
  #bytes = 0;
  #iterations = 0;
  #depth = 0;

  constructor(tree: TemplateTree, limits: TemplateLimits, comparison: Comparison) {
    this.#tree = tree;
    this.#limits = limits;
    this.evaluator = new Evaluator(comparison, new Budget(limits.maxMs, 'time_limit', 'rendering'));
  }

  /** The output. @throws EvaluationFailure; `evaluator.at` says where. */
  main(data: Value): string {
    this.evaluator.enter(data);
    this.#push('main', this.#tree.main, data);
    for (let frame = this.#frames.at(-1); frame !== undefined; frame = this.#frames.at(-1)) {
      const node = frame.nodes[frame.next];
      frame.next += 1;
      if (node === undefined) this.#finish(frame);
      else this.#run(node, frame.dot);
    }
    return this.#output;
  }

  #push(kind: Frame['kind'], nodes: readonly TemplateNode[], dot: Value, rest: Partial<Frame> = {}): Frame {
    const frame = { kind, nodes, next: 0, dot, mark: this.evaluator.mark(), outer: null, rounds: null, ...rest };
    this.#frames.push(frame);
    return frame;
  }

  /** A body came to its end. */
  #finish(frame: Frame): void {
    if (frame.rounds !== null && this.#nextRound(frame, frame.rounds)) return;
    this.#pop(frame);
  }

  #pop({ mark, outer }: Frame): void {
    this.#frames.pop();
    if (outer === null) this.evaluator.forget(mark);
    else {
      this.evaluator.leave(outer);
      this.#depth -= 1;
    }
  }

  #run(node: TemplateNode, dot: Value): void {
    switch (node.kind) {
      case 'text':
        this.#write(node.text);
        break;
      case 'action':
        this.#action(node, dot);
        break;
      case 'call':
        this.#call(node, dot);
        break;
      case 'if':
      case 'with':
        this.#branch(node, dot);
        break;
      case 'range':
        this.#range(node, dot);
        break;
      case 'break':
      case 'continue':
        this.#leave(node.kind);
        break;
      default:
        unreachable(node);
    }
  }

  /** Also in the else part `break` leaves its range, while `continue` there goes on with the range around. */
  #leave(kind: 'break' | 'continue'): void {
    for (let frame = this.#frames.at(-1); frame !== undefined; frame = this.#frames.at(-1)) {
      const goesOn = frame.kind === 'range' && kind === 'continue';
      if (goesOn) this.#finish(frame);
      else this.#pop(frame);
      if (frame.kind === 'range' || (frame.kind === 'otherwise' && kind === 'break')) return;
    }
  }

  #action(node: ActionNode, dot: Value): void {
    this.evaluator.at = node.at;
    let value = this.evaluator.pipeline(node.pipeline, dot);
    if (node.pipeline.variables.length > 0) return;
    for (const escaper of node.escapers) value = escaper(value);
    this.#write(stringify(value));
  }

  #write(text: string): void {
    this.#bytes += Buffer.byteLength(text);
    if (this.#bytes > this.#limits.maxOutputBytes)
      throw new EvaluationFailure('output_limit', `the output exceeds ${this.#limits.maxOutputBytes} bytes`);
    this.#output += text;
  }

  #branch(node: Branch, dot: Value): void {
    const mark = this.evaluator.mark();
    const value = this.evaluator.pipeline(node.pipeline, dot);
    if (isTrue(value)) this.#push('branch', node.list, node.kind === 'with' ? value : dot, { mark });
    else if (node.otherwise !== null) this.#push('branch', node.otherwise, dot, { mark });
    else this.evaluator.forget(mark);
  }

  #call(node: CallNode, dot: Value): void {
    const { evaluator } = this;
    evaluator.at = node.at;
    const body = this.#tree.named.get(node.name);
    if (body === undefined)
      throw new EvaluationFailure('missing_template', `template ${JSON.stringify(node.name)} not defined`);
    if (this.#depth >= this.#limits.maxDepth)
      throw new EvaluationFailure('depth_limit', `exceeded maximum template depth (${this.#limits.maxDepth})`);
    const argument = node.pipeline === null ? undefined : evaluator.pipeline(node.pipeline, dot);
    evaluator.step();
    this.#depth += 1;
    this.#push('call', body, argument, { outer: evaluator.enter(argument) });
  }

  #range(node: Branch, dot: Value): void {
    const { evaluator } = this;
    const mark = evaluator.mark();
    const value = evaluator.pipeline(node.pipeline, dot);
    const { count, round } = this.#rounds(node, value);
    if (count > 0) {
      const rounds = { pipeline: node.pipeline, count, round, done: 0, mark: evaluator.mark() };
      this.#nextRound(this.#push('range', node.list, dot, { mark, rounds }), rounds);
    } else if (node.otherwise !== null) this.#push('otherwise', node.otherwise, dot, { mark });
    else evaluator.forget(mark);
  }

  /** Begins the next round of a range; false where there is none. */
  #nextRound(frame: Frame, rounds: Rounds): boolean {
    const { evaluator } = this;
    evaluator.forget(rounds.mark);
    if (rounds.done >= rounds.count) return false;
    this.#iterations += 1;
    if (this.#iterations > this.#limits.maxIterations)
      throw new EvaluationFailure('iteration_limit', `exceeded ${this.#limits.maxIterations} range iterations`);
    evaluator.step();
    const [key, element] = rounds.round(rounds.done);
    this.#setVariables(rounds.pipeline, key, element);
    rounds.done += 1;
    frame.next = 0;
    frame.dot = element;
    return true;
  }

  #rounds(node: Branch, value: Value): Pick<Rounds, 'count' | 'round'> {
    switch (kindOf(value)) {
      case 'nil':
        return { count: 0, round: () => [undefined, undefined] };
      case 'list': {
        const list = value as ListValue;
        return { count: list.length, round: (index) => [BigInt(index), fromData(list[index])] };
      }
      case 'map': {
        const map = value as MapValue;
        const keys = mapKeys(map);
        return { count: keys.length, round: (index) => [keys[index], mapEntry(map, keys[index] as string)] };
      }
      case 'int':
      case 'byte':
        return countRounds(node, value as bigint | Byte);
      default:
        return failValue(`range can't iterate over ${printValue(value)}`);
    }
  }

  #setVariables({ variables, assigns }: Pipeline, key: Value, element: Value): void {
    const [first, second] = variables;
    if (first === undefined) return;
    if (assigns) {
      this.evaluator.assign(first, second === undefined ? element : key);
      if (second !== undefined) this.evaluator.assign(second, element);
    } else {
      this.evaluator.setRecent(0, element);
      if (second !== undefined) this.evaluator.setRecent(1, key);
    }
  }
}

function countRounds({ pipeline }: Branch, value: bigint | Byte): Pick<Rounds, 'count' | 'round'> {
  if (pipeline.variables.length > 1) failValue(`can't use ${printValue(value)} to iterate over more than one variable`);
  if (value instanceof Byte) return { count: value.value, round: (index) => [undefined, new Byte(index)] };
  return { count: Number(value), round: (index) => [undefined, BigInt(index)] };
}
