/**
 * What a client may learn of a failure (docs/handling-errors.md): PostgreSQL's message for errors of the client or its
 * data, our own sentence for limits and outages, and otherwise an id under which the log has the cause.
 *
 * Never SQL text, a stack or values of other rows. Messages and names of tables, columns and constraints are passed on
 * only if the model shows the table to the role (visible-message.ts).
 */
import { randomUUID } from 'node:crypto';
import type { GraphQLError } from 'graphql';
import { preRequestSentinel } from '../../../postgres/caller/pre-request.ts';
import { DatabaseError, isImpossibleRegex, preRequestStepNumber } from '../../../postgres/database-error.ts';
import { badInput, type Code, PublicError } from '../../../shared/errors.ts';
import type { Observe } from '../../../shared/observation.ts';
import type { Span } from '../../../shared/trace/span.ts';
import type { ValueLanguage } from '../../compile/input/plan-budget.ts';
import type { ObjectsPlace } from '../../compile/plan/plan.ts';
import type { RowReading } from '../../compile/print/print-operation.ts';
import { sentinels } from '../../compile/sql/failure-sentinels.ts';
import type { Model } from '../../model/model.ts';
import { brokenNestedWrite } from './broken-nested-write.ts';
import { textTooLarge } from './compressed-text.ts';
import { describeFailure, hintFor, unexpected } from './failure-sentences.ts';
import { isConstraintVisible, isVisibleMessage, visibleTable } from './visible-message.ts';

/** The context for translating an error. */
export interface ErrorScope {
  readonly model: Model | null;
  readonly requestId: string;
  readonly span?: Span | null | undefined;
  readonly observe: Observe;
  /** Hints may name hidden objects: for the service role, and on a local project. */
  readonly showHints: boolean;
  /** Largest answer in bytes, for the message about it. */
  readonly maxResponseBytes: number;
  readonly steps: readonly StepScope[];
  /** The input whose value the message of this main step quotes (cited-input.ts); null if unknown. */
  readonly citedInput: (step: number, message: string) => string | null;
  /** A message of this main step without what it quotes, unless the step got that as a value (cited-input.ts). */
  readonly hideUnsent: (step: number, message: string) => string;
  /** The only input with a value in this language; null if there is none or several. */
  readonly parsedInput: (language: ValueLanguage) => string | null;
  /** The request has a regular expression, which PostgreSQL may find impossible. */
  readonly hasRegex: boolean;
}

/** The part of the operation that a main step runs. */
interface StepScope {
  /** Response key of its root field; null if it serves several. */
  readonly key: string | null;
  /** Message for an `atMost` that is exceeded; null: it has none. */
  readonly atMost: string | null;
  /** Its objects, if they may update rows. */
  readonly objects: ObjectsPlace | null;
  /** Place of its objects, for a write with related rows, or of its entry of a list; null for others. */
  readonly nested: string | null;
  /** The only field that it increments, as the cause of numbers out of range; null: there may be others. */
  readonly increment: string | null;
  /** Why policies for SELECT hold for the rows that it writes; null: not known. */
  readonly reads: RowReading | null;
}

/** One member of `errors` in a response. */
interface ErrorEntry {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly locations?: readonly { readonly line: number; readonly column: number }[];
  readonly extensions: Readonly<Record<string, unknown>> & { readonly code: Code };
}

/** The error for the client. Masked ones are observed under the id in their extensions. */
export function toPublicError(error: unknown, scope: ErrorScope): PublicError {
  if (error instanceof PublicError) return error;
  if (error instanceof DatabaseError) return fromDatabase(error, scope);
  if (isStackOverflow(error)) return tooDeep(error);
  return mask(error, scope);
}

/** A member of `errors`. */
export function toErrorEntry(error: PublicError): ErrorEntry {
  const { path, locations, hint, sqlstate, extensions } = error.details;
  return {
    message: error.message,
    ...(locations && locations.length > 0 && { locations }),
    ...(path && { path }),
    extensions: { code: error.code, ...(sqlstate && { sqlstate }), ...extensions, ...(hint && { hint }) },
  };
}

/** An error of graphql-js: its message and locations, with our code. */
export function fromGraphQLError(error: GraphQLError, code: Code): PublicError {
  const { message, path, locations, originalError } = error;
  if (isStackOverflow(originalError)) return tooDeep(originalError);
  // graphql-js's message when comparing a document's fields takes too many steps.
  if (message === 'Validation aborted.') {
    const limit = 'The document repeats the same fields too often to be checked. Send several.';
    return new PublicError('LIMIT_EXCEEDED', limit, { extensions: { limit: 'validation' } });
  }
  // Messages of graphql-js repeat the sent value, which may be as large as the request.
  const shown = message.length > maxMessageLength ? `${message.slice(0, maxMessageLength)}…` : message;
  return new PublicError(code, shown, { ...(path && { path }), ...(locations && { locations }) });
}

/** Longest message that quotes the request. */
const maxMessageLength = 1000;

/** Documents and variables are processed recursively, so deeply nested ones overflow the stack. */
export function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && error.message.includes('call stack');
}

/** The error for a request that is nested too deeply. */
export function tooDeep(cause: unknown): PublicError {
  const message = 'The request is too large or nested too deeply. Send several, or fewer levels.';
  return new PublicError('LIMIT_EXCEEDED', message, { extensions: { limit: 'nesting' }, cause });
}

function fromDatabase(error: DatabaseError, scope: ErrorScope): PublicError {
  if (error.maybeCommitted) return outcomeUnknown(error);
  const unavailable = (message: string) => new PublicError('UNAVAILABLE', message, { cause: error });
  switch (error.kind) {
    case 'unavailable':
      return unavailable('The database is not available. Try again in a moment.');
    case 'overloaded':
      return unavailable('All database connections are busy. Try again in a moment.');
    case 'stale':
      return unavailable('The schema is changing faster than it can be read. Try again.');
    case 'cancelled':
      return new PublicError('TIMEOUT', 'The request was cancelled by the client.', { cause: error });
    case 'timeout': {
      const sqlstate = error.sqlstate ?? '57014';
      return new PublicError('TIMEOUT', 'canceling statement due to statement timeout', { cause: error, sqlstate });
    }
    case 'too_large':
      return tooLarge(error, scope);
    case 'statement':
      return scope.hasRegex && isImpossibleRegex(error) ? impossibleRegex(error, scope) : fromStatement(error, scope);
  }
}

function impossibleRegex(error: DatabaseError, scope: ErrorScope): PublicError {
  const input = scope.parsedInput('regex');
  const message = 'The regular expression is too large for the database. Use fewer or smaller repetitions.';
  const extensions = input !== null && { extensions: { input } };
  return badInput(message, { ...errorPlace(error, scope), cause: error, ...extensions });
}

/** An object of the answer is so long that all must be counted; nothing is wrong yet. */
export function isLongObject(error: unknown): boolean {
  return error instanceof DatabaseError && error.sqlstate === '22P02' && error.primary.includes(sentinels.longObject);
}

/** A write was sent but not answered: a client must check before it repeats it. */
function outcomeUnknown(error: DatabaseError): PublicError {
  const isLate = error.kind === 'timeout';
  const late = 'The time limit passed before the database answered';
  const reason = isLate ? late : 'The connection to the database was lost';
  const message = `${reason}; the mutation may or may not have been committed.`;
  const details = { extensions: { outcome: 'unknown' }, cause: error };
  return new PublicError(isLate ? 'TIMEOUT' : 'UNAVAILABLE', message, details);
}

function tooLarge(error: DatabaseError, scope: ErrorScope): PublicError {
  const { code, message, details } = textTooLarge(scope.maxResponseBytes);
  return new PublicError(code, message, { ...errorPlace(error, scope), ...details });
}

/** The results of a mutation exceeded the limit. It is not undone for that. */
export function committedTooLarge(maxResponseBytes: number, key: string | null): PublicError {
  const message = `The mutation has been committed, but its answer is larger than the limit of ${maxResponseBytes} bytes. Read what it wrote with a query.`;
  const extensions = { limit: 'max-response-bytes', outcome: 'committed' };
  return new PublicError('LIMIT_EXCEEDED', message, { ...(key !== null && { path: [key] }), extensions });
}

function fromStatement(error: DatabaseError, scope: ErrorScope): PublicError {
  const { sqlstate, primary } = error;
  if (sqlstate === null) return mask(error, scope);
  if (error.step === 0) return fromSettings(error, scope);
  if (error.step === preRequestStepNumber && primary.includes(preRequestSentinel)) return mask(error, scope);
  const place = errorPlace(error, scope);
  const scoped = scope.steps[error.step - 1] ?? {};
  const { atMost = null, objects = null, nested = null, increment = null, reads = null }: Partial<StepScope> = scoped;
  const met = objects && { locations: objects.locations, extensions: { input: objects.input ?? nested ?? '' } };
  if (error.repeatsRow && met !== null) return repeatedRow(met, place);
  if (error.hidesRow && met !== null) return unseenRow(met, place, true);
  const mayBeHidden = primary.includes(sentinels.unshown);
  if (sqlstate === '22P02' && met !== null && (mayBeHidden || primary.includes(sentinels.unseen)))
    return unseenRow(met, place, mayBeHidden);
  if (sqlstate === '22P02' && primary.includes(sentinels.tooLarge)) return tooLarge(error, scope);
  const broken = sqlstate === '22P02' ? brokenNestedWrite(primary) : null;
  if (broken !== null && nested !== null)
    return new PublicError(...broken, { ...place, extensions: { input: nested } });
  const refused = sqlstate === '22P02' ? refusalOf(primary, atMost) : null;
  if (refused !== null) {
    const input = joinPlaces(nested, refused.input);
    const extensions = input !== null && { extensions: { input } };
    return badInput(refused.message, { ...place, ...extensions, ...refused.hint });
  }
  if (sqlstate.startsWith('54') && !error.raised) {
    const names = visibleNames(error, scope.model);
    return new PublicError('LIMIT_EXCEEDED', describeLimit(error, names), {
      ...place,
      sqlstate,
      cause: error,
      extensions: names,
    });
  }
  const code = passingCode(error);
  if (code === null) return mask(error, scope, describeFailure(error));
  const neutral = neutralStates[sqlstate] ?? neutralMessages[code];
  if (neutral !== undefined && !isVisibleMessage(error, scope.model)) {
    const id = observeMasked(error, scope);
    const hint = scope.showHints && { hint: primary };
    const extensions = { id, ...(nested !== null && { input: nested }) };
    return new PublicError(code, neutral, { ...place, sqlstate, cause: error, extensions, ...hint });
  }
  const mayQuoteValues = code === 'BAD_USER_INPUT' && neutral === undefined && !error.raised;
  const shown = mayQuoteValues ? scope.hideUnsent(error.step, primary) : primary;
  if (shown !== primary) {
    const hint = scope.showHints && { hint: primary };
    const extensions = { id: observeMasked(error, scope) };
    return new PublicError(code, shown, { ...place, sqlstate, cause: error, extensions, ...hint });
  }
  const parsed = error.inValue === null ? null : scope.parsedInput(error.inValue);
  const cited = code === 'BAD_USER_INPUT' ? (scope.citedInput(error.step, primary) ?? parsed) : null;
  const sum = sqlstate === '22003' && increment !== null ? `increment.${increment}` : null;
  const input = cited ?? joinPlaces(nested, sum);
  const hint = code === 'RAISED' ? error.hint : hintFor(error, reads);
  return new PublicError(code, primary, {
    ...place,
    sqlstate,
    cause: error,
    extensions: { ...visibleNames(error, scope.model), ...(input !== null && { input }) },
    ...(hint !== null && { hint }),
  });
}

/** The place of a part below another; null for neither. */
function joinPlaces(above: string | null, part: string | null): string | null {
  return above === null || part === null ? (above ?? part) : `${above}.${part}`;
}

/** What a statement refused on purpose; null: it failed otherwise. */
function refusalOf(primary: string, atMost: string | null) {
  if (atMost !== null && primary.includes(sentinels.atMost)) {
    // The sentence for `replace` says it already.
    return { message: atMost, input: null, hint: atMost.endsWith(' records') ? atMostHint : {} };
  }
  if (primary.includes(sentinels.sameRow)) return { message: sameRow, input: null };
  const [, operator, field, found] = misfitText.exec(primary) ?? [];
  if (operator === undefined) return null;
  const message =
    operator === 'append'
      ? `"${field}" of a row is a JSON ${found}: "append" merges an object into an object, and adds an array to an array.`
      : `"${field}" of a row is an array of several dimensions, which have no elements to remove.`;
  return { message, input: `${operator}.${field}` };
}

const atMostHint = { hint: 'atMost says how many rows may change: 1 if it is left out.' };
const sameRow = 'Two entries name the same row, with its key written in two ways. Write it in one way.';
const misfitText = new RegExp(`"${sentinels.operand}(append|remove):(\\w+):(\\w+)"`);

/** Where objects met rows. */
interface Met {
  readonly locations: ObjectsPlace['locations'];
  readonly extensions: { readonly input: string };
}

function repeatedRow(met: Met, place: ReturnType<typeof errorPlace>): PublicError {
  const message = 'Two objects are for the same row. Send only one of them.';
  return badInput(message, { ...place, ...met });
}

/** @param mayBeHidden By a view: whether the row is only new cannot be told. */
function unseenRow(met: Met, place: ReturnType<typeof errorPlace>, mayBeHidden: boolean): PublicError {
  const message = mayBeHidden
    ? 'An object met a row that the view does not show. Nothing was written. If it fails again, send another key: waiting does not help.'
    : 'An object met a row that another transaction has just written. Nothing was written; send the request again.';
  const extensions = { ...met.extensions, ...(mayBeHidden && { retry: 'once' }) };
  return new PublicError('CONFLICT', message, { ...place, ...met, extensions });
}

/** Replace messages that name objects hidden from the role. */
const neutralMessages: Partial<Readonly<Record<Code, string>>> = {
  CONSTRAINT_VIOLATION:
    'A constraint on related data was violated. Change the values, or the rows that depend on this one.',
  PERMISSION_DENIED: 'The role lacks a right that this operation needs. Use a role that has it.',
};

/** The same for states whose code also has messages without names. */
const neutralStates: Readonly<Record<string, string>> = {
  '428C9': 'A column that the database fills by itself was given a value. Leave it out.',
  '55P03': 'Another transaction held a lock for too long. Nothing was written; send the request again.',
};

const deepFunction =
  'A function went too deep for the database. If a policy calls it and it reads the table of that policy, declare it "security definer".';

/** PostgreSQL's own limits (class 54). */
function describeLimit(
  { primary, constraint, sqlstate, ofFunction }: DatabaseError,
  names: Readonly<Record<string, string>>,
): string {
  const index = names.constraint === undefined ? 'an index' : `the index "${names.constraint}"`;
  if (constraint !== null || /^index row (?:size|requires)/.test(primary)) {
    return `A value is too large for ${index}. Send a shorter one.`;
  }
  if (sqlstate === '54001' && ofFunction) return deepFunction;
  return primary.startsWith('row is too big')
    ? 'The row is too large for the database. Send shorter values.'
    : 'The operation is too complex for the database.';
}

/** The failed root field; none at the commit (a deferred constraint). */
function errorPlace(error: DatabaseError, scope: ErrorScope): { readonly path?: readonly string[] } {
  const key = scope.steps[error.step - 1]?.key;
  return key == null ? {} : { path: [key] };
}

// Step 0 sets role and claims. Only the role can be the caller's fault.
function fromSettings(error: DatabaseError, scope: ErrorScope): PublicError {
  if (error.sqlstate === '22023' || error.sqlstate === '42501' || error.sqlstate === '42704') {
    return new PublicError('ROLE_NOT_ALLOWED', 'The role of this token is not available.', { cause: error });
  }
  return mask(error, scope);
}

/** The code of an error whose message is passed on, as that of `raise` under any state but class XX; else null. */
function passingCode({
  sqlstate,
  raised,
  inValue,
}: Pick<DatabaseError, 'sqlstate' | 'raised' | 'inValue'>): Code | null {
  const state = sqlstate ?? '';
  if (inValue !== null || state.startsWith('22')) return 'BAD_USER_INPUT';
  if (state.startsWith('23')) return 'CONSTRAINT_VIOLATION';
  return passingStates[state] ?? (raised && !state.startsWith('XX') ? 'RAISED' : null);
}

const passingStates: Readonly<Record<string, Code>> = {
  // Names nothing: several rows instead of one.
  '21000': 'BAD_USER_INPUT',
  '25006': 'READ_ONLY',
  '428C9': 'BAD_USER_INPUT',
  '42501': 'PERMISSION_DENIED',
  '44000': 'CONSTRAINT_VIOLATION',
  P0001: 'RAISED',
  // Of `into strict`, which names nothing either.
  P0002: 'RAISED',
  P0003: 'RAISED',
  '40001': 'CONFLICT',
  '40P01': 'CONFLICT',
  '55P03': 'CONFLICT',
  '57014': 'TIMEOUT',
};

/** Whether detail and hint are an author's. PostgreSQL's own may show values. */
function isRaised(error: DatabaseError): boolean {
  return error.sqlstate === 'P0001' || (error.raised && passingCode(error) === 'RAISED');
}

function visibleNames(error: DatabaseError, model: Model | null): Record<string, string> {
  const table = visibleTable(error, model);
  const raised: Record<string, string> = isRaised(error) && error.detail !== null ? { detail: error.detail } : {};
  // A domain's name is in the message.
  const { constraint, dataType } = error;
  if (table === null) return dataType === null || constraint === null ? raised : { ...raised, constraint };
  const column = table.columns.find(({ name, selectable }) => selectable && name === error.column);
  return {
    ...raised,
    table: table.name,
    ...(column && { column: column.name }),
    ...(constraint !== null && isConstraintVisible(constraint, table) && { constraint }),
  };
}

function mask(error: unknown, scope: ErrorScope, { code, message } = unexpected): PublicError {
  const id = observeMasked(error, scope);
  const place = error instanceof DatabaseError && error.step > 0 ? errorPlace(error, scope) : {};
  return new PublicError(code, message, { ...place, extensions: { id }, cause: error, isOfNames: true });
}

/** Returns the id of the error in the log. */
function observeMasked(error: unknown, { observe, requestId, span }: ErrorScope): string {
  const id = randomUUID();
  observe({ kind: 'masked_error', id, requestId, span, error });
  return id;
}
