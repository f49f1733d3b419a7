/**
 * Errors of statements as one typed error, and the mapping from the driver's errors.
 *
 * Classified by step first, SQLSTATE second, text last: a user's value can contain any text, and a user's function can
 * raise any SQLSTATE, but neither can fail the settings step. Clients see none of this
 * (graphql/execute/answer/public-error.ts).
 */
import pg from 'pg';

/**
 * How our code can react.
 *
 * - `stale`: the model is older than the catalog; nothing ran. Load the model, then run again.
 * - `statement`: PostgreSQL refused a statement; the whole flight is rolled back.
 * - `unavailable`: no connection, or it was lost (see `maybeCommitted`).
 * - `overloaded`: no connection became free in time; nothing was sent.
 * - `cancelled`: the client disconnected; rolled back unless `maybeCommitted`.
 * - `too_large`: a result exceeds one of our limits; rolled back.
 * - `timeout`: a limit passed (57014, 25P04 or our own timer); rolled back unless `maybeCommitted`.
 */
export type DatabaseErrorKind =
  | 'stale'
  | 'statement'
  | 'unavailable'
  | 'overloaded'
  | 'cancelled'
  | 'timeout'
  | 'too_large';

/** A failure of the database or of the connection to it. `message` is `primary` with the function that failed, for operators. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
  declare readonly kind: DatabaseErrorKind;
  /** The server's message without detail and hint, or ours. */
  declare readonly primary: string;
  /**
   * Where the flight failed: 0 = settings; 1.. = the main step of that number; the number after the last step = the
   * commit (a deferred constraint); -1 = the function that runs before the request (caller/pre-request.ts). For system
   * statements 0 = what begins their transaction, otherwise 1. Also 0 if nothing was sent.
   */
  readonly step: number = 0;
  /** PostgreSQL's five-character code; null if the error is not the server's. */
  readonly sqlstate: string | null = null;
  /** Contains values of rows; not enumerable, so that a logger that copies an error's properties leaves it out. */
  declare readonly detail: string | null;
  readonly hint: string | null = null;
  readonly schema: string | null = null;
  readonly table: string | null = null;
  readonly column: string | null = null;
  readonly constraint: string | null = null;
  /** The domain whose constraint was violated; its schema is `schema`. */
  readonly dataType: string | null = null;
  /** Position of the error in the sent text, in characters from 1; null if the server reports none. */
  readonly position: number | null = null;
  /** Raised by a PL/pgSQL function: its author wrote the message. */
  readonly raised: boolean = false;
  /** Two rows of the statement's own `on conflict do update` are for the same row. */
  readonly repeatsRow: boolean = false;
  /** An upsert met a row that its view does not show. Newer minor releases refuse that themselves. */
  readonly hidesRow: boolean = false;
  /** The role lacks a privilege for what the statement itself names. */
  readonly lacksPrivilege: boolean = false;
  /** A policy refused a row. */
  readonly violatesPolicy: boolean = false;
  /** The language of the invalid value, if the SQLSTATE is one for errors in statements. */
  readonly inValue: 'jsonpath' | 'tsquery' | 'regconfig' | null = null;
  /** What the server did not find possible, where SQLSTATE alone does not tell. */
  readonly impossible: Impossible | null = null;
  /** In a function or trigger, not in what was sent. */
  readonly ofFunction: boolean = false;
  /** A write was sent, and the connection was lost or the time was over before its outcome was known. */
  readonly maybeCommitted: boolean = false;

  constructor({ cause, detail = null, inFunction = null, ...facts }: DatabaseErrorFacts) {
    super(
      inFunction === null ? facts.primary : `${facts.primary}, in ${inFunction}`,
      cause === undefined ? undefined : { cause },
    );
    Object.assign(this, facts);
    Object.defineProperty(this, 'detail', { value: detail, enumerable: false });
  }
}

/** Something that fails under a SQLSTATE that many failures have. */
export type Impossible =
  | 'view_column' | 'unfilled' | 'comparison' | 'reference' | 'rule' | 'replica_identity' | 'server' | 'stable_write'; // biome-ignore format: a list of names

/** All members except `kind` and `primary` have a neutral default. */
export type DatabaseErrorFacts = Pick<DatabaseError, 'kind' | 'primary'> &
  Partial<Omit<DatabaseError, keyof Error>> & {
    readonly cause?: unknown;
    /** The function that failed, for its author: `public.welcome() line 3`. */
    readonly inFunction?: string | null;
  };

/** Prefix of the text that the freshness check casts to a number, to fail on purpose (caller/settings.ts). */
export const staleSentinel = 'pgreflect:stale:';

/** Prefix of the text that fails on purpose if the connection has temporary tables (connection-reset.ts). */
export const temporarySentinel = 'pgreflect:temporary:';

/** Prefix of the text that fails on purpose if user code changed the connection for others (connection-reset.ts). */
export const connectionSentinel = 'pgreflect:connection:';

/** As `DatabaseError.step`, of the function that runs before a request. */
export const preRequestStepNumber = -1;

/** Prefix of the text that fails on purpose on a standby (system/system-connection.ts). */
export const standbySentinel = 'pgreflect:standby:';

interface FailureContext {
  /** As `DatabaseError.step`. */
  readonly step: number;
  /** Why we sent a cancel request, if we did. */
  readonly cancelled: 'client' | 'timer' | null;
  /** The flight could write, and its Sync was sent. */
  readonly mutation: boolean;
  /** The connection is lost, whatever the server's last message. */
  readonly lost: boolean;
}

/**
 * True for SQLSTATEs after which the server closes the connection: class 08, shutdown and crash (57P01-57P03), session
 * ended for idleness (57P05) or for a limit (25P03, 25P04). A statement may fail with them on a healthy connection, too:
 * `postgres_fdw` and `dblink` pass on those of another server.
 */
export function mayEndConnection(sqlstate: string): boolean {
  return sqlstate.startsWith('08') || /^(57P0[1235]|25P0[34])$/.test(sqlstate);
}

/** The typed error for any error of the driver. Our own errors pass through. */
export function toDatabaseError(problem: unknown, context: FailureContext): DatabaseError {
  if (problem instanceof DatabaseError) return problem;
  if (problem instanceof pg.DatabaseError) {
    const facts = serverFacts(problem, context.step);
    // `transaction_timeout` ends the connection, but no transaction that is committing.
    if (context.lost && problem.code === '25P04') return new DatabaseError({ ...facts, kind: 'timeout' });
    if (context.lost) {
      return new DatabaseError({ ...facts, kind: lostKind(context), maybeCommitted: context.mutation });
    }
    if (isSentinel(problem, standbySentinel, context)) {
      const primary = 'The server is a standby, and what it has may be out of date.';
      return new DatabaseError({ ...facts, kind: 'unavailable', primary });
    }
    return new DatabaseError({ ...facts, kind: statementKind(problem, context) });
  }
  return new DatabaseError({
    kind: lostKind(context),
    step: context.step,
    primary: 'The connection to the database was lost or could not be made.',
    maybeCommitted: context.mutation,
    cause: problem,
  });
}

/** A connection closed after an unanswered cancel request counts as cancelled, not as an outage. */
function lostKind(context: FailureContext): DatabaseErrorKind {
  if (context.cancelled === 'client') return 'cancelled';
  return context.cancelled === 'timer' ? 'timeout' : 'unavailable';
}

function statementKind(problem: pg.DatabaseError, context: FailureContext): DatabaseErrorKind {
  if (problem.code === '57014') return context.cancelled === 'client' ? 'cancelled' : 'timeout';
  // Settings name what a transaction on the primary may do, and this server has become a standby.
  if (context.step === 0 && problem.code === '0A000') return 'unavailable';
  return isSentinel(problem, staleSentinel, context) ? 'stale' : 'statement';
}

/** Whether a cast of ours failed on purpose: no statement of a user runs in that step. */
function isSentinel({ code, message }: pg.DatabaseError, sentinel: string, { step }: FailureContext): boolean {
  return step === 0 && code === '22P02' && message.includes(sentinel);
}

/** PostgreSQL functions that parse such values: they identify errors whose message may be translated. */
const valueParsers: ReadonlyMap<string, NonNullable<DatabaseError['inValue']>> = new Map([
  ['jsonpath_yyerror', 'jsonpath'],
  ['flattenJsonPathParseItem', 'jsonpath'],
  ['makeItemLikeRegex', 'jsonpath'],
  ['jspConvertRegexFlags', 'jsonpath'],
  ['parseUnicode', 'jsonpath'],
  // A date compared with a time that has a zone.
  ['checkTimezoneIsUsedForCast', 'jsonpath'],
  ['makepol', 'tsquery'],
  ['gettoken_query_standard', 'tsquery'],
  ['gettoken_tsvector', 'tsquery'],
  ['prssyntaxerror', 'tsquery'],
  ['parse_phrase_operator', 'tsquery'],
  ['pushOpStack', 'tsquery'],
  ['regconfigin', 'regconfig'],
  // Up to PostgreSQL 15.
  ['get_ts_config_oid', 'regconfig'],
]);

/** Functions of PostgreSQL that refuse something under a general SQLSTATE. */
const refusers: readonly (readonly [RegExp, Impossible])[] = [
  [/^rewriteTargetView$/, 'view_column'],
  [/^ExecOpenScanRelation$/, 'unfilled'],
  [/^(?:array|record)_(?:eq|cmp)$/, 'comparison'],
  // Of values of regclass, regproc and the like.
  [/^reg\w+in$|^RangeVarGetRelid|^makeRangeVarFromNameList$|^(?:string|text)ToQualifiedNameList$/, 'reference'],
  [
    /^(?:parseTypeString|typeStringToTypeName|DeconstructQualifiedName|LookupExplicitNamespace|get_\w+_oid)$/,
    'reference',
  ],
  [/^RewriteQuery$/, 'rule'],
  [/^CheckCmdReplicaIdentity$/, 'replica_identity'],
  [/^(?:GetUserMapping|GetFdwRoutine)/, 'server'],
  [/^(?:_SPI_execute_plan|init_execution_state)$/, 'stable_write'],
];

/** What the sent statement asks for, rather than a function. */
const ofStatement: ReadonlySet<Impossible> = new Set(['view_column', 'comparison', 'reference']);

/** A parameter has a context without quotes before it, as in `unnamed portal parameter $1 = '...'`; a function's differs. */
const ofParameter = /^[^\n"$]*\$\d+(?: = '.*')?$/;

/** The innermost function of a context. What else stands there is SQL text, with values. */
const innermost =
  /^(?:compilation of )?PL\/pgSQL function ((?:"[^"\n]+"|[\w$.])+(?:\([^()\n]*\))?(?: (?:near )?line \d+)?)|^SQL function "([^"\n]+)"/m;

function refusedBy({ routine = '' }: pg.DatabaseError, ofFunction: boolean): Impossible | null {
  const found = refusers.find(([pattern]) => pattern.test(routine))?.[1] ?? null;
  return found !== null && ofFunction && ofStatement.has(found) ? null : found;
}

/** The server's fields. The driver's error is not kept as the cause: it contains SQL text and values. */
function serverFacts(problem: pg.DatabaseError, step: number): Omit<DatabaseErrorFacts, 'kind'> {
  const ofFunction = problem.where !== undefined && !ofParameter.test(problem.where);
  const found = ofFunction ? innermost.exec(problem.where ?? '') : null;
  return {
    step,
    sqlstate: problem.code ?? null,
    primary: problem.message,
    detail: problem.detail ?? null,
    hint: problem.hint ?? null,
    schema: problem.schema ?? null,
    table: problem.table ?? null,
    column: problem.column ?? null,
    constraint: problem.constraint ?? null,
    dataType: problem.dataType ?? null,
    position: problem.position === undefined ? null : Number(problem.position),
    raised: problem.routine === 'exec_stmt_raise',
    repeatsRow: problem.routine === 'ExecOnConflictUpdate' && problem.code === '21000' && !ofFunction,
    hidesRow: problem.routine === 'ExecWithCheckOptions' && problem.code === '55000' && !ofFunction,
    lacksPrivilege: problem.routine === 'aclcheck_error' && !ofFunction,
    violatesPolicy: problem.routine === 'ExecWithCheckOptions' && problem.code === '42501',
    impossible: refusedBy(problem, ofFunction),
    ofFunction,
    inFunction: (found?.[1] ?? found?.[2] ?? null)?.slice(0, 200) ?? null,
    inValue: valueParsers.get(problem.routine ?? '') ?? null,
  };
}

/** Whether an error means that the database does not answer now. */
export function isAway(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && (error.kind === 'unavailable' || error.kind === 'overloaded');
}

/** Whether a statement named a table or schema that is not there. */
export function isMissingTable({ sqlstate }: DatabaseError): boolean {
  return sqlstate === '42P01' || sqlstate === '3F000';
}

/** Repetitions such as `(a{1,200}){1,200}` are written out before a pattern is used. Such messages are never translated. */
export function isImpossibleRegex({ sqlstate, raised, primary }: DatabaseError): boolean {
  return sqlstate === 'XX000' && !raised && primary.startsWith('invalid memory alloc request size');
}

/** Something was dropped between the planning of a statement and its look at it. Such messages are never translated. */
export function isOfDropped({ sqlstate, raised, primary }: DatabaseError): boolean {
  return sqlstate === 'XX000' && !raised && primary.startsWith('cache lookup failed for');
}
