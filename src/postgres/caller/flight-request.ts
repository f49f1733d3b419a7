/** The flight of one request: its statements, and what its end tells of the connection. */
import pg from 'pg';
import type { DisconnectSignal } from '../../shared/disconnect-signal.ts';
import type { Stopwatch } from '../../shared/stopwatch.ts';
import { connectionSentinel, temporarySentinel } from '../database-error.ts';
import type { ApiPool } from '../pool/pool.ts';
import type { ApiConnection, FlightHow, QueuedRequest } from '../pool/queued-request.ts';
import { AnswerMemory } from '../wire/answer-memory.ts';
import { Flight, type FlightOutcome, type FlightStep, type RowCollector } from '../wire/flight.ts';
import type { FlightCounts } from '../wire/pool-state.ts';
import { lostStatement } from '../wire/prepared-statements.ts';
import type { StatementNames } from '../wire/statement-names.ts';
import { connectionStateOf } from './connection-reset.ts';
import { preRequestStep } from './pre-request.ts';
import {
  lastOfWrites,
  type Preamble,
  planningStep,
  preambleSteps,
  sharedPreambleSteps,
  traceStep,
} from './preamble.ts';
import { type SettingsInput, textsOf, valuesAgain } from './settings.ts';

/** One main statement. */
export interface Step {
  /** Must not be able to end a transaction: no `call`, `do`, `commit`. */
  readonly text: string;
  /** In the order of `$1`, `$2`, ...; null is SQL null. */
  readonly values: readonly (string | null)[];
  /**
   * Makes the collector of its rows, a new one for each attempt; absent: the result is the first column of the only
   * row. If the collector calls `overflow`, the statement is cancelled and fails as `too_large`.
   */
  readonly collect?: (memory: AnswerMemory) => RowCollector;
  /** A last step that is the same for all callers: it needs none of their settings, and every name is qualified. */
  readonly isOurs?: true;
}

/** One request to the database: caller, limits, and statements. */
export interface RunAsOptions extends SettingsInput {
  readonly readOnly: boolean;
  /** The key in the connection queue: the user, or the network of a caller without a user. */
  readonly queuedAs: string;
  /** Limit of the whole call in milliseconds; our own timer cancels. 0 = none. */
  readonly requestTimeoutMs: number;
  /** The steps may write: repeated only if rolled back. */
  readonly mutation: boolean;
  /** The steps may run user code (a function, trigger, policy, view), which may leave anything on the connection. */
  readonly runsUserCode: boolean;
  /** May be empty: then only the settings run, including the freshness check. */
  readonly steps: readonly Step[];
  /** It is so light that it may share a connection and a write with others: a single step, which writes nothing. */
  readonly isLight: boolean;
  /** When steps are planned for their values: never, where a plan for any values has taken long, or always. */
  readonly customPlanning: 'never' | 'once_slow' | 'always';
  /** Aborted on disconnect; cancels the statement. */
  readonly signal: DisconnectSignal | null;
  /** For the database's log; null: nothing. */
  readonly traceId?: string | null;
  /** Measures it; absent: nobody wants to know. */
  readonly watch?: Stopwatch;
}

/** A request with its opening and its end. */
export interface RunRequest {
  readonly options: RunAsOptions;
  readonly preamble: Preamble;
  /** In terms of `performance.now()`. */
  readonly deadline: number | null;
}

/** How an attempt is sent. */
export interface AttemptOptions {
  readonly named: boolean;
  /** Does not share the connection. */
  readonly alone: boolean;
  /** What writes have deferred runs in the commit, without a time limit. */
  readonly inCommit: boolean;
}

/** A request in a batch. */
export class FlightRequest implements QueuedRequest {
  readonly #request: RunRequest;
  readonly #counts: FlightCounts;
  readonly #names: StatementNames | null;
  #first: readonly FlightStep[] = [];
  #main: readonly FlightStep[];
  readonly #plansForValues: boolean;
  readonly statement: string;
  readonly shares: boolean;
  runsUserCode: boolean;
  readonly writes: boolean;
  readonly memory: AnswerMemory;
  sent: readonly string[] = [];
  /** The preamble refused the connection because of state left by another request. */
  isRefusedConnection = false;
  /** When it had a connection, in terms of `performance.now()`; null: it never had. */
  sentAt: number | null = null;

  constructor(
    pool: ApiPool,
    request: RunRequest,
    { named, alone, inCommit, onOverflow }: AttemptOptions & { readonly onOverflow: () => void },
  ) {
    this.#request = request;
    this.#counts = pool.counts;
    this.#names = named ? pool.names : null;
    const { signal } = request.options;
    this.memory = new AnswerMemory(onOverflow, (bytes) => signal?.hold?.(bytes) !== false);
    const main = mainSteps(pool, request, { named, memory: this.memory });
    const name = main.at(request.options.steps.at(-1)?.isOurs === true ? -2 : -1)?.name ?? '';
    const { isLight, mutation, runsUserCode, customPlanning, preRequest } = request.options;
    this.#main = mutation && !inCommit ? [...main, lastOfWrites(this.#names)] : main;
    this.statement = customPlanning === 'once_slow' ? name : '';
    this.shares = isLight && !alone && !mutation && preRequest === null && name !== '';
    this.runsUserCode = runsUserCode || preRequest !== null;
    this.writes = mutation;
    this.#plansForValues =
      customPlanning === 'always' || (this.statement !== '' && pool.slowPlans.wantsPlanForValues(this.statement));
  }

  makeFlight(connection: ApiConnection, { readOnly }: FlightHow, onEnd: (outcome: FlightOutcome) => void): Flight {
    const { options, preamble } = this.#request;
    const isReadOnly = readOnly || options.readOnly;
    const { shared } = connection;
    // A pooler may have been detected meanwhile.
    const names = this.#names?.enabled ? this.#names : null;
    const opened =
      shared === null
        ? preambleSteps(preamble, { state: connectionStateOf(connection), readOnly: isReadOnly, names })
        : sharedPreambleSteps(preamble, { readOnly: isReadOnly, defaults: shared });
    const { traceId } = options;
    const traced = traceId == null ? opened : [...opened, traceStep(traceId, names)];
    const first = this.#plansForValues ? [...traced, planningStep(names)] : traced;
    this.#first = first;
    if (names === null) {
      this.#main = this.#main.map((step) => ({ ...step, name: '' }));
      // The state of the connection is unknown, or the next flight may get a different one.
      this.runsUserCode = true;
    }
    this.#counts.flights += 1;
    this.sentAt = performance.now();
    const steps = { first, main: this.#main, writes: this.writes };
    return new Flight(connection.prepared, steps, onEnd, this.memory.hold);
  }

  ended(connection: ApiConnection, outcome: FlightOutcome): void {
    if (outcome.kind === 'done') return;
    this.sent = [...this.#first, ...this.#main].map((step) => step.name);
    if (hasOtherColumns(outcome.problem)) connection.prepared.doubtAll();
    const hasTables = hasSentinel(outcome, temporarySentinel);
    const isChanged = hasSentinel(outcome, connectionSentinel);
    if (hasTables) connection.hasTemporaryTables = true;
    // User code removed our prepared statements, or added others.
    if (isChanged || lostStatement(outcome.problem, this.sent)) connection.isUnusable = true;
    this.isRefusedConnection = hasTables || isChanged;
  }
}

/** The steps of the request, with the settings again before each one that another precedes. */
function mainSteps(
  pool: ApiPool,
  { options, preamble }: RunRequest,
  { named, memory }: { readonly named: boolean; readonly memory: AnswerMemory },
): readonly FlightStep[] {
  const { caller, steps, preRequest, readOnly } = options;
  const { settings } = preamble;
  const { again } = textsOf(settings, readOnly);
  const main: FlightStep[] = [];
  if (preRequest !== null) {
    const { text, values } = preRequestStep(preRequest, caller);
    main.push({ text, values, name: named ? pool.names.nameOf(caller.role, text) : '', isPreRequest: true });
  }
  for (const { text, values, collect, isOurs } of steps) {
    if (isOurs === true) {
      main.push({ text, values, name: named ? pool.names.fixedNameOf(text) : '' });
      continue;
    }
    if (main.length > 0) {
      const own = settings.values.slice(0, valuesAgain);
      main.push({ text: again, values: own, name: named ? pool.names.fixedNameOf(again) : '', isGuard: true });
    }
    const name = named ? pool.names.nameOf(caller.role, text) : '';
    main.push(collect === undefined ? { text, values, name } : { text, values, name, collector: collect(memory) });
  }
  return main;
}

/** Whether the preamble (step 0) refused the connection: in other steps, a value could contain the sentinel. */
function hasSentinel({ problem, step }: FlightOutcome & { readonly kind: 'failed' }, sentinel: string): boolean {
  const { code, message } = problem as { readonly code?: string; readonly message?: string };
  return step === 0 && code === '22P02' && message?.includes(sentinel) === true;
}

/**
 * PostgreSQL refuses a named statement whose result columns have changed, until it is prepared again. Recognized by the
 * server's routine, because the message is translated and the code is the general one for unsupported features.
 */
export function hasOtherColumns(problem: unknown): boolean {
  return problem instanceof pg.DatabaseError && problem.code === '0A000' && problem.routine === 'RevalidateCachedQuery';
}
