/**
 * Parses a template into a tree.
 *
 * Finds the same faults in the same order as Go. Knows nothing of HTML or functions (functions.ts), except the names of
 * functions.
 */
import type { Budget } from '../budget.ts';
import { placeOf, TemplateError, type TemplateErrorCode, unclosedAt } from '../template-error.ts';
import type { Branch, Operand, Pipeline, PipelineCommand, TemplateNode, TemplateTree } from '../tree.ts';
import { parseCharacter, parseComplex, parseNumber, parseText } from './constants.ts';
import { TokenReader } from './token-reader.ts';
import { type Token, type TokenKind, tokenize } from './tokenize.ts';

/** Nesting limit of blocks and parentheses; deeper ones would overflow the stack of tree walkers. */
const maxNesting = 500;

const operandKinds: ReadonlySet<TokenKind> = new Set<TokenKind>([
  'boolean', 'character', 'complex', 'dot', 'field', 'identifier', 'number', 'nil', 'raw string', 'string', 'variable', '(',
]); // biome-ignore format: a list

/** A body, and the kind of token that ended it. */
interface Body {
  readonly list: TemplateNode[];
  readonly end: 'end' | 'else';
}

/** Parses a source. @param functions Their names. @throws TemplateError `parse`; EvaluationFailure of the budget. */
export function parseTree(source: string, functions: ReadonlySet<string>, budget: Budget): TemplateTree {
  const parser = new Parser(source, functions, new TokenReader(tokenize(source), budget));
  return { main: parser.parseMain(), named: parser.named };
}

class Parser {
  readonly named = new Map<string, readonly TemplateNode[]>();
  readonly #source: string;
  readonly #functions: ReadonlySet<string>;
  readonly #reader: TokenReader;
  #depth = 0;
  /** Variables of the template or definition being parsed. */
  #variables: string[] = ['$'];
  #ranges = 0;

  constructor(source: string, functions: ReadonlySet<string>, reader: TokenReader) {
    this.#source = source;
    this.#functions = functions;
    this.#reader = reader;
  }

  parseMain(): readonly TemplateNode[] {
    const list: TemplateNode[] = [];
    while (this.#reader.peek().kind !== 'eof') {
      const { at } = this.#reader.peek();
      if (this.#reader.startsDefinition()) {
        this.#definition(at);
        continue;
      }
      const node = this.#textOrAction();
      if (node === 'end' || node === 'else') this.#fail(`unexpected {{${node}}}`);
      list.push(node);
    }
    return list;
  }

  #definition(opened: number): void {
    const name = this.#name('define clause');
    this.#expect('close', 'define clause');
    this.#define(name, opened, 'define clause');
  }

  /** Parses a body with its own variables and ranges, and stores it. `blamed`: where an `else` in it is reported. */
  #define(name: string, opened: number, context: string, blamed?: number): void {
    const [variables, ranges] = [this.#variables, this.#ranges];
    [this.#variables, this.#ranges] = [['$'], 0];
    const { list, end } = this.#body(opened);
    [this.#variables, this.#ranges] = [variables, ranges];
    if (end !== 'end') {
      const at = blamed ?? this.#reader.last().at;
      throw new TemplateError('syntax', `unexpected {{${end}}} in ${context}`, placeOf(this.#source, at));
    }
    const before = this.named.get(name);
    if (before === undefined || isEmpty(before)) this.named.set(name, list);
    else if (!isEmpty(list))
      this.#fail(`template: multiple definition of template ${JSON.stringify(name)}`, 'duplicate_template');
  }

  #name(context: string): string {
    const token = this.#reader.nextSolid();
    if (token.kind !== 'string' && token.kind !== 'raw string') this.#unexpected(token, context);
    return this.#constant(token, () => parseText(token.text));
  }

  #expect(kind: TokenKind, context: string): Token {
    const token = this.#reader.nextSolid();
    if (token.kind !== kind) this.#unexpected(token, context);
    return token;
  }

  /** @param opened Start of the action that it belongs to. */
  #body(opened: number): Body {
    this.#descend();
    const list: TemplateNode[] = [];
    while (this.#reader.peekSolid().kind !== 'eof') {
      const node = this.#textOrAction();
      if (node === 'end' || node === 'else') {
        this.#depth -= 1;
        return { list, end: node };
      }
      list.push(node);
    }
    const { at } = this.#reader.last();
    throw new TemplateError(
      'syntax',
      'unexpected EOF',
      placeOf(this.#source, at),
      unclosedAt(this.#source, opened, /}}/),
    );
  }

  #textOrAction(): TemplateNode | 'end' | 'else' {
    const token = this.#reader.nextSolid();
    if (token.kind === 'text') return { kind: 'text', at: token.at, text: token.text };
    if (token.kind !== 'open') this.#unexpected(token, 'input');
    const first = this.#reader.nextSolid();
    switch (first.kind) {
      case 'block':
        return this.#block(token.at);
      case 'break':
      case 'continue':
        return this.#leave(first.kind, first.at);
      case 'else':
        return this.#else();
      case 'end':
        this.#expect('close', 'end');
        return 'end';
      case 'if':
      case 'with':
      case 'range':
        return this.#branch(first.kind, token.at);
      case 'template':
        return this.#call();
      default:
        this.#reader.back();
        return { kind: 'action', at: first.at, pipeline: this.#pipeline('command', 'close'), escapers: [] };
    }
  }

  #leave(kind: 'break' | 'continue', at: number): TemplateNode {
    const token = this.#reader.nextSolid();
    if (token.kind !== 'close') this.#unexpected(token, `{{${kind}}}`);
    if (this.#ranges === 0) this.#fail(`{{${kind}}} outside {{range}}`);
    return { kind, at };
  }

  #else(): 'else' {
    const kind = this.#reader.peekSolid().kind;
    // The enclosing branch parses the start of `else if` and `else with`.
    if (kind !== 'if' && kind !== 'with') this.#expect('close', 'else');
    return 'else';
  }

  #branch(kind: Branch['kind'], opened: number): Branch {
    const known = this.#variables.length;
    const pipeline = this.#pipeline(kind, 'close');
    if (kind === 'range') this.#ranges += 1;
    const { list, end } = this.#body(opened);
    if (kind === 'range') this.#ranges -= 1;
    const otherwise = end === 'else' ? this.#otherwise(kind, opened) : null;
    this.#variables.length = known;
    return { kind, at: pipeline.at, pipeline, list, otherwise };
  }

  #otherwise(kind: Branch['kind'], opened: number): readonly TemplateNode[] {
    if (kind !== 'range' && this.#reader.peek().kind === kind) {
      this.#reader.next();
      this.#descend();
      const inner = this.#branch(kind, opened);
      this.#depth -= 1;
      return [inner];
    }
    const { list, end } = this.#body(opened);
    if (end !== 'end') this.#fail(`expected end; found {{${end}}}`);
    return list;
  }

  #call(): TemplateNode {
    const at = this.#reader.peekSolid().at;
    const name = this.#name('template clause');
    if (this.#reader.nextSolid().kind === 'close') return { kind: 'call', at, name, pipeline: null };
    this.#reader.back();
    return { kind: 'call', at, name, pipeline: this.#pipeline('template clause', 'close') };
  }

  #block(opened: number): TemplateNode {
    const at = this.#reader.peekSolid().at;
    const name = this.#name('block clause');
    const pipeline = this.#pipeline('block clause', 'close');
    // An unterminated body is reported at the block that started it.
    this.#define(name, opened, 'block clause', this.#reader.last().at);
    return { kind: 'call', at, name, pipeline };
  }

  #pipeline(context: string, end: 'close' | ')'): Pipeline {
    const { at } = this.#reader.peekSolid();
    const { variables, assigns } = this.#declarations(context);
    const commands: PipelineCommand[] = [];
    for (;;) {
      const token = this.#reader.nextSolid();
      if (token.kind === end) break;
      if (!operandKinds.has(token.kind)) this.#unexpected(token, context);
      this.#reader.back();
      commands.push(this.#command());
    }
    if (commands.length === 0) this.#fail(`missing value for ${context}`);
    const stage = commands.findIndex(({ operands: [first] }, index) => index > 0 && isConstant(first));
    if (stage > 0) this.#fail(`non executable command in pipeline stage ${stage + 1}`);
    return { kind: 'pipeline', at, variables, assigns, commands };
  }

  /** `$x :=`, `$x =`, and in a range `$i, $x :=`. */
  #declarations(context: string): { readonly variables: string[]; readonly assigns: boolean } {
    const variables: string[] = [];
    for (;;) {
      const mark = this.#reader.position;
      const variable = this.#reader.peekSolid();
      if (variable.kind !== 'variable') return { variables, assigns: false };
      this.#reader.nextSolid();
      const next = this.#reader.nextSolid();
      const comma = next.kind === 'sign' && next.text === ',';
      if (next.kind !== 'assign' && next.kind !== 'declare' && !comma) {
        this.#reader.position = mark;
        return { variables, assigns: false };
      }
      variables.push(variable.text);
      this.#variables.push(variable.text);
      if (!comma) return { variables, assigns: next.kind === 'assign' };
      if (context !== 'range' || variables.length > 1) this.#fail(`too many declarations in ${context}`);
      if (!['variable', 'close', ')'].includes(this.#reader.peekSolid().kind))
        this.#fail('range can only initialize variables');
    }
  }

  #command(): PipelineCommand {
    const { at } = this.#reader.peekSolid();
    const operands: Operand[] = [];
    for (;;) {
      const operand = this.#operand();
      if (operand !== null) operands.push(operand);
      const token = this.#reader.next();
      if (token.kind === 'space') continue;
      if (token.kind === 'close' || token.kind === ')') this.#reader.back();
      else if (token.kind !== 'pipe') this.#unexpected(token, 'operand');
      break;
    }
    const [first, ...rest] = operands;
    if (first === undefined) this.#fail('empty command');
    return { at, operands: [first, ...rest] };
  }

  #operand(): Operand | null {
    const operand = this.#term();
    if (operand === null || this.#reader.peek().kind !== 'field') return operand;
    const at = this.#reader.peek().at;
    const path: string[] = [];
    while (this.#reader.peek().kind === 'field') path.push(this.#reader.next().text.slice(1));
    switch (operand.kind) {
      case 'field':
      case 'variable':
        return { ...operand, path: [...operand.path, ...path] };
      case 'boolean':
      case 'string':
      case 'number':
      case 'nil':
      case 'dot':
        return this.#fail(`unexpected . after term ${JSON.stringify(this.#source.slice(operand.at, at))}`);
      default:
        return { kind: 'chain', at, of: operand, path };
    }
  }

  #term(): Operand | null {
    const token = this.#reader.nextSolid();
    const { at, text } = token;
    switch (token.kind) {
      case 'identifier':
        if (!this.#functions.has(text)) this.#fail(`function "${text}" not defined`, 'unknown_function', token);
        return { kind: 'function', at, name: text };
      case 'dot':
      case 'nil':
        return { kind: token.kind, at };
      case 'variable':
        if (!this.#variables.includes(text)) this.#fail(`undefined variable "${text}"`, 'unknown_variable', token);
        return { kind: 'variable', at, name: text, path: [] };
      case 'field':
        return { kind: 'field', at, path: [text.slice(1)] };
      case 'boolean':
        return { kind: 'boolean', at, value: text === 'true' };
      case 'character':
        return { kind: 'number', at, value: this.#constant(token, () => parseCharacter(text)), text };
      case 'number':
        return { kind: 'number', at, value: this.#constant(token, () => parseNumber(text)), text };
      case 'complex':
        return { kind: 'number', at, value: this.#constant(token, () => parseComplex(text)), text };
      case 'string':
      case 'raw string':
        return { kind: 'string', at, value: this.#constant(token, () => parseText(text)) };
      case '(':
        return this.#parenthesized();
      default:
        this.#reader.back();
        return null;
    }
  }

  #parenthesized(): Pipeline {
    this.#descend();
    const pipeline = this.#pipeline('parenthesized pipeline', ')');
    this.#depth -= 1;
    return pipeline;
  }

  #constant<T>(token: Token, parse: () => T): T {
    try {
      return parse();
    } catch (error) {
      return this.#fail(error instanceof Error ? error.message : String(error), 'syntax', token);
    }
  }

  #descend(): void {
    this.#depth += 1;
    if (this.#depth > maxNesting) this.#fail(`nested deeper than ${maxNesting} levels`, 'nested_too_deep');
  }

  #unexpected(token: Token, context: string): never {
    if (token.kind === 'error') this.#fail(token.text);
    if (token.kind === 'eof') this.#fail('unexpected EOF');
    const shown = token.kind === 'string' || token.kind === 'raw string' ? token.text : JSON.stringify(token.text);
    this.#fail(`unexpected ${token.kind in keywordNames ? `<${token.text}>` : shown} in ${context}`);
  }

  /**
   * Fails at the furthest token read, which gives the line; if the faulty token is on that line, it gives the column.
   */
  #fail(message: string, code: TemplateErrorCode = 'syntax', fault: Token | null = null): never {
    const last = this.#reader.last();
    const isNear = fault !== null && !this.#source.slice(fault.at, last.at).includes('\n');
    throw new TemplateError(code, message, placeOf(this.#source, isNear ? fault.at : last.at));
  }
}

const keywordNames = {
  block: 0, break: 0, continue: 0, define: 0, else: 0, end: 0, if: 0, range: 0, nil: 0, template: 0, with: 0,
}; // biome-ignore format: a list

function isConstant(operand: Operand): boolean {
  return ['boolean', 'dot', 'nil', 'number', 'string'].includes(operand.kind);
}

/** Whether a later definition may replace a body: it has only white space. */
function isEmpty(list: readonly TemplateNode[]): boolean {
  return list.every(
    (node) =>
      node.kind === 'text' &&
      /^[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*$/.test(node.text),
  );
}
