/**
 * Runs the statements of one request under its caller's role: one flight, one transaction, and what belongs around it:
 * a connection, a limit of time, cancelling, and repeating where that is certain to be harmless.
 *
 * Promises: nothing runs without the caller's settings; a mutation is sent again only where it is certain to be
 * undone; a connection is given back only when nothing of this request can reach it any more. The only way of API requests to the database.
 */

import pg from 'pg';
import type { DisconnectSignal } from '../../shared/disconnect-signal.ts';
import {
  connectionMarker,
  DatabaseError,
  type DatabaseErrorKind,
  temporaryMarker,
  toDatabaseError,
} from '../failure.ts';
import type { ApiPool } from '../pool/pool.ts';
import type { ApiConnection, BatchEntry, FlightHow, QueuedRequest } from '../pool/queued-request.ts';
import { AnswerSink, type OpenResponse } from '../wire/answer-sink.ts';
import { Flight, type FlightOutcome, type FlightResult, type FlightStep, type RowCollector } from '../wire/flight.ts';
import { MessageReader } from '../wire/message-reader.ts';
import type { FlightCounts } from '../wire/pool-state.ts';
import { lostStatement } from '../wire/prepared-statements.ts';
import type { StatementNames } from '../wire/statement-names.ts';
import type { Caller } from './caller.ts';
import type { Freshness } from './freshness-check.ts';
import { type Opening, openingOf, openingSteps, planningStep, sharedOpeningSteps } from './opening.ts';

/** One main statement. */
export interface Step {
  /** Must not be able to end a transaction: no `call`, `do`, `commit`. */
  readonly text: string;
  /** In the order of `$1`, `$2`, ...; null is SQL null. */
  readonly values: readonly (string | null)[];
  /**
   * Makes what takes its rows, anew each time the statement is sent; absent: the first column of its only row is the
   * result.
   * The statement is cancelled, and fails as `too_large`, once it says `overflow`.
   */
  readonly collect?: (sink: AnswerSink) => RowCollector;
}

/** One request to the database: who asks, under which limits, and what to run. */
export interface RunAsOptions {
  readonly caller: Caller;
  /** Whom the queue for connections takes it for: the user, or the network that a caller without a user comes from. */
  readonly queuedAs: string;
  /** Value for `set_config('search_path', ...)`: a list of quoted names. */
  readonly searchPath: string;
  /** The role's own settings (`alter role ... set`), without `statement_timeout`. */
  readonly settings: ReadonlyMap<string, string>;
  /** Server-side limit of each statement in milliseconds, the smaller of the role's and the gateway's; 0 = none. */
  readonly timeoutMs: number;
  /** Limit of the whole call in milliseconds, kept by our own timer, which cancels. 0 = none. */
  readonly requestTimeoutMs: number;
  /** What the model was made from; null = run without a check. */
  readonly freshness: Freshness | null;
  readonly readOnly: boolean;
  /** The steps may write: never repeated unless undone. */
  readonly mutation: boolean;
  /** The steps may run code of a user (a function, trigger, policy, view): trust nothing on the connection afterwards. */
  readonly runsUserCode: boolean;
  /** May be empty: then only the settings run, and with them the freshness check. */
  readonly steps: readonly Step[];
  /** When steps are planned for their values: never, where a plan for any values has taken long, or always. */
  readonly customPlanning: 'never' | 'once_slow' | 'always';
  /** For rows that are too many to be kept; absent or null: they are kept. */
  readonly openResponse?: OpenResponse | null;
  /** Aborted when the client goes away; cancels the statement. */
  readonly signal: DisconnectSignal | null;
}

/**
 * Runs the steps in order in one transaction, each seeing what the one before it wrote, and returns what was made of the
 * rows of each, for the first column of the only row null where there is no row. An error in any of them undoes all.
 *
 * One network round trip. A read is repeated once when its connection is lost. Anything is repeated where it has not run, because
 * code of a user had changed the connection, and once with unnamed statements when the server does not know a named one, or it has other
 * columns by now: everything is undone then.
 *
 * @throws DatabaseError Every kind; for `statement`, `step` tells where.
 * @throws PublicError `ROLE_NOT_ALLOWED` for the role names `none` and empty; nothing is sent.
 */
export async function runAs(pool: ApiPool, options: RunAsOptions): Promise<readonly (FlightResult | null)[]> {
  const request: Request = {
    options,
    opening: openingOf(options, options.readOnly),
    deadline: options.requestTimeoutMs === 0 ? null : performance.now() + options.requestTimeoutMs,
  };
  let named = true;
  let alone = false;
  let repeatedAfterLoss = false;
  for (;;) {
    const attempt = await send(pool, request, { named, alone });
    if (attempt === 'requeued') {
      alone = true;
      continue;
    }
    if (attempt.isCut) {
      const cause = attempt.outcome.kind === 'failed' ? attempt.outcome.problem : undefined;
      throw failure('cut', 1, 'The response ended early.', cause);
    }
    if (attempt.cancelled === 'size') throw failure('too_large', 1, 'The response exceeds the size limit.');
    // Its rows have been dropped. A mutation is committed all the same, and says so.
    if (attempt.cancelled !== null && attempt.outcome.kind === 'done' && !options.mutation) {
      throw givenUp(attempt.cancelled, 1, 'the answer was whole');
    }
    if (attempt.outcome.kind === 'done') return attempt.outcome.results;
    // Nothing has run, and this connection is cleaned from now on, or thrown away.
    if (attempt.isRefusedConnection) continue;
    if (named && (lostStatement(attempt.outcome.problem, attempt.names) || hasOtherColumns(attempt.outcome.problem))) {
      named = false;
      continue;
    }
    const error = toDatabaseError(attempt.outcome.problem, {
      step: attempt.outcome.step,
      cancelled: attempt.cancelled,
      mutation: options.mutation,
      lost: attempt.outcome.lost,
    });
    if (error.kind !== 'unavailable' || options.mutation || repeatedAfterLoss) throw error;
    repeatedAfterLoss = true;
    // Another one of its batch may be what ended the connection.
    alone = true;
  }
}

interface Request {
  readonly options: RunAsOptions;
  readonly opening: Opening;
  /** On the clock of `performance.now()`. */
  readonly deadline: number | null;
}

/** Why a entry was given up. */
type Reason = 'client' | 'timer' | 'size';

interface Attempt {
  readonly outcome: FlightOutcome;
  readonly cancelled: Reason | null;
  readonly names: readonly string[];
  /** Rows had been written when it failed or was given up. */
  readonly isCut: boolean;
  /** Refused before the settings, because of what another request has left on the connection. */
  readonly isRefusedConnection: boolean;
}

interface AttemptOptions {
  readonly named: boolean;
  /** Shares the connection with nobody. */
  readonly alone: boolean;
}

/** One flight, in a batch with others where it may. */
async function send(pool: ApiPool, request: Request, { named, alone }: AttemptOptions): Promise<Attempt | 'requeued'> {
  refuseIfOver(request);
  let watch: FlightWatch | null = null;
  const queued = new FlightRequest(pool, request, { named, alone, onOverflow: () => watch?.giveUp('size') });
  const entry = pool.batches.enqueue(queued, {
    role: request.options.caller.role,
    caller: request.options.queuedAs,
  });
  watch = new FlightWatch(queued, entry, request);
  const end = await entry.end;
  watch.stop();
  switch (end.kind) {
    case 'answered': {
      const { sent: names, isRefusedConnection } = queued;
      const isCut = queued.sink.hasBegun && (end.outcome.kind === 'failed' || watch.reason !== null);
      return { outcome: end.outcome, cancelled: watch.reason, names, isCut, isRefusedConnection };
    }
    case 'requeued':
      return 'requeued';
    case 'refused':
      if (end.problem instanceof DatabaseError && end.problem.kind === 'overloaded') pool.counts.refused += 1;
      throw end.problem;
    case 'withdrawn':
      throw givenUp(watch.reason);
  }
}

/** A request in a batch. */
class FlightRequest implements QueuedRequest {
  readonly #request: Request;
  readonly #counts: FlightCounts;
  readonly #names: StatementNames | null;
  #first: readonly FlightStep[] = [];
  #main: readonly FlightStep[];
  readonly #plansForValues: boolean;
  readonly statement: string;
  readonly shares: boolean;
  runsUserCode: boolean;
  readonly sink: AnswerSink;
  /** Names of the statements that were sent. */
  sent: readonly string[] = [];
  /** Refused before the settings, because of what another request has left on the connection. */
  isRefusedConnection = false;

  constructor(
    pool: ApiPool,
    request: Request,
    { named, alone, onOverflow }: AttemptOptions & { readonly onOverflow: () => void },
  ) {
    this.#request = request;
    this.#counts = pool.counts;
    this.#names = named ? pool.names : null;
    this.sink = new AnswerSink(request.options.openResponse ?? null, onOverflow);
    this.#main = mainSteps(pool, request, { named, sink: this.sink });
    this.statement = this.#main.length === 1 ? (this.#main[0]?.name ?? '') : '';
    const { mutation, runsUserCode, customPlanning } = request.options;
    this.shares = !alone && !mutation && this.statement !== '';
    this.runsUserCode = runsUserCode;
    this.#plansForValues =
      customPlanning === 'always' ||
      (customPlanning === 'once_slow' && pool.durations.wantsPlanForValues(this.statement));
  }

  makeFlight(connection: ApiConnection, how: FlightHow, onEnd: (outcome: FlightOutcome) => void): Flight {
    const { options, opening } = this.#request;
    const own = how.readOnly ? openingOf(options, true) : opening;
    const { dirty, hasTemporaryTables, shared } = connection;
    // That there is a pooler may have been found out a moment ago.
    const names = this.#names?.enabled ? this.#names : null;
    const state = hasTemporaryTables ? 'temporary' : dirty ? 'dirty' : 'plain';
    const opened = shared === null ? openingSteps(own, state, names) : sharedOpeningSteps(own, shared);
    const first = this.#plansForValues ? [...opened, planningStep(names)] : opened;
    this.#first = first;
    if (names === null) {
      this.#main = this.#main.map((step) => ({ ...step, name: '' }));
      // The connection has not been looked at, or may be another one the next time.
      this.runsUserCode = true;
    }
    this.sink.begin(MessageReader.of(connection.client.connection), how.isAlone && !options.mutation);
    this.#counts.flights += 1;
    return new Flight(connection.prepared, { first, main: this.#main }, onEnd);
  }

  ended(connection: ApiConnection, outcome: FlightOutcome): void {
    this.sink.end();
    if (outcome.kind === 'done') return;
    this.sent = [...this.#first, ...this.#main].map((step) => step.name);
    if (hasOtherColumns(outcome.problem)) connection.prepared.doubtAll();
    const hasTables = says(outcome, temporaryMarker);
    const isChanged = says(outcome, connectionMarker);
    if (hasTables) connection.hasTemporaryTables = true;
    // Somebody has taken our statements away, or put others beside them.
    if (isChanged || lostStatement(outcome.problem, this.sent)) connection.isSpoiled = true;
    this.isRefusedConnection = hasTables || isChanged;
  }
}

/** The steps of the request; before each but the first the settings again. */
function mainSteps(
  pool: ApiPool,
  { options, opening }: Request,
  { named, sink }: { readonly named: boolean; readonly sink: AnswerSink },
): readonly FlightStep[] {
  const { caller, steps } = options;
  const { again } = opening.settings;
  const main: FlightStep[] = [];
  for (const { text, values, collect } of steps) {
    if (main.length > 0) main.push({ ...again, name: named ? pool.names.fixedNameOf(again.text) : '', isGuard: true });
    const name = named ? pool.names.nameOf(caller.role, text) : '';
    main.push(collect === undefined ? { text, values, name } : { text, values, name, collector: collect(sink) });
  }
  return main;
}

/** The opening refused the connection, see connection-reset.ts. A user's value could spell the marker in the other steps only. */
function says({ problem, step }: FlightOutcome & { readonly kind: 'failed' }, marker: string): boolean {
  const { code, message } = problem as { readonly code?: string; readonly message?: string };
  return step === 0 && code === '22P02' && message?.includes(marker) === true;
}

/** Before anything is sent, at no risk of having run half. */
function refuseIfOver({ options, deadline }: Request): void {
  if (options.signal?.aborted) throw givenUp('client');
  if (deadline !== null && performance.now() >= deadline) throw givenUp('timer');
}

function failure(kind: DatabaseErrorKind, step: 0 | 1, primary: string, cause?: unknown): DatabaseError {
  return new DatabaseError({ kind, step, primary, cause });
}

function givenUp(reason: Reason | null, step: 0 | 1 = 0, before = 'the statement ran'): DatabaseError {
  return reason === 'client'
    ? failure('cancelled', step, `The client went away before ${before}.`)
    : failure('timeout', step, `The time limit passed before ${before}.`);
}

/** Gives the entry up when the time is over or the client goes away, whichever comes first. */
class FlightWatch {
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #onLeave = () => this.giveUp('client');
  readonly #queued: FlightRequest;
  readonly #entry: BatchEntry;
  readonly #options: RunAsOptions;
  reason: Reason | null = null;

  constructor(queued: FlightRequest, entry: BatchEntry, { options, deadline }: Request) {
    this.#queued = queued;
    this.#entry = entry;
    this.#options = options;
    if (deadline !== null) {
      this.#timer = setTimeout(() => this.giveUp('timer'), Math.max(deadline - performance.now(), 1));
    }
    options.signal?.addEventListener('abort', this.#onLeave);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#options.signal?.removeEventListener('abort', this.#onLeave);
  }

  giveUp(why: Reason): void {
    if (this.reason !== null) return;
    this.reason = why;
    // What a mutation returns is wanted whenever it comes: it may be committed before it can be cancelled.
    if (!this.#options.mutation) this.#queued.sink.abandon();
    this.#entry.cancel();
  }
}

/**
 * A named statement was prepared before a column changed its type: PostgreSQL refuses to run it until it is prepared anew. Known
 * by the server's routine, because the message is in its language and the code is that of whatever is not supported.
 */
function hasOtherColumns(problem: unknown): boolean {
  return problem instanceof pg.DatabaseError && problem.code === '0A000' && problem.routine === 'RevalidateCachedQuery';
}
