/**
 * Puts a template together with its layout and partials: one tree, whose named templates are the partials that are used
 * and, inside a layout, the content.
 *
 * Each piece is parsed alone. Offsets of its nodes are moved behind those of the pieces before it, so that every node
 * has a place; the content comes first and keeps its own.
 */
import type { Budget } from './budget.ts';
import { parseTree } from './parse/parse-tree.ts';
import { tokenize } from './parse/tokenize.ts';
import { functionNames } from './run/functions.ts';
import { PieceError, placeOf, TemplateError, type TemplatePlace } from './template-error.ts';
import type { CallNode, TemplateNode, TemplateTree } from './tree.ts';

/** What a template may be put together with. */
interface Surroundings {
  /** Goes around a content that is not a complete page; null: nothing. */
  readonly layout: string | null;
  readonly partials: Readonly<Record<string, string>>;
}

/** The name under which a layout calls the content. */
export const contentName = 'content';

/** A piece of a composed source. */
interface Piece {
  /** For messages; null: the content. */
  readonly title: string | null;
  readonly source: string;
  readonly start: number;
}

/** A tree and where its nodes are. */
export interface Composed {
  readonly tree: TemplateTree;
  /** All pieces, each on lines of its own. */
  readonly whole: string;
  readonly pieces: readonly Piece[];
}

/** Whether a layout goes around a content: not around a whole page, whatever comments stand before it. */
export function isWrapped(content: string): boolean {
  const tokens = tokenize(content);
  const firstAction = tokens.findIndex(({ kind }) => kind !== 'text');
  const start = tokens.slice(0, firstAction).map(({ text }) => text);
  return !/^<(?:!doctype|html)(?![\w:-])/i.test(withoutComments(start.join('')));
}

/** From the first markup that is no comment. */
function withoutComments(markup: string): string {
  let at = 0;
  for (;;) {
    at += markup.slice(at).search(/\S|$/);
    const end = markup.startsWith('<!--', at) ? markup.indexOf('-->', at) : -1;
    if (end < 0) return markup.slice(at);
    at = end + '-->'.length;
  }
}

/** @throws TemplateError of the phase `parse`, with the place in the content, or the name and line of another piece. */
export function compose(source: string, { layout, partials }: Surroundings, budget: Budget): Composed {
  const composer = new Composer(partials, budget);
  const content = composer.add(null, source);
  const isInLayout = layout !== null && isWrapped(source);
  const outer = isInLayout ? composer.add('the layout', layout) : content;
  if (isInLayout) {
    assertContentOnce(outer);
    if (composer.named.has(contentName)) throw duplicate(contentName);
    composer.named.set(contentName, content.main);
  }
  composer.include(outer);
  if (isInLayout) composer.include(content);
  const { named, pieces, whole } = composer;
  const composed = { tree: { main: outer.main, named }, whole, pieces };
  if (isInLayout) assertNoOtherUse(composed);
  assertNoRecursion(named, composer.included);
  return composed;
}

class Composer {
  readonly named = new Map<string, readonly TemplateNode[]>();
  /** Names of the partials that are used. */
  readonly included: string[] = [];
  readonly pieces: Piece[] = [];
  whole = '';
  readonly #partials: Surroundings['partials'];
  readonly #budget: Budget;

  constructor(partials: Surroundings['partials'], budget: Budget) {
    this.#partials = partials;
    this.#budget = budget;
  }

  /** Parses a piece; the templates that it defines count before partials. */
  add(title: string | null, source: string): TemplateTree {
    const start = title === null ? 0 : this.whole.length + 1;
    this.whole = title === null ? source : `${this.whole}\n${source}`;
    this.pieces.push({ title, source, start });
    const parsed = inPiece({ title, source }, () => parseTree(source, functionNames, this.#budget));
    const tree: TemplateTree =
      title === null ? parsed : { main: moved(parsed.main, start), named: moved(parsed.named, start) };
    for (const [name, list] of tree.named) this.named.set(name, list);
    return tree;
  }

  /** Adds a partial, which may define templates of its own: one in place of another would depend on the order. */
  #addPartial(name: string, source: string): TemplateTree {
    const title = `the partial "${name}"`;
    const known = [...this.named.keys(), ...Object.keys(this.#partials), contentName];
    const tree = this.add(title, source);
    const taken = known.find((one) => tree.named.has(one));
    if (taken === undefined) return tree;
    const problem = `defines "${taken}", which there is already`;
    throw new PieceError(title, source, new TemplateError('duplicate_template', problem, null));
  }

  /** Adds the partials that a tree uses, and those that they use. */
  include({ main, named }: TemplateTree): void {
    for (const { name } of callsIn([main, ...named.values()])) {
      if (this.named.has(name) || !Object.hasOwn(this.#partials, name)) continue;
      const tree = this.#addPartial(name, this.#partials[name] as string);
      this.named.set(name, tree.main);
      this.included.push(name);
      this.include(tree);
    }
  }
}

/** Refuses partials that contain themselves, also by way of a template of the email. */
function assertNoRecursion(named: TemplateTree['named'], partials: readonly string[]): void {
  if (partials.length === 0) return;
  const calls = new Map([...named].map(([name, list]) => [name, new Set(callsIn([list]).map((call) => call.name))]));
  for (const partial of partials) {
    // A set that grows while it is read gives what was added, too.
    const reached = new Set(calls.get(partial));
    for (const name of reached) for (const next of calls.get(name) ?? []) reached.add(next);
    if (!reached.has(partial)) continue;
    throw new TemplateError('unstable_recursion', `the partial "${partial}" contains itself`, null);
  }
}

/** The layout must show the content with all its variables, and a second one would repeat links and codes. */
function assertContentOnce({ main, named }: TemplateTree): void {
  const [call, ...more] = callsIn([main, ...named.values()]).filter(({ name }) => name === contentName);
  const use = `the layout must use {{ template "${contentName}" . }}`;
  if (call === undefined || more.length > 0 || !isDot(call.pipeline))
    throw new TemplateError('unknown_template', `${use} exactly once`, null);
  if (!main.includes(call)) {
    const problem = `${use} at its top level, not in an if, with, range or define`;
    throw new TemplateError('unknown_template', problem, null);
  }
}

function isDot(pipeline: CallNode['pipeline']): boolean {
  const [command, ...more] = pipeline?.commands ?? [];
  return more.length === 0 && command?.operands.length === 1 && command.operands[0].kind === 'dot';
}

/** The content in itself would have no end, and in a partial it would be there twice. */
function assertNoOtherUse(composed: Composed): void {
  const other = callsIn([...composed.tree.named.values()]).find(({ name }) => name === contentName);
  if (other === undefined) return;
  const problem = `only the layout uses {{ template "${contentName}" . }}`;
  throw located(composed, new TemplateError('unknown_template', problem, placeOf(composed.whole, other.at)));
}

function duplicate(name: string): TemplateError {
  return new TemplateError('duplicate_template', `the name "${name}" stands for the content in the layout`, null);
}

function callsIn(lists: readonly (readonly TemplateNode[])[]): readonly CallNode[] {
  return lists.flatMap((list) =>
    list.flatMap((node) => {
      if (node.kind === 'call') return [node];
      return 'list' in node ? callsIn([node.list, node.otherwise ?? []]) : [];
    }),
  );
}

/**
 * Refuses a call of a template that there is none of. Escaping finds it, too; texts, which are not escaped, would fail
 * when they reach it, as in Go.
 *
 * @throws TemplateError `unknown_template`
 */
export function assertKnownCalls(composed: Composed): void {
  const { tree, whole } = composed;
  const unknown = callsIn([tree.main, ...tree.named.values()]).find(({ name }) => !tree.named.has(name));
  if (unknown === undefined) return;
  const message = `no such template ${JSON.stringify(unknown.name)}`;
  throw located(composed, new TemplateError('unknown_template', message, placeOf(whole, unknown.at)));
}

/** The same with other offsets. Values of the language, such as complex numbers, stay as they are. */
function moved<T>(value: T, by: number): T {
  if (Array.isArray(value)) return value.map((item) => moved(item, by)) as T;
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [key, moved(item, by)])) as T;
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, key === 'at' ? item + by : moved(item, by)]);
  return Object.fromEntries(entries);
}

/** Says in which piece a fault is, unless it is in the content. */
function inPiece<T>({ title, source }: Pick<Piece, 'title' | 'source'>, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (title === null || !(error instanceof TemplateError)) throw error;
    throw new PieceError(title, source, error);
  }
}

/** A fault with a place in the whole, told by its piece. */
export function located({ whole, pieces }: Composed, error: TemplateError): TemplateError {
  const { line, column, code, message, unclosed } = error;
  const known = line === null || column === null ? unclosed : { line, column };
  if (known === null) return error;
  const start = (piece: Piece): number => placeOf(whole, piece.start).line;
  const piece = pieces.findLast((one) => start(one) <= known.line);
  if (piece === undefined || piece.title === null) return error;
  const place: TemplatePlace = { line: known.line - start(piece) + 1, column: known.column };
  return new PieceError(piece.title, piece.source, new TemplateError(code, message, place));
}
