/**
 * The tree escaper: finds the context of every action, once, and makes a tree whose actions escape for it.
 *
 * A named template is escaped separately for each context of its calls, under its own key; the caller continues in the
 * context where the template ends. Data is not needed, so every fault is found before rendering.
 */
import { unreachable } from '../../../shared/invariant.ts';
import { EvaluationFailure, placeOf, TemplateError, type TemplateErrorCode, unclosedAt } from '../template-error.ts';
import type { ActionNode, Branch, CallNode, TemplateNode, TemplateTree } from '../tree.ts';
import {
  beginAction,
  type Context,
  contextKey,
  deadContext,
  isComment,
  joinContexts,
  sameContext,
  startContext,
} from './context.ts';
import { chooseEscapers, escapePipeline } from './escape-action.ts';
import type { Escapers } from './escapers.ts';
import { type RewriteOptions, rewriteText } from './rewrite-text.ts';

/** Limit of visited nodes over all contexts; more means a deliberately expensive template. */
const maxVisits = 500_000;

/** Under any assumption, these limits stay exceeded. */
const limitCodes: readonly TemplateErrorCode[] = ['too_many_contexts', 'parse_limit'];

interface EscapeOptions extends RewriteOptions {
  readonly escapers: Escapers;
}

/** Escapes a tree. @throws TemplateError of the phase `escape`. */
export function escapeTree(tree: TemplateTree, source: string, options: EscapeOptions): TemplateTree {
  const shared: Shared = { tree, source, options, visits: 0, opened: 0 };
  const pass = new Pass(shared, null, []);
  const { list, context } = pass.list(startContext, tree.main);
  if (context.state !== 'text')
    throw new TemplateError(
      'open_markup',
      `ends in a non-text context: ${describeContext(context)}`,
      null,
      unclosedAt(source, shared.opened, /(?=\n|{{)|>/),
    );
  return { main: list, named: pass.named };
}

interface Shared {
  readonly tree: TemplateTree;
  readonly source: string;
  readonly options: EscapeOptions;
  visits: number;
  /** Offset of the last opened tag or comment. */
  opened: number;
}

/** An escaped body, and the context after it. */
interface Escaped {
  readonly list: readonly TemplateNode[];
  readonly context: Context;
}

/** Contexts at the `break` and `continue` of one range. */
type Exits = { readonly context: Context; readonly at: number }[];

/** An attempt over some bodies. Its conclusions are kept by the pass that started it, or dropped as a whole. */
class Pass {
  /** Escaped variants of named templates by key; only of this pass. */
  readonly named = new Map<string, readonly TemplateNode[]>();
  readonly #shared: Shared;
  readonly #outer: Pass | null;
  /** Key of a variant -> its end context, known or assumed; only of this pass. */
  readonly #ends = new Map<string, Context>();
  readonly #called = new Set<string>();
  /** Exits of the enclosing ranges, the innermost last. */
  readonly #exits: Exits[];

  constructor(shared: Shared, outer: Pass | null, exits: Exits[]) {
    this.#shared = shared;
    this.#outer = outer;
    this.#exits = exits;
  }

  /** The end context of a variant, if this pass or an enclosing one knows or assumes it. */
  #endOf(key: string): Context | undefined {
    return this.#ends.get(key) ?? (this.#outer === null ? undefined : this.#outer.#endOf(key));
  }

  list(start: Context, nodes: readonly TemplateNode[]): Escaped {
    const list: TemplateNode[] = [];
    let context = start;
    for (const [index, node] of nodes.entries()) {
      context = this.#node(context, node, list);
      if (context.state === 'dead') {
        list.push(...nodes.slice(index + 1));
        break;
      }
    }
    return { list, context };
  }

  /** Adds the escaped node to the list. */
  #node(context: Context, node: TemplateNode, list: TemplateNode[]): Context {
    this.#shared.visits += 1;
    if (this.#shared.visits > maxVisits)
      this.#fail('too_many_contexts', 'the template needs too many contexts to be worked out', node.at);
    switch (node.kind) {
      case 'text':
        return this.#locate(node.at, () => {
          const { text, context: next, opened } = rewriteText(context, node.text, this.#shared.options);
          if (opened !== null) this.#shared.opened = node.at + opened;
          if (text !== '') list.push({ ...node, text });
          return next;
        });
      case 'action':
        return this.#action(context, node, list);
      case 'call':
        return this.#call(context, node, list);
      case 'if':
      case 'with':
      case 'range':
        return this.#branch(context, node, list);
      case 'break':
      case 'continue':
        this.#exits.at(-1)?.push({ context, at: node.at });
        list.push(node);
        return deadContext;
      default:
        return unreachable(node);
    }
  }

  #action(before: Context, node: ActionNode, list: TemplateNode[]): Context {
    if (node.pipeline.variables.length > 0) {
      list.push(node);
      return before;
    }
    const context = beginAction(before);
    return this.#locate(node.at, () => {
      const names = chooseEscapers(context);
      list.push({ ...node, ...escapePipeline(node.pipeline, names, context, this.#shared.options.escapers) });
      if (context.state === 'script') return { ...context, slash: 'division' };
      return context;
    });
  }

  #branch(context: Context, node: Branch, list: TemplateNode[]): Context {
    const body = node.kind === 'range' ? this.#range(context, node) : this.list(context, node.list);
    const otherwise = node.otherwise === null ? null : this.list(context, node.otherwise);
    list.push({ ...node, list: body.list, otherwise: otherwise?.list ?? null });
    return this.#join(body.context, otherwise?.context ?? context, node, '');
  }

  /** A range must end, also at each `break` and `continue`, in a context in which it can start again. */
  #range(context: Context, node: Branch): Escaped {
    const exits: Exits = [];
    this.#exits.push(exits);
    const { list, context: once } = this.list(context, node.list);
    this.#exits.pop();
    const first = this.#joinExits(once, exits, node);
    // With the same context, a second round would repeat the first.
    if (sameContext(first, context)) return { list, context: first };
    const again: Exits = [];
    const second = new Pass(this.#shared, this, [...this.#exits, again]).list(first, node.list).context;
    const joined = this.#join(first, second, node, 'on range loop re-entry: ');
    return { list, context: this.#joinExits(joined, again, node) };
  }

  #joinExits(end: Context, exits: Exits, node: Branch): Context {
    return exits.reduce(
      (joined, { context, at }) => this.#join(joined, context, { ...node, at }, 'at range loop exit: '),
      end,
    );
  }

  #join(a: Context, b: Context, { kind, at }: Branch, prefix: string): Context {
    const joined = joinContexts(a, b);
    if (joined !== null) return joined;
    const contexts = `${describeContext(a)}, ${describeContext(b)}`;
    return this.#fail('branches_differ', `${prefix}{{${kind}}} branches end in different contexts: ${contexts}`, at);
  }

  #call(context: Context, node: CallNode, list: TemplateNode[]): Context {
    const key = context.state === 'text' ? node.name : `${node.name}\0${contextKey(context)}`;
    this.#called.add(key);
    list.push({ ...node, name: key });
    const known = this.#endOf(key);
    if (known !== undefined) return known;
    const body = this.#shared.tree.named.get(node.name);
    if (body === undefined)
      return this.#fail('unknown_template', `no such template ${JSON.stringify(node.name)}`, node.at);
    const first = this.#attempt(key, body, context);
    if (first.sound) return first.context;
    // A recursive template did not end as assumed; the only other assumption is that it ends as it just did.
    const second = this.#attemptAgain(key, body, first.context);
    if (second !== null) return second;
    return this.#fail('unstable_recursion', `cannot compute output context for template ${node.name}`, node.at);
  }

  /** Null if this assumption is wrong, too. */
  #attemptAgain(key: string, body: readonly TemplateNode[], start: Context): Context | null {
    try {
      const { sound, context } = this.#attempt(key, body, start);
      return sound ? context : null;
    } catch (error) {
      if (error instanceof TemplateError && !limitCodes.includes(error.code)) return null;
      throw error;
    }
  }

  /** Escapes a body under the assumption that it ends as it starts; only relevant for recursion. */
  #attempt(key: string, body: readonly TemplateNode[], start: Context): { sound: boolean; context: Context } {
    this.#ends.set(key, start);
    const pass = new Pass(this.#shared, this, this.#exits);
    const { list, context } = pass.list(start, body);
    const sound = !pass.#called.has(key) || sameContext(start, context);
    if (sound) {
      for (const [name, end] of pass.#ends) this.#ends.set(name, end);
      for (const [name, variant] of pass.named) this.named.set(name, variant);
      for (const name of pass.#called) this.#called.add(name);
      this.named.set(key, list);
      this.#ends.set(key, context);
    }
    return { sound, context };
  }

  #locate<T>(at: number, run: () => T): T {
    try {
      return run();
    } catch (error) {
      if (error instanceof EvaluationFailure) return this.#fail(error.code, error.message, at + error.offset);
      throw error;
    }
  }

  #fail(code: TemplateErrorCode, message: string, at: number): never {
    throw new TemplateError(code, message, placeOf(this.#shared.source, at));
  }
}

function describeContext(context: Context): string {
  const { state, delimiter, element, urlPart } = context;
  const parts = [state, ...(delimiter === 'none' ? [] : [`${delimiter} delimiter`])];
  if (element !== 'none') parts.push(`in ${element}`);
  if (urlPart !== 'start') parts.push(`URL ${urlPart}`);
  return `{${isComment(state) ? 'comment' : parts.join(', ')}}`;
}
