/**
 * Runs the statements of one request under its caller's role: one flight, one transaction, and what belongs around it:
 * a connection, a limit of time, cancelling, and repeating where that is certain to be harmless.
 *
 * Promises: nothing runs without the caller's settings; a mutation is never sent twice; a connection is given back only
 * when nothing of this request can reach it any more. The database's only door for API requests.
 */

import type { Leaving } from '../shared/leaving.ts';
import type { Caller } from './caller.ts';
import { sendCancel } from './cancel.ts';
import { DatabaseError, temporaryMarker, toDatabaseError } from './failure.ts';
import { Flight, type FlightOutcome, type FlightStep } from './flight.ts';
import { type Opening, openingOf, openingSteps } from './opening.ts';
import type { ApiConnection, ApiPool } from './pool.ts';

/** One main statement; the first column of its only row is the result. */
export interface Step {
  /** Must not be able to end a transaction: no `call`, `do`, `commit`. */
  readonly text: string;
  /** In the order of `$1`, `$2`, ...; null is SQL null. */
  readonly values: readonly (string | null)[];
}

/** One request to the database: who asks, under which limits, and what to run. */
export interface RunAsOptions {
  readonly caller: Caller;
  /** Value for `set_config('search_path', ...)`: a list of quoted names. */
  readonly searchPath: string;
  /** The role's own settings (`alter role ... set`), without `statement_timeout`. */
  readonly settings: ReadonlyMap<string, string>;
  /** Server-side limit of each statement in milliseconds, the smaller of the role's and the gateway's; 0 = none. */
  readonly timeoutMs: number;
  /** Limit of the whole call in milliseconds, kept by our own timer, which cancels. 0 = none. */
  readonly requestTimeoutMs: number;
  /** What the model was made from; null = run without a check. */
  readonly freshness: { readonly snapshot: string; readonly memberships: string | null } | null;
  readonly readOnly: boolean;
  /** The steps may write: never repeated, and the connection is cleaned afterwards. */
  readonly mutation: boolean;
  /** May be empty: then only the settings run, and with them the freshness check. */
  readonly steps: readonly Step[];
  /** Aborted when the client goes away; cancels the statement. */
  readonly signal: Leaving | null;
}

/**
 * Runs the steps in order in one transaction, each seeing what the one before it wrote, and returns the first column of
 * the only row of each as text, null where there is no row. An error in any of them undoes all.
 *
 * One network round trip. A read is repeated once when its connection is lost; anything is repeated once with unnamed
 * statements when a pooler has lost a named one, because nothing has run then.
 *
 * @throws DatabaseError Every kind; for `statement`, `step` tells where.
 * @throws PublicError `ROLE_NOT_ALLOWED` for the role names `none` and empty; nothing is sent.
 */
export async function runAs(pool: ApiPool, options: RunAsOptions): Promise<readonly (string | null)[]> {
  const request: Request = {
    options,
    opening: openingOf(options),
    deadline: options.requestTimeoutMs === 0 ? null : performance.now() + options.requestTimeoutMs,
  };
  let named = true;
  let repeatedAfterLoss = false;
  for (;;) {
    const attempt = await fly(pool, request, named);
    if (attempt.outcome.kind === 'done') return attempt.outcome.results;
    // Nothing has run, and this connection is cleaned from now on.
    if (attempt.foundTemporaryTables) continue;
    if (named && lostStatement(attempt.outcome.problem, attempt.names)) {
      pool.names.noteLoss();
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
  }
}

interface Request {
  readonly options: RunAsOptions;
  readonly opening: Opening;
  /** On the clock of `performance.now()`. */
  readonly deadline: number | null;
}

interface Attempt {
  readonly outcome: FlightOutcome;
  readonly cancelled: 'client' | 'timer' | null;
  readonly names: readonly string[];
  /** Refused in the settings step, because the session had temporary tables of another request. */
  readonly foundTemporaryTables: boolean;
}

/** One flight on one connection, which is given back before or soon after the result. */
async function fly(pool: ApiPool, request: Request, named: boolean): Promise<Attempt> {
  refuseIfOver(request);
  const connection = await pool.acquire();
  try {
    refuseIfOver(request);
  } catch (problem) {
    pool.release(connection, false);
    throw problem;
  }
  const names = named ? pool.names : null;
  const first = openingSteps(request.opening, connection.dirty || connection.hasTemporaryTables, names);
  const main = mainSteps(pool, request, named);
  const flight = new Flight(connection.prepared, first, main);
  connection.client.query(flight);
  const watch = new FlightWatch(connection, request);
  const outcome = await flight.outcome;
  watch.stop();
  if (outcome.kind === 'done') {
    connection.dirty = request.options.mutation;
    giveBack(pool, connection, false, watch.cancelling);
    return { outcome, cancelled: watch.reason, names: noNames, foundTemporaryTables: false };
  }
  connection.dirty = true;
  const sent = [...first, ...main].map((step) => step.name);
  if (lostStatement(outcome.problem, sent)) connection.prepared.doubtAll();
  const foundTemporaryTables = hasTemporaryTables(outcome);
  if (foundTemporaryTables) connection.hasTemporaryTables = true;
  giveBack(pool, connection, outcome.lost, watch.cancelling);
  return { outcome, cancelled: watch.reason, names: sent, foundTemporaryTables };
}

const noNames: readonly string[] = [];

/** The steps of the request; before each but the first the settings again. */
function mainSteps(pool: ApiPool, { options, opening }: Request, named: boolean): readonly FlightStep[] {
  const { caller, steps } = options;
  const { again } = opening.settings;
  const main: FlightStep[] = [];
  for (const { text, values } of steps) {
    if (main.length > 0) main.push({ ...again, name: named ? pool.names.fixedNameOf(again.text) : '', isGuard: true });
    main.push({ text, values, name: named ? pool.names.nameOf(caller.role, text) : '' });
  }
  return main;
}

/** The first step refused, see settings.ts. A user's value could spell the marker in the other steps only. */
function hasTemporaryTables({ problem, step }: FlightOutcome & { readonly kind: 'failed' }): boolean {
  const { code, message } = problem as { readonly code?: string; readonly message?: string };
  return step === 0 && code === '22P02' && message?.includes(temporaryMarker) === true;
}

/** Before anything is sent, at no risk of having run half. */
function refuseIfOver({ options, deadline }: Request): void {
  if (options.signal?.aborted) {
    throw new DatabaseError({ kind: 'cancelled', primary: 'The client went away before the statement was sent.' });
  }
  if (deadline !== null && performance.now() >= deadline) {
    throw new DatabaseError({ kind: 'timeout', primary: 'The time limit passed before the statement was sent.' });
  }
}

/** How long a server may take to answer after it was asked to cancel, before we close the connection ourselves. */
const answerAfterCancelMs = 5000;

/** Cancels the flight when the time is over or the client goes away, whichever comes first. */
class FlightWatch {
  readonly #client: ApiConnection['client'];
  readonly #signal: Leaving | null;
  readonly #onLeave: (() => void) | null;
  readonly #timer: NodeJS.Timeout | null;
  #patience: NodeJS.Timeout | null = null;
  reason: 'client' | 'timer' | null = null;
  /** The cancel request under way, if any; false = its end is not certain. */
  cancelling: Promise<boolean> | null = null;

  constructor({ client }: ApiConnection, { options, deadline }: Request) {
    this.#client = client;
    this.#signal = options.signal;
    this.#onLeave = options.signal === null ? null : () => this.#cancel('client');
    this.#timer = deadline === null ? null : setTimeout(() => this.#cancel('timer'), deadline - performance.now());
    if (this.#onLeave !== null) this.#signal?.addEventListener('abort', this.#onLeave);
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#patience !== null) clearTimeout(this.#patience);
    if (this.#onLeave !== null) this.#signal?.removeEventListener('abort', this.#onLeave);
  }

  #cancel(why: 'client' | 'timer'): void {
    if (this.reason !== null) return;
    this.reason = why;
    this.cancelling = sendCancel(this.#client);
    this.#patience = setTimeout(() => this.#client.connection.stream.destroy(), answerAfterCancelMs);
  }
}

/** Gives the connection back once no cancel request can hit its next user. */
function giveBack(pool: ApiPool, connection: ApiConnection, lost: boolean, cancelling: Promise<boolean> | null): void {
  if (cancelling === null) {
    pool.release(connection, lost);
    return;
  }
  void cancelling.then((certain) => pool.release(connection, lost || !certain));
}

/**
 * The server does not know a name that we believe prepared (26000), or knows one that we believe new (42P05). The
 * message must name one of ours: a user's function can raise these codes too, after it has done something.
 */
function lostStatement(problem: unknown, names: readonly string[]): boolean {
  const { code, message } = problem as { readonly code?: string; readonly message?: string };
  if (code !== '26000' && code !== '42P05') return false;
  return names.some((name) => name !== '' && message?.includes(name));
}
