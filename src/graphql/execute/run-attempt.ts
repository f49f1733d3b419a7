/**
 * One run of a request on one model: document to operation to statements to one flight to the body of the answer.
 *
 * The answer of the database is text and stays text.
 */
import { type DocumentNode, GraphQLError } from 'graphql';
import type { Step } from '../../postgres/caller/flight-request.ts';
import type { AnswerMemory } from '../../postgres/wire/answer-memory.ts';
import type { FlightResult } from '../../postgres/wire/flight.ts';
import { PublicError } from '../../shared/errors.ts';
import type { CompiledOperation, OperationCompiler } from '../compile/compile-operation.ts';
import { type BindingSource, bindSlots } from '../compile/input/bind-slot.ts';
import { coerceVariables } from '../compile/input/document-variables.ts';
import { absentFrom } from '../compile/input/filter-variables.ts';
import { RequestRefusal } from '../compile/input/input.ts';
import type { ValueLanguage } from '../compile/input/plan-budget.ts';
import type { Variables } from '../compile/input/slot.ts';
import { leftStatement, type Statement } from '../compile/print/print-operation.ts';
import { explainMissing } from '../model/explain-missing.ts';
import { explainVariables } from '../schema/explain-mistake.ts';
import type { LazySchema } from '../schema/lazy-schema.ts';
import { allowed } from './allowed-operation.ts';
import { citedInput, hideUnsent, placeOfRows } from './answer/cited-input.ts';
import { joinTexts, type Text } from './answer/compressed-text.ts';
import { committedTooLarge, type ErrorScope, fromGraphQLError, isLongObject } from './answer/public-error.ts';
import { type AnswerContext, RowsAnswer } from './answer/rows-answer.ts';
import type { Clue } from './documents.ts';
import type { RequestContext } from './executor.ts';
import {
  answerIntrospection,
  type IntrospectionRequest,
  introspectionBody,
} from './introspection/answer-introspection.ts';
import {
  assertDocumentLimits,
  assertOperationLimits,
  countedBytes,
  limitOf,
  refuseHeavyStatements,
  rowsOf,
} from './limits.ts';
import { relationsStep } from './read-relations.ts';
import { type Attempt, checkFreshness, type ExecuteOptions, type Execution, noSteps, runFlight } from './run-flight.ts';

/** Result of a request before it becomes a body. `data` is JSON; undefined: not executed. */
export interface Outcome {
  readonly data: FlightResult | undefined;
  /** The whole body, if it was made in one step; `data` is unused then. */
  readonly body?: Text;
  readonly errors: readonly PublicError[];
  readonly operationName: string | null;
  readonly operationType?: CompiledOperation['kind'];
  readonly documentHash: string | null;
}

/** What is known of a request beside its answer. */
type OutcomeFacts = Pick<Outcome, 'operationName' | 'operationType' | 'documentHash'>;

/** The statements of an operation failed and all is rolled back, or the answer of a committed mutation is too large. */
export class FailedRun extends Error {
  override readonly name = 'FailedRun';
  readonly scope: ErrorScope;
  readonly outcome: OutcomeFacts;

  constructor(cause: unknown, scope: ErrorScope, outcome: OutcomeFacts) {
    super('The statements of an operation failed.', { cause });
    this.scope = scope;
    this.outcome = outcome;
  }
}

/** Runs it. @throws FailedRun where the statements failed; DatabaseError where the check of the model's age did. */
export async function runAttempt(options: ExecuteOptions, execution: Execution, attempt: Attempt): Promise<Outcome> {
  const { request, context, watch } = execution;
  const { shared } = attempt.role;
  const refuse = async (errors: readonly PublicError[], hash: string | null, name: string | null): Promise<Outcome> => {
    // The model may be at fault, not the request: the table may have been created just now.
    await checkFreshness(options, execution, attempt);
    return { data: undefined, errors, operationName: name, documentHash: hash };
  };
  const broken = directiveProblem(options, execution, attempt);
  if (broken !== null) return refuse([broken], null, null);

  const parseStart = performance.now();
  const limits = context.unlimited ? null : options.limits;
  const mayDiscover = context.showHints || shared.suggestions;
  const document = shared.documents.prepare(request.query, limits?.maxTokens ?? null, mayDiscover);
  watch.add('parse', parseStart);
  const { hash } = document;
  if (document.kind === 'refused') {
    const name = shared.documents.nameOf(document, request.operationName);
    if (document.fatal) return { data: undefined, errors: document.errors, operationName: name, documentHash: hash };
    return refuse(await withHints(document.errors, document.clues, execution, attempt), hash, name);
  }

  const compileStart = performance.now();
  const operation = orRefusal(PublicError, () => {
    if (limits !== null) assertDocumentLimits(document, limits);
    return allowed(context, shared.documents.choose(document, request.operationName));
  });
  if (operation instanceof PublicError)
    return { data: undefined, errors: [operation], operationName: request.operationName, documentHash: hash };
  const name = operation.operation.name?.value ?? null;
  if (options.absentFilterVariables === 'refuse') {
    const absent = absentFrom(request.variables ?? {}, operation.filterVariables());
    if (absent !== null) return refuse([absent], hash, name);
  }
  const coerced = coerceVariables(shared.schema, operation.operation, operation.places, {
    values: request.variables ?? {},
    suggestions: shared.suggestions,
  });
  if (coerced.kind === 'refused') {
    const errors = coerced.errors.map((error) =>
      error instanceof PublicError ? error : fromGraphQLError(error, 'BAD_USER_INPUT'),
    );
    const mistakes = coerced.errors.filter((error) => error instanceof GraphQLError);
    // Ours stand alone.
    const place = { schema: shared.schema, mayDiscover };
    const values = request.variables ?? {};
    const corrections = mistakes.length < errors.length ? [] : explainVariables(place, values, mistakes);
    const clues = corrections.map((correction) => ({ unknownField: null, correction }));
    return refuse(await withHints(errors, clues, execution, attempt), hash, name);
  }
  const { compiler } = operation;
  const { variables } = coerced;
  // Some variables match their declared types but not the places where they are used.
  const compiled = orRefusal(RequestRefusal, () => compiler.compile(variables));
  if (compiled instanceof PublicError) return refuse([compiled], hash, name);
  const refusal = orRefusal(PublicError, () => assertOperationLimits(compiled, variables, limits));
  if (refusal) return refuse([refusal], hash, name);
  noteUse(context, compiled, variables);
  watch.add('compile', compileStart);
  const outcome = { operationName: name, operationType: compiled.kind, documentHash: hash };
  const run: CompiledRun = { attempt, document: document.document, compiled, variables, outcome };
  const result = await runCounting(options, execution, run, () => compileCounting(compiler, variables));
  const introspectionClues = result.errors.map(({ code }) =>
    code === 'INTROSPECTION_DISABLED' ? introspectionDisabledClue : null,
  );
  return { ...result, errors: await withHints(result.errors, introspectionClues, execution, attempt), ...outcome };
}

function noteUse({ batch }: RequestContext, { costs, kind }: CompiledOperation, variables: Variables): void {
  if (batch === undefined) return;
  batch.ownCost = rowsOf(costs, variables);
  batch.isMutation = kind === 'mutation';
}

function compileCounting(compiler: OperationCompiler, variables: Variables): CompiledOperation {
  compiler.countObjects();
  const counting = compiler.compile(variables);
  // Its statements are longer.
  refuseHeavyStatements(counting);
  return counting;
}

/** The result of `run`, or the refusal that it throws. */
function orRefusal<T, E extends PublicError>(kind: new (...facts: never[]) => E, run: () => T): T | E {
  try {
    return run();
  } catch (error) {
    if (error instanceof kind) return error;
    throw error;
  }
}

/** So few rows that other requests may wait behind them. */
const maxLightRows = 100;

interface CompiledRun {
  readonly attempt: Attempt;
  readonly document: DocumentNode;
  readonly compiled: CompiledOperation;
  readonly variables: Variables;
  readonly outcome: OutcomeFacts;
}

/** Runs it, with long objects counted where it meets one. @param count Compiles it in that way, now and from now on. */
async function runCounting(
  options: ExecuteOptions,
  execution: Execution,
  run: CompiledRun,
  count: () => CompiledOperation,
): Promise<Pick<Outcome, 'data' | 'body' | 'errors'>> {
  const { compiled, variables } = run;
  const bytes = countedBytes(compiled, variables, options.maxResponseBytes);
  if (bytes === null && !compiled.countsAll) return runCompiled(options, execution, { ...run, compiled: count() }, 0);
  if (compiled.kind === 'mutation' || compiled.countsAll || bytes === null)
    return runCompiled(options, execution, run, bytes ?? 0);
  try {
    return await runCompiled(options, execution, run, bytes);
  } catch (error) {
    // All is rolled back.
    if (!(error instanceof FailedRun) || !isLongObject(error.cause)) throw error;
    return runCompiled(options, execution, { ...run, compiled: count() }, bytes);
  }
}

async function runCompiled(
  options: ExecuteOptions,
  execution: Execution,
  run: CompiledRun,
  countedBytes: number,
): Promise<Pick<Outcome, 'data' | 'body' | 'errors'>> {
  const { compiled, attempt } = run;
  const isMutation = compiled.kind === 'mutation';
  if (compiled.errors.length > 0 && (isMutation || compiled.keys.length === 0)) {
    await checkFreshness(options, execution, attempt);
    return { data: 'null', errors: isMutation ? compiled.errors.slice(0, 1) : compiled.errors };
  }
  const { keys, constants, errors } = compiled;
  const asked = await introspectionOf(options, execution, run);
  if (constants !== null) {
    await checkRole(options, execution, run);
    return answerConstants(compiled, constants, asked);
  }
  const source = { variables: run.variables, introspection: await textsOf(asked), countedBytes };
  const answers = new Map<number, RowsAnswer>();
  const making = { maxBytes: options.maxResponseBytes, isMutation };
  const steps = compiled.statements.map((statement, index) =>
    stepOf(statement, source, making, (answer) => answers.set(index, answer)),
  );
  const { lightPages, runsUserCode, customPlanning, countsSome: countsObjects } = compiled;
  const dropsObjects = countsObjects && isMutation;
  if (dropsObjects) steps.push(stepOf(leftStatement, source, making, () => {}));
  const reads = execution.context.reads ?? null;
  if (reads !== null) steps.push(relationsStep);
  const isLight = lightPages !== null && rowsOf(lightPages, run.variables) <= maxLightRows;
  const work = { isRequest: true, steps, mutation: isMutation, runsUserCode, isLight, customPlanning, countsObjects };
  try {
    const results = await runFlight(options, execution, attempt, work);
    if (reads !== null) {
      reads.relations = String(results.at(-1));
      reads.callsRoutines = compiled.callsRoutines || attempt.role.catalog.preRequest !== null;
    }
    const tooLarge = [...answers].find(([, answer]) => answer.isTooLarge);
    if (tooLarge !== undefined)
      throw committedTooLarge(options.maxResponseBytes, keys[compiled.statements[tooLarge[0]]!.field]!);
    if (dropsObjects && Number(results.at(-1)) < 0)
      throw committedTooLarge(options.maxResponseBytes, keys.length === 1 ? keys[0]! : null);
    return { data: isMutation ? joinFields(keys, valuesOf(compiled, results)) : (results[0] ?? 'null'), errors };
  } catch (error) {
    throw new FailedRun(error, scopeOf(options, execution, run), run.outcome);
  }
}

/** The value of each root field of a mutation, from the results of its statements. */
function valuesOf({ keys, statements }: CompiledOperation, results: readonly (FlightResult | null)[]) {
  const values: (FlightResult | null)[] = keys.map(() => null);
  const elements = new Map<number, FlightResult[]>();
  statements.forEach(({ field, result }, index) => {
    const text = results[index] ?? null;
    if (result === 'value') values[field] = text;
    if (result === 'elements' && text !== null) elements.set(field, [...(elements.get(field) ?? []), text]);
  });
  for (const [field, texts] of elements) {
    values[field] = joinTexts(['[', ...texts.flatMap((text, index) => (index === 0 ? [text] : [',', text])), ']']);
  }
  return values;
}

function stepOf(
  { text, slots, layout }: Statement,
  source: BindingSource,
  making: Pick<AnswerContext, 'maxBytes' | 'isMutation'>,
  onAnswer: (answer: RowsAnswer) => void,
): Step {
  const values = bindSlots(slots, source);
  if (layout === null) return { text, values };
  const limit = layout.limit === null ? null : limitOf(layout.limit, source);
  const collect = (memory: AnswerMemory): RowsAnswer => {
    const answer = new RowsAnswer(layout, { ...making, limit, memory });
    onAnswer(answer);
    return answer;
  };
  return { text, values, collect };
}

// No statements: only checks that the role may be used and the model is current.
async function checkRole(options: ExecuteOptions, execution: Execution, run: CompiledRun): Promise<void> {
  try {
    await runFlight(options, execution, run.attempt, { ...noSteps, isRequest: true });
  } catch (error) {
    throw new FailedRun(error, scopeOf(options, execution, run), run.outcome);
  }
}

function scopeOf(options: ExecuteOptions, execution: Execution, run: CompiledRun): ErrorScope {
  const { kind, keys, statements } = run.compiled;
  return {
    model: run.attempt.role.shared.model,
    requestId: execution.context.requestId,
    span: execution.context.span,
    observe: options.observe,
    showHints: execution.context.showHints,
    maxResponseBytes: options.maxResponseBytes,
    steps: statements.map(({ field, refusals: { place, ...refusals } }) => ({
      key: kind === 'mutation' || keys.length === 1 ? (keys[field] ?? null) : null,
      ...refusals,
      nested: place === null ? null : placeOfRows(place, run.variables),
    })),
    citedInput: (step, message) => citedInput(message, statements[step - 1]?.slots ?? [], run.variables),
    hideUnsent: (step, message) => {
      const source = { variables: run.variables, introspection: new Map() };
      // Ours are none of the client's values.
      const sent = statements[step - 1]?.slots.filter(({ kind }) => kind !== 'counted_bytes' && kind !== 'bytes_left');
      return hideUnsent(message, bindSlots(sent ?? [], source));
    },
    parsedInput: (language) => parsedInput(run.compiled, language),
    hasRegex: run.compiled.patterns.some(({ language }) => language === 'regex' || language === 'jsonpath'),
  };
}

function parsedInput({ patterns }: CompiledOperation, of: ValueLanguage): string | null {
  const places = new Set(patterns.flatMap(({ language, place }) => (language === of ? [place] : [])));
  const [only] = places;
  return only !== undefined && places.size === 1 ? only : null;
}

/** The answer of an operation without statements. */
async function answerConstants(
  { keys, errors }: CompiledOperation,
  constants: readonly (string | null)[],
  asked: Introspection | null,
): Promise<Pick<Outcome, 'data' | 'body' | 'errors'>> {
  if (asked !== null && errors.length === 0) {
    const values = keys.map((key, index) => [key, constants[index] ?? null] as const);
    return { data: '', body: await introspectionBody(...asked, values), errors };
  }
  const introspection = await textsOf(asked);
  const values = keys.map((key, index) => constants[index] ?? introspection.get(key) ?? null);
  return { data: joinFields(keys, values), errors };
}

const noTexts: ReadonlyMap<string, string> = new Map();

type Introspection = readonly [schema: LazySchema, request: IntrospectionRequest];

async function textsOf(asked: Introspection | null): Promise<ReadonlyMap<string, string>> {
  return asked === null ? noTexts : answerIntrospection(...asked);
}

async function introspectionOf(
  { maxResponseBytes }: ExecuteOptions,
  { request, context }: Execution,
  run: CompiledRun,
): Promise<Introspection | null> {
  const { introspection } = run.attempt.role.shared;
  if (run.compiled.introspectionKeys.length === 0 || introspection === null) return null;
  const { operationName, variables } = request;
  const responseKeys = new Set(run.compiled.introspectionKeys);
  const asked = { document: run.document, operationName, variableValues: variables ?? {}, responseKeys };
  return [await introspection(), { ...asked, maxBytes: maxResponseBytes, signal: context.signal }];
}

function joinFields(keys: readonly string[], values: readonly (FlightResult | null)[]): FlightResult {
  // The operation may select nothing: `@skip` and `@include` leave `{}`.
  const texts: FlightResult[] = ['{'];
  // Names of GraphQL need no escapes.
  for (const [index, key] of keys.entries()) texts.push(`${index === 0 ? '' : ','}"${key}":`, values[index] ?? 'null');
  return joinTexts([...texts, '}']);
}

function directiveProblem(options: ExecuteOptions, execution: Execution, attempt: Attempt): PublicError | null {
  const problem = attempt.role.shared.model.directiveError;
  if (problem === null) return null;
  const prefix = 'Error while loading schema, check comment directives.';
  if (problem.visible) return new PublicError('DIRECTIVE_INVALID', `${prefix} ${problem.object}: ${problem.problem}`);
  const { requestId: id, span } = execution.context;
  const error = new Error(`${problem.object}: ${problem.problem}`);
  options.observe({ kind: 'masked_error', id, requestId: id, span, error });
  return new PublicError('DIRECTIVE_INVALID', prefix, { extensions: { id } });
}

/**
 * Adds hints: what to write instead, unless that names what the caller may not discover; and for callers who
 * may see it, why a field is missing, and the SQL that changes it.
 */
async function withHints(
  errors: readonly PublicError[],
  clues: readonly (Clue | null)[],
  { context }: Execution,
  { role }: Attempt,
): Promise<readonly PublicError[]> {
  if (errors.length === 0) return errors;
  // Clues of a document are shared with callers who may discover more.
  const mayDiscover = context.showHints || role.shared.suggestions;
  const hinted = errors.map(async (error, index) => {
    const { unknownField, correction } = clues[index] ?? { unknownField: null, correction: null };
    const missing = context.showHints && unknownField ? await explainMissing(role.catalog, role, unknownField) : null;
    const reason =
      missing && (missing.fix === null ? missing.reason : `${missing.reason} Change it with: ${missing.fix}`);
    const hint = reason ?? (correction && (mayDiscover || !correction.namesSchema) ? correction.hint : null);
    return hint === null ? error : new PublicError(error.code, error.message, { ...error.details, hint });
  });
  return Promise.all(hinted);
}

const introspectionDisabledClue: Clue = { unknownField: { type: 'Query', field: '__schema' }, correction: null };
