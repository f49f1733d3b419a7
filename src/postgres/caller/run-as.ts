/**
 * Runs the statements of a request under its caller's role: one flight, one transaction. Also takes a connection,
 * limits the time, cancels, and repeats if that is certainly harmless.
 *
 * Guarantees: nothing runs without the caller's settings; a mutation is sent again only if it was certainly rolled
 * back; a connection is released only when nothing of this request can still reach it. API requests use the database
 * only through this file.
 */
import pg from 'pg';
import { DatabaseError, type DatabaseErrorKind, toDatabaseError } from '../database-error.ts';
import type { ApiPool } from '../pool/pool.ts';
import type { BatchEntry, EntryEnd } from '../pool/queued-request.ts';
import type { FlightFailure, FlightOutcome, FlightResult } from '../wire/flight.ts';
import { lostStatement } from '../wire/prepared-statements.ts';
import {
  type AttemptOptions,
  FlightRequest,
  hasOtherColumns,
  type RunAsOptions,
  type RunRequest,
} from './flight-request.ts';
import { preambleOf } from './preamble.ts';

/**
 * Runs the steps in order in one transaction, each seeing the changes of the one before. Returns the result of each
 * step; without a collector, null if there is no row. An error in any step rolls back all.
 *
 * One network round trip. Repeats a read once after a lost connection, and anything that did not run because user code
 * had changed the connection. Repeats once with unnamed statements if the server lost a named one or its columns
 * changed, and once with deferred triggers in the commit if one of their statements failed; all is rolled back then.
 *
 * @throws DatabaseError Every kind; for `statement`, `step` tells where.
 * @throws PublicError `ROLE_NOT_ALLOWED` for the role names `none` and empty; nothing is sent.
 */
export async function runAs(pool: ApiPool, options: RunAsOptions): Promise<readonly (FlightResult | null)[]> {
  const request: RunRequest = {
    options,
    preamble: preambleOf(options),
    deadline: options.requestTimeoutMs === 0 ? null : performance.now() + options.requestTimeoutMs,
  };
  let named = true;
  let alone = false;
  let inCommit = false;
  let repeatedAfterLoss = false;
  for (;;) {
    const attempt = await send(pool, request, { named, alone, inCommit });
    if (attempt === 'requeued') {
      alone = true;
      continue;
    }
    if (attempt.cancelled === 'size') throw failure('too_large', 1, 'The response exceeds the size limit.');
    if (attempt.cancelled !== null && attempt.outcome.kind === 'done') {
      // Its rows were dropped. A mutation is committed all the same, and reports that.
      if (!options.mutation) throw givenUp(attempt.cancelled, 1, 'the answer was whole');
      if (attempt.outcome.isNoted) throw committedAlone(attempt.cancelled);
    }
    if (attempt.outcome.kind === 'done') return attempt.outcome.results;
    // Nothing ran. The connection will be reset from now on, or closed.
    if (attempt.isRefusedConnection) continue;
    if (named && (lostStatement(attempt.outcome.problem, attempt.names) || hasOtherColumns(attempt.outcome.problem))) {
      named = false;
      continue;
    }
    if (!inCommit && attempt.cancelled === null && failedBelowDeferred(attempt.outcome, options)) {
      inCommit = true;
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
    // Another flight of its batch may have ended the connection.
    alone = true;
  }
}

/**
 * Whether a statement failed that a deferred trigger runs. Before the commit, what that has deferred itself is checked behind each of its
 * statements: a row cannot come before the one that it refers to. In the commit, it can.
 */
function failedBelowDeferred({ problem, step, lost }: FlightFailure, { mutation, steps }: RunAsOptions): boolean {
  if (!mutation || lost || step <= steps.length || !(problem instanceof pg.DatabaseError)) return false;
  // The trigger's own errors have one line; those below have one for each level.
  return problem.code !== '57014' && problem.where?.includes('\n') === true;
}

/** Why an entry was given up. */
type Reason = 'client' | 'timer' | 'size';

interface Attempt {
  readonly outcome: FlightOutcome;
  readonly cancelled: Reason | null;
  readonly names: readonly string[];
  /** The preamble refused the connection because of state left by another request. */
  readonly isRefusedConnection: boolean;
}

/** One flight, in a batch with others if possible. */
async function send(pool: ApiPool, request: RunRequest, how: AttemptOptions): Promise<Attempt | 'requeued'> {
  refuseIfOver(request);
  let watch: FlightWatch | null = null;
  const queued = new FlightRequest(pool, request, { ...how, onOverflow: () => watch?.giveUp('size') });
  const since = performance.now();
  const entry = pool.batches.enqueue(queued, {
    role: request.options.caller.role,
    caller: request.options.queuedAs,
  });
  watch = new FlightWatch(queued, entry, request);
  const end = await entry.end;
  watch.stop();
  const { watch: stopwatch, mutation } = request.options;
  const operation = mutation ? 'TRANSACTION' : 'SELECT';
  stopwatch?.addFlight({ since, sentAt: queued.sentAt, server: pool.server, operation, problem: problemOf(end) });
  switch (end.kind) {
    case 'answered': {
      const { sent: names, isRefusedConnection } = queued;
      return { outcome: end.outcome, cancelled: watch.reason, names, isRefusedConnection };
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

/** Undefined: it was answered. */
function problemOf(end: EntryEnd): unknown {
  if (end.kind === 'answered') return end.outcome.kind === 'failed' ? end.outcome.problem : undefined;
  return end.kind === 'refused' ? end.problem : { code: end.kind };
}

/** Fails before anything is sent, so nothing can have run. */
function refuseIfOver({ options, deadline }: RunRequest): void {
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

/**
 * A commit that waits for a synchronous standby is done when it is cancelled, and answered so, but on this server alone: a failover
 * loses it. The server says that beside its answer.
 */
function committedAlone(reason: Reason): DatabaseError {
  const kind = reason === 'client' ? 'cancelled' : 'timeout';
  const primary = 'The commit was cancelled, and was done on one server at least.';
  return new DatabaseError({ kind, step: 1, primary, maybeCommitted: true });
}

/** Gives up the entry on timeout or disconnect, whichever comes first. */
class FlightWatch {
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #onLeave = () => this.giveUp('client');
  readonly #queued: FlightRequest;
  readonly #entry: BatchEntry;
  readonly #options: RunAsOptions;
  reason: Reason | null = null;

  constructor(queued: FlightRequest, entry: BatchEntry, { options, deadline }: RunRequest) {
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
    // The result of a mutation is always wanted: it may be committed before it can be cancelled.
    if (!this.#options.mutation) this.#queued.memory.isOver = true;
    this.#entry.cancel();
  }
}
