/**
 * Request limits that are checked before the run (docs/limits.md). Every refusal names the limit and its option.
 */
import type { CompiledOperation } from '../compile/compile-operation.ts';
import { hasBackReference } from '../compile/input/json-path.ts';
import type { Pattern } from '../compile/input/plan-budget.ts';
import { type BindingSource, bindSlot, type Variables } from '../compile/input/slot.ts';
import { longestTexts, textBound } from '../compile/input/text-bound.ts';
import type { LimitPlan } from '../compile/plan/plan.ts';
import { PublicError } from '../shared/errors.ts';
import { type PreparedDocument, tooManyTokens } from './documents.ts';

/** Limits of one request. */
export interface RequestLimits {
  readonly maxDepth: number;
  readonly maxAliases: number;
  readonly maxTokens: number;
  readonly maxCost: number;
  readonly maxRootFields: number;
  /** Regular expressions may contain back references. */
  readonly allowBackReferences?: boolean;
}

/** Refuses a document with too many tokens or aliases. */
export function assertDocumentLimits(document: PreparedDocument, limits: RequestLimits): void {
  if (document.tokens > limits.maxTokens) throw tooManyTokens(limits.maxTokens);
  if (document.aliases > limits.maxAliases) throw refuse('aliases', document.aliases, limits.maxAliases, 'max-aliases');
}

/**
 * Refuses an operation that is too deep, too wide or too costly, or whose texts would not fit into memory.
 *
 * @param limits Null: only the memory, which every caller shares.
 */
export function assertOperationLimits(
  compiled: CompiledOperation,
  variables: Variables,
  limits: RequestLimits | null,
): void {
  refuseLongTexts(compiled, variables);
  if (limits === null) return;
  const rootFields = compiled.keys.length + compiled.errors.length;
  if (rootFields > limits.maxRootFields)
    throw refuse('root fields', rootFields, limits.maxRootFields, 'max-root-fields');
  if (compiled.depth > limits.maxDepth) throw refuse('levels of tables', compiled.depth, limits.maxDepth, 'max-depth');
  if (!limits.allowBackReferences) refuseBackReferences(compiled, variables);
  const cost = costOf(compiled, variables);
  if (cost > limits.maxCost) throw refuse('rows at most', cost, limits.maxCost, 'max-cost');
}

/**
 * Of all pattern features, only a back reference can take PostgreSQL exponential time. In all of its syntaxes it is a
 * backslash and a digit; the few patterns where these mean something else can be rewritten.
 */
function refuseBackReferences({ patterns }: CompiledOperation, variables: Variables): void {
  const source = { variables, introspection: new Map<string, string>() };
  const isRefused = ({ slot, language }: Pattern): boolean => {
    const text = bindSlot(slot, source) ?? '';
    return language === 'jsonpath' ? hasBackReference(text) : language === 'regex' && /\\[1-9]/.test(text);
  };
  if (!patterns.some(isRefused)) return;
  const message = 'Write the regular expression without a back reference (a backslash with a digit from 1 to 9).';
  const hint =
    'For a backslash itself write "[\\\\]". The service role may use back references, others with --allow-back-references.';
  throw new PublicError('BAD_USER_INPUT', message, { hint });
}

function refuseLongTexts({ statements }: CompiledOperation, variables: Variables): void {
  let length = 0;
  for (const { slots } of statements) for (const slot of slots) length += textBound(slot, variables);
  if (length <= longestTexts) return;
  const message =
    'Values in the document are too long, or use long variables too often. Send the lists and objects as variables.';
  throw new PublicError('LIMIT_EXCEEDED', message, { extensions: { limit: 'text' } });
}

/** Sum over all collections of the product of page sizes on their path. */
function costOf(compiled: CompiledOperation, variables: Variables): number {
  const source = { variables, introspection: new Map<string, string>() };
  const sizeOf = (pages: readonly LimitPlan[]) => pages.reduce((product, page) => product * limitOf(page, source), 1);
  return compiled.costs.reduce((sum, pages) => sum + sizeOf(pages), 0);
}

/** The row limit for the values of a request. */
export function limitOf(limit: LimitPlan, source: BindingSource): number {
  return limit.kind === 'constant' ? limit.value : Number(bindSlot(limit.slot, source));
}

function refuse(what: string, value: number, limit: number, option: string): PublicError {
  const message = `The operation has ${value} ${what}, more than the limit of ${limit} (option --${option}).`;
  return new PublicError('LIMIT_EXCEEDED', message, { extensions: { limit: option } });
}
