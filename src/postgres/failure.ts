/**
 * What can go wrong with a statement, as one typed error, and the mapping from the driver's errors to it.
 *
 * Classified by step first, SQLSTATE second, text last: a user's value can spell any text, and a user's function can
 * raise any SQLSTATE, but neither can make its error happen in the settings step.
 * Nothing here is meant for clients (execute/answer/public-error.ts).
 */
import pg from 'pg';

/**
 * What our code can do about it.
 *
 * - `stale`: the model is older than the catalog; nothing ran. Load the model, then run again.
 * - `statement`: PostgreSQL refused a statement; everything in the flight is undone.
 * - `unavailable`: no connection, or it was lost (see `maybeCommitted`).
 * - `overloaded`: no connection became free in time; nothing was sent.
 * - `cancelled`: the client went away; everything is undone unless `maybeCommitted`.
 * - `too_large`: what the statement returned is over a limit of ours; everything is undone.
 * - `cut`: it failed, in whatever way, after rows had been written to the response; nothing may be repeated.
 * - `timeout`: a limit passed (57014 or our own timer); everything is undone unless `maybeCommitted`.
 */
export type DatabaseErrorKind =
  | 'stale'
  | 'statement'
  | 'unavailable'
  | 'overloaded'
  | 'cancelled'
  | 'timeout'
  | 'too_large'
  | 'cut';

/** A failure of the database or of the way to it. `message` is the server's primary message, or ours. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
  declare readonly kind: DatabaseErrorKind;
  /** The server's message without detail and hint. */
  declare readonly primary: string;
  /**
   * Where the flight failed: 0 = settings, 1.. = the main step of that number, one more than there are main steps = at
   * the commit (a deferred constraint). For system statements always 1; 0 where nothing was sent.
   */
  readonly step: number = 0;
  /** PostgreSQL's five-character code; null where the server said nothing. */
  readonly sqlstate: string | null = null;
  /** Holds values of rows; not enumerable, so that a logger which copies an error's properties leaves it out. */
  declare readonly detail: string | null;
  readonly hint: string | null = null;
  readonly schema: string | null = null;
  readonly table: string | null = null;
  readonly column: string | null = null;
  readonly constraint: string | null = null;
  /** Of the domain whose constraint was violated; its schema is `schema`. */
  readonly dataType: string | null = null;
  /** Of the mistake in the text that was sent, in characters from 1; null where the server names none. */
  readonly position: number | null = null;
  /** The message was written by the author of a PL/pgSQL function, in `raise`. */
  readonly raised: boolean = false;
  /** What the value that is at fault is written in, though the state is one of mistakes in statements. */
  readonly inValue: 'jsonpath' | 'tsquery' | 'regconfig' | null = null;
  /** True where the connection was lost after a write was sent: nobody knows whether it was committed. */
  readonly maybeCommitted: boolean = false;

  constructor({ cause, detail = null, ...facts }: DatabaseErrorFacts) {
    super(facts.primary, cause === undefined ? undefined : { cause });
    Object.assign(this, facts);
    Object.defineProperty(this, 'detail', { value: detail, enumerable: false });
  }
}

/** All but `kind` and `primary` have a neutral default. */
export type DatabaseErrorFacts = Pick<DatabaseError, 'kind' | 'primary'> &
  Partial<Omit<DatabaseError, keyof Error>> & { readonly cause?: unknown };

/** Start of the text that the freshness check casts to a number, to fail on purpose (freshness-check.ts). */
export const staleMarker = 'pgreflect:stale:';

/** Start of the text that fails on purpose where the connection has temporary tables (connection-reset.ts). */
export const temporaryMarker = 'pgreflect:temporary:';

/** Start of the text that fails on purpose where a user's code has changed the connection for others (connection-reset.ts). */
export const connectionMarker = 'pgreflect:connection:';

/** What is known about the moment an error of the driver arrived. */
interface FailureContext {
  /** As `DatabaseError.step`. */
  readonly step: number;
  /** Why we asked the server to cancel, if we did. */
  readonly cancelled: 'client' | 'timer' | null;
  /** The flight could write, and its Sync was sent. */
  readonly mutation: boolean;
  /** The connection is gone, whatever the server said last. */
  readonly lost: boolean;
}

/**
 * True for SQLSTATEs after which the server closes the connection: class 08, shutdown and crash (57P01-57P03), session
 * ended for idleness (57P05) or for a limit (25P03, 25P04).
 */
function endsConnection(sqlstate: string): boolean {
  return sqlstate.startsWith('08') || /^(57P0[1235]|25P0[34])$/.test(sqlstate);
}

/** The typed error for whatever the driver handed out. Errors that are ours already pass through. */
export function toDatabaseError(problem: unknown, context: FailureContext): DatabaseError {
  if (problem instanceof DatabaseError) return problem;
  if (problem instanceof pg.DatabaseError) {
    const facts = serverFacts(problem, context.step);
    if (context.lost || (!facts.raised && endsConnection(problem.code ?? ''))) {
      return new DatabaseError({ ...facts, kind: lostKind(context), maybeCommitted: context.mutation });
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

/** A connection thrown away after a cancel that nobody answered counts as the cancel, not as an outage. */
function lostKind(context: FailureContext): DatabaseErrorKind {
  if (context.cancelled === 'client') return 'cancelled';
  return context.cancelled === 'timer' ? 'timeout' : 'unavailable';
}

function statementKind(problem: pg.DatabaseError, context: FailureContext): DatabaseErrorKind {
  if (problem.code === '57014') return context.cancelled === 'client' ? 'cancelled' : 'timeout';
  if (context.step === 0 && problem.code === '22P02' && problem.message.includes(staleMarker)) return 'stale';
  return 'statement';
}

/** Functions of PostgreSQL that read such values. They are named where the state and a translated message do not tell. */
const valueParsers: ReadonlyMap<string, NonNullable<DatabaseError['inValue']>> = new Map([
  ['jsonpath_yyerror', 'jsonpath'],
  ['flattenJsonPathParseItem', 'jsonpath'],
  ['makeItemLikeRegex', 'jsonpath'],
  ['jspConvertRegexFlags', 'jsonpath'],
  ['parseUnicode', 'jsonpath'],
  // Of a date compared with a time that has a zone.
  ['checkTimezoneIsUsedForCast', 'jsonpath'],
  ['makepol', 'tsquery'],
  ['gettoken_query_standard', 'tsquery'],
  ['gettoken_tsvector', 'tsquery'],
  ['prssyntaxerror', 'tsquery'],
  ['regconfigin', 'regconfig'],
  // Until PostgreSQL 15.
  ['get_ts_config_oid', 'regconfig'],
]);

/** The server's fields. The driver's error is not kept as the cause: it carries SQL text and values. */
function serverFacts(problem: pg.DatabaseError, step: number): Omit<DatabaseErrorFacts, 'kind'> {
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
    inValue: valueParsers.get(problem.routine ?? '') ?? null,
  };
}

/** Whether an error says that the database does not answer, and may answer later. */
export function isAway(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && (error.kind === 'unavailable' || error.kind === 'overloaded');
}
