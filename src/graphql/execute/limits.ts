/** Request limits that are checked before the run (docs/limits.md). Every refusal names the limit and its option. */
import { badInput, PublicError } from '../../shared/errors.ts';
import { parseJson } from '../../shared/json.ts';
import type { CompiledOperation } from '../compile/compile-operation.ts';
import { type BindingSource, bindSlot } from '../compile/input/bind-slot.ts';
import { inventedZone } from '../compile/input/invented-zone.ts';
import { hasBackReference } from '../compile/input/json-path.ts';
import type { ComparedOperand, ValueLanguage } from '../compile/input/plan-budget.ts';
import { regexSize } from '../compile/input/regex-size.ts';
import type { Slot, Variables } from '../compile/input/slot.ts';
import { maxTexts, textBound } from '../compile/input/text-bound.ts';
import { entryValue } from '../compile/input/update-list.ts';
import { entriesAt, valueAt } from '../compile/input/variable-path.ts';
import type { LimitPlan } from '../compile/plan/plan.ts';
import type { OperandWork } from '../schema/operators.ts';
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
  if (document.aliases > limits.maxAliases)
    throw limitError('aliases', document.aliases, limits.maxAliases, 'max-aliases');
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
  refuseHeavyStatements(compiled);
  refuseLongTexts(compiled, variables);
  refuseInventedZones(compiled, variables);
  if (limits === null) return;
  const rootFields = compiled.keys.length + compiled.errors.length;
  if (rootFields > limits.maxRootFields)
    throw limitError('root fields', rootFields, limits.maxRootFields, 'max-root-fields');
  if (compiled.depth > limits.maxDepth)
    throw limitError('levels of tables', compiled.depth, limits.maxDepth, 'max-depth');
  if (!limits.allowBackReferences) refuseBackReferences(compiled, variables);
  refuseLargePatterns(compiled, variables);
  refuseLargeOperands(compiled, variables);
  const cost = rowsOf(compiled.costs, variables);
  if (cost > limits.maxCost) throw limitError('rows at most', cost, limits.maxCost, 'max-cost');
}

/**
 * Of all pattern features, only a back reference can take PostgreSQL exponential time. In all of its syntaxes it is a
 * backslash and a digit; the few patterns where these mean something else can be rewritten.
 */
function refuseBackReferences({ patterns }: CompiledOperation, variables: Variables): void {
  const source = { variables, introspection: new Map<string, string>() };
  // A long pattern may be used very often.
  const some = (language: ValueLanguage, isRefused: (text: string) => boolean) =>
    new Set(patterns.filter((pattern) => pattern.language === language).map(({ slot }) => slot))
      .values()
      .some((slot) => isRefused(bindSlot(slot, source) ?? ''));
  if (!some('jsonpath', hasBackReference) && !some('regex', (text) => /\\[1-9]/.test(text))) return;
  const message = 'Write the regular expression without a back reference (a backslash with a digit from 1 to 9).';
  const hint =
    'For a backslash itself write "[\\\\]". The service role may use back references, others with --allow-back-references.';
  throw badInput(message, { hint });
}

/** Largest regular expression with its repetitions written out. */
const maxRegex = 10_000;

function refuseLargePatterns({ patterns }: CompiledOperation, variables: Variables): void {
  const source = { variables, introspection: new Map<string, string>() };
  const slots = new Set(patterns.flatMap(({ language, slot }) => (language === 'regex' ? [slot] : [])));
  for (const slot of slots) {
    if (regexSize(bindSlot(slot, source) ?? '') <= maxRegex) continue;
    const message = `The regular expression is too large: more than ${maxRegex} characters with its repetitions written out.`;
    throw badInput(message);
  }
}

/**
 * Most of each in one operation. PostgreSQL multiplies them with the size of a value, and neither a timeout nor a
 * cancel request ends the work on a row: 20,000 characters of `like` on a text of 400 kB take ten seconds.
 */
const largest: Readonly<Record<OperandWork, readonly [most: number, what: string]>> = {
  pattern: [2000, 'characters in patterns of "like" and "ilike"'],
  list: [10_000, 'items in lists that are compared with lists, or removed from JSON'],
  in: [1_000_000, 'items in lists of "in"'],
  json: [1000, 'values and keys that JSON is compared with'],
  rank: [500, 'characters in searches that rows are ranked by'],
};

function refuseLargeOperands({ operands }: CompiledOperation, variables: Variables): void {
  const sizes: Record<OperandWork, number> = { pattern: 0, list: 0, in: 0, json: 0, rank: 0 };
  for (const operand of operands) {
    sizes[operand.by] += sizeOf(operand, variables);
    const [most, what] = largest[operand.by];
    if (sizes[operand.by] <= most) continue;
    const message = `The operation has more than ${most} ${what}. Send fewer at once.`;
    throw new PublicError('LIMIT_EXCEEDED', message, { extensions: { limit: 'operands' } });
  }
}

function sizeOf({ slot, by }: ComparedOperand, variables: Variables): number {
  if (slot.kind === 'array') return slot.items.length;
  // Each entry changes a row of its own.
  if (slot.kind === 'entry_values')
    return entriesAt(variables, slot).reduce((most, entry) => Math.max(most, countOf(entryValue(entry, slot.at))), 0);
  const value = slot.kind === 'list' ? valueAt(variables, slot.path) : null;
  if (Array.isArray(value)) return value.length;
  const text = bindSlot(slot, { variables, introspection: new Map() }) ?? '';
  // A key or a single value may be looked for in a list.
  return by === 'json' ? Math.max(1, valuesInLists(text)) : text.length;
}

function countOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 1;
}

/** The number of values that lists contain at any depth. Objects find their keys without comparing all. */
function valuesInLists(json: string): number {
  let count = 0;
  // No recursion: PostgreSQL takes values that are deeper than our stack.
  // PostgreSQL refuses what is no JSON.
  const rest = [{ value: parseJson(json), isInList: false }];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const { value, isInList } = next;
    if (isInList) count += 1;
    if (value === null || typeof value !== 'object') continue;
    const isBelowList = isInList || Array.isArray(value);
    for (const member of Object.values(value)) rest.push({ value: member, isInList: isBelowList });
  }
  return count;
}

/** Most units of a statement (planning-weight.ts), for about 100 MB, and about a second that no timeout cuts for certain. */
const heaviest = 1_000_000;

/** Most that the protocol can send. */
const maxParameters = 65_535;

/** Refuses an operation that PostgreSQL could not plan within its memory. */
export function refuseHeavyStatements({ statements }: CompiledOperation): void {
  if (statements.some(({ slots }) => slots.length > maxParameters)) {
    const message = `The operation has more than ${maxParameters} values. Send several operations, or lists as variables.`;
    throw new PublicError('LIMIT_EXCEEDED', message, { extensions: { limit: 'planning' } });
  }
  if (statements.every(({ weight }) => weight <= heaviest)) return;
  const message =
    'The database would need too much memory to plan the operation: it has too many fields or conditions deep inside related tables. Send several operations.';
  throw new PublicError('LIMIT_EXCEEDED', message, { extensions: { limit: 'planning' } });
}

function refuseLongTexts({ statements }: CompiledOperation, variables: Variables): void {
  let length = 0;
  const source = { variables, introspection: new Map<string, string>() };
  for (const { slots, uses } of statements) {
    for (const [index, slot] of slots.entries()) {
      const bound = textBound(slot, variables);
      // PostgreSQL plans with a copy for each use.
      length += bound > 0 ? bound * uses[index]! : lengthOfCopies(slot, uses[index]! - 1, source);
    }
  }
  if (length <= maxTexts) return;
  const message =
    'Values in the document are too long, or use long variables too often. Send the lists and objects as variables.';
  throw new PublicError('LIMIT_EXCEEDED', message, { extensions: { limit: 'text' } });
}

function refuseInventedZones({ statements }: CompiledOperation, variables: Variables): void {
  const source = { variables, introspection: new Map<string, string>() };
  for (const { zoned } of statements) {
    for (const { slot, zones } of zoned) {
      const zone = inventedZone(bindSlot(slot, source) ?? '', zones);
      if (zone === null) continue;
      const message = `The time zone "${zone.slice(0, 60)}" does not exist.`;
      const hint = 'Write an offset, such as +02:00, or a name, such as Europe/Berlin.';
      throw new PublicError('BAD_USER_INPUT', message, { hint });
    }
  }
}

/** Of operands and arguments. The values of objects to insert have limits of their own. */
const copied: ReadonlySet<Slot['kind']> = new Set(['constant', 'scalar', 'list', 'element']);

function lengthOfCopies(slot: Slot, copies: number, source: BindingSource): number {
  return copies === 0 || !copied.has(slot.kind) ? 0 : copies * (bindSlot(slot, source)?.length ?? 0);
}

/** Rows at most: the sum over all collections of the product of page sizes on their path. */
export function rowsOf(paths: readonly (readonly LimitPlan[])[], variables: Variables): number {
  const source = { variables, introspection: new Map<string, string>() };
  return paths.reduce((sum, pages) => sum + rowsOfPath(pages, source), 0);
}

function rowsOfPath(pages: readonly LimitPlan[], source: BindingSource): number {
  return pages.reduce((product, page) => product * limitOf(page, source), 1);
}

/**
 * Bytes of JSON from which a value of the answer is long: all shorter ones together are within the limit of an answer. Null: the
 * objects may exceed it even without values that types do not bound, so that all must be counted.
 */
export function countedBytes({ objects }: CompiledOperation, variables: Variables, maxBytes: number): number | null {
  const source = { variables, introspection: new Map<string, string>() };
  let count = 0;
  let bytes = 0;
  for (const { pages, bytes: each, bounds } of objects) {
    const number = rowsOfPath(pages, source);
    count += number * bounds;
    bytes += number * each;
  }
  return bytes > maxBytes ? null : Math.floor(maxBytes / Math.max(1, count));
}

/** The row limit for the values of a request. */
export function limitOf(limit: LimitPlan, source: BindingSource): number {
  return limit.kind === 'constant' ? limit.value : Number(bindSlot(limit.slot, source));
}

function limitError(what: string, value: number, limit: number, option: string): PublicError {
  const message = `The operation has ${value} ${what}, more than the limit of ${limit} (option --${option}).`;
  const hint = ways[option];
  return new PublicError('LIMIT_EXCEEDED', message, { extensions: { limit: option }, ...(hint && { hint }) });
}

/** Operations that need less. */
const ways: Readonly<Record<string, string>> = {
  'max-cost':
    'Give collections a "first", those inside other collections above all: without one, each counts its whole page.',
  'max-depth': 'Ask for the inner levels in an operation of their own, with a filter by the keys of the rows above.',
  'max-root-fields':
    'Change many rows with one field: a list of objects, a filter, or "updateMany…". Read them with a filter "in".',
  'max-aliases': 'Read many rows with one field and a filter "in" instead of an alias for each.',
};
