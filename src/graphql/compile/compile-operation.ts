/**
 * Compiles an operation for the variables of a request, and caches the result.
 *
 * Planning asks questions about the variables (shape.ts). The answers form a path in a tree whose leaf is the
 * compiled operation, shared by all requests with the same answers. A repeated request only answers the questions of
 * one path and fills slots.
 */
import type { DocumentNode, FragmentDefinitionNode, GraphQLSchema, OperationDefinitionNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import { forgetStack, type PublicError } from '../../shared/errors.ts';
import type { Model } from '../model/model.ts';
import { fragmentsOf } from './input/collect-fields.ts';
import type { DocumentVariables } from './input/document-variables.ts';
import { type ComparedOperand, createBudget, type Pattern, spend } from './input/plan-budget.ts';
import { answerQuestion, Shape, type ShapeQuestion } from './input/shape.ts';
import type { Variables } from './input/slot.ts';
import { type AnswerObjects, answerObjects } from './plan/answer-objects.ts';
import { type CustomPlanning, callsRoutines, customPlanning, lightPages, runsUserCode } from './plan/inspect-plan.ts';
import type { LimitPlan, SelectedValue } from './plan/plan.ts';
import { planObject } from './plan/plan-object.ts';
import { planOperation } from './plan/plan-operation.ts';
import type { Planner } from './plan/planner.ts';
import { printOperation, type Statement } from './print/print-operation.ts';

/** A compiled operation: valid for all variables with the same answers. */
export interface CompiledOperation {
  readonly kind: 'query' | 'mutation';
  /** Queries have one statement, which returns `data`; mutations have some for each of `keys`, in order. */
  readonly statements: readonly Statement[];
  /** Response keys of the answered fields, in order. */
  readonly keys: readonly string[];
  /** Response keys of `__schema` and `__type`. */
  readonly introspectionKeys: readonly string[];
  /**
   * For a query with only meta fields, which needs no statement: the JSON text of each of `keys`, null for
   * `introspectionKeys`. Null for every other operation.
   */
  readonly constants: readonly (string | null)[] | null;
  readonly errors: readonly PublicError[];
  readonly costs: readonly (readonly LimitPlan[])[];
  readonly objects: readonly AnswerObjects[];
  /** Whether its statements count all objects (sql/bounded-object.ts), and whether they count any. */
  readonly countsAll: boolean;
  readonly countsSome: boolean;
  /** Regular expressions and JSON paths of filters. */
  readonly patterns: readonly Pattern[];
  /** Operands whose size multiplies the work on a row. */
  readonly operands: readonly ComparedOperand[];
  /** It may run code that is not PostgreSQL's own. */
  readonly runsUserCode: boolean;
  /** It calls such code itself; tables may in any case. */
  readonly callsRoutines: boolean;
  /** The pages on the path of each collection of a light operation; null for others. */
  readonly lightPages: readonly (readonly LimitPlan[])[] | null;
  /** When its statements get custom plans. */
  readonly customPlanning: CustomPlanning;
  readonly depth: number;
}

interface OperationSource {
  readonly model: Model;
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly places: DocumentVariables;
  /** Whether `__schema` and `__type` are answered. */
  readonly introspection: boolean;
  readonly kept: CompiledOperations;
}

type Branch =
  | { readonly kind: 'compiled'; readonly compiled: CompiledOperation }
  | { readonly kind: 'question'; readonly question: ShapeQuestion; readonly answers: Map<string, Branch> };

/** Most cached shapes per operation; then the cache restarts, so a client that varies shapes only harms itself. */
const maxShapes = 100;

/** The operations of one schema with compiled shapes; the least recently used lose them. */
type CompiledOperations = LRUCache<OperationCompiler, true>;

/** Limits the compiled operations of a schema to about 64 MB, each to a quarter: ten thousand filters are one shape. */
export function createCompiledOperations(): CompiledOperations {
  return new LRUCache<OperationCompiler, true>({
    maxSize: 64 * 1024 * 1024,
    maxEntrySize: 16 * 1024 * 1024,
    sizeCalculation: (_, compiler) => compiler.bytes,
    dispose: (_, compiler, reason) => {
      if (reason !== 'set') compiler.forget();
    },
  });
}

/** Compiles one operation, once per shape of its variables. */
export class OperationCompiler {
  readonly #source: OperationSource;
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  #root: Branch | null = null;
  #shapes = 0;
  #bytes = 0;
  #countsAll = false;

  constructor(source: OperationSource) {
    this.#source = source;
    this.#fragments = fragmentsOf(source.document);
  }

  /** Estimated memory of the compiled shapes and of the document, which may have left the document cache. */
  get bytes(): number {
    return this.#bytes + bytesPerToken * (this.#source.document.tokenCount ?? 0);
  }

  /** The operation for these coerced variables. */
  compile(variables: Variables): CompiledOperation {
    let branch = this.#root;
    while (branch?.kind === 'question') {
      branch = branch.answers.get(answerQuestion(branch.question, variables)) ?? null;
    }
    if (branch === null) return this.#compileNew(variables);
    this.#source.kept.get(this);
    return branch.compiled;
  }

  /** From now on, its statements count all objects. */
  countObjects(): void {
    this.#countsAll = true;
    this.forget();
  }

  forget(): void {
    this.#root = null;
    this.#shapes = 0;
    this.#bytes = 0;
  }

  #compileNew(variables: Variables): CompiledOperation {
    const shape = new Shape(variables);
    const compiled = compileOperation(this.#source, this.#fragments, shape, this.#countsAll);
    for (const error of compiled.errors) forgetStack(error);
    if (this.#shapes >= maxShapes) this.forget();
    this.#root = insert(this.#root, shape, compiled);
    this.#shapes += 1;
    this.#bytes += bytesOf(shape, compiled);
    // An operation over the limit by itself is evicted here.
    this.#source.kept.set(this, true);
    if (!this.#source.kept.has(this)) this.forget();
    return compiled;
  }
}

/** Measured: graphql-js's memory per token of a document, with nodes and locations. */
export const bytesPerToken = 450;

/** Estimated: a question with its branch takes about 400 bytes, a slot 150. */
function bytesOf({ trace }: Shape, { statements }: CompiledOperation): number {
  const texts = statements.reduce((sum, { text, slots }) => sum + text.length + 150 * slots.length, 0);
  return 1000 + 400 * trace.length + texts;
}

function compileOperation(
  source: OperationSource,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  shape: Shape,
  countsAll: boolean,
): CompiledOperation {
  const budget = createBudget();
  const planner: Planner = {
    model: source.model,
    schema: source.schema,
    introspection: source.introspection,
    fragments,
    input: {
      shape,
      slots: new Map(),
      variableKey: (node) => source.places.key(node),
      spend: (values) => spend(budget, 'inputs', values),
    },
    budget,
    costs: [],
    maxDepth: 0,
    planObject,
  };
  const plan = planOperation(planner, source.operation);
  const constants = plan.kind === 'query' ? constantsOf(plan.fields) : null;
  // A mutation is not run twice, and not undone for the size of its answer.
  const [some, all] = plan.kind === 'query' ? (['end', 'count'] as const) : (['drop_long', 'drop'] as const);
  const longObjects = countsAll ? all : some;
  const statements = constants === null ? printOperation(plan, longObjects) : [];
  return {
    kind: plan.kind,
    statements,
    constants,
    keys: plan.fields.map(({ key }) => key),
    introspectionKeys: plan.fields.flatMap(({ key, kind }) => (kind === 'introspection' ? [key] : [])),
    errors: plan.errors,
    costs: plan.costs,
    objects: answerObjects(plan.fields),
    countsAll,
    countsSome: statements.some(countsIn),
    patterns: planner.budget.patterns,
    operands: planner.budget.operands,
    runsUserCode: runsUserCode(plan),
    callsRoutines: callsRoutines(plan),
    lightPages: lightPages(plan),
    customPlanning: customPlanning(plan),
    depth: plan.depth,
  };
}

function countsIn({ slots }: Statement): boolean {
  return slots.some(({ kind }) => kind === 'bytes_left');
}

function constantsOf(fields: readonly SelectedValue[]): readonly (string | null)[] | null {
  const isConstant = fields.every(({ kind }) => kind === 'typename' || kind === 'introspection');
  return isConstant ? fields.map((field) => (field.kind === 'typename' ? JSON.stringify(field.name) : null)) : null;
}

// Planning depends only on the answers, so equal paths of answers lead to equal questions.
function insert(root: Branch | null, shape: Shape, compiled: CompiledOperation): Branch {
  const leaf: Branch = { kind: 'compiled', compiled };
  const { trace } = shape;
  const first = trace[0];
  if (first === undefined) return leaf;
  const top: Branch = root ?? { kind: 'question', question: first.question, answers: new Map() };
  let branch = top;
  trace.forEach(({ answer }, index) => {
    if (branch.kind !== 'question') return;
    const following = trace[index + 1];
    const next: Branch =
      branch.answers.get(answer) ??
      (following === undefined ? leaf : { kind: 'question', question: following.question, answers: new Map() });
    branch.answers.set(answer, next);
    branch = next;
  });
  return top;
}
