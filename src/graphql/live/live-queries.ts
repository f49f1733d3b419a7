/**
 * Live queries: a subscription is a query that runs again as its caller when its answer may have changed.
 *
 * Each run is the query itself, in a flight of its own under the caller's role: policies, grants, limits and the schema
 * are those of the moment of the run. No statement ever answers several callers.
 */
import { randomUUID } from 'node:crypto';
import type { Config } from '../../config/config.ts';
import type { Replicas } from '../../postgres/pool/replicas.ts';
import type { SystemPool } from '../../postgres/system/run-system.ts';
import { parsePosition } from '../../postgres/wire/wal-position.ts';
import { errorAnswer } from '../../server/error-body.ts';
import type { LiveState } from '../../server/metrics/read-states.ts';
import type { LiveOperationState, LiveTarget } from '../../server/recent/live-schemas.ts';
import { endOfOperation } from '../../server/request-span.ts';
import { loggableName } from '../../server/track-requests.ts';
import { PublicError } from '../../shared/errors.ts';
import { mergeCalls } from '../../shared/merge-calls.ts';
import type { Observe, SubscriptionObservation } from '../../shared/observation.ts';
import type { Tracer } from '../../shared/trace/span.ts';
import type { Executor } from '../execute/executor.ts';
import type { RelationsOfRun } from '../execute/read-relations.ts';
import { joinChanges, type LiveChange } from './change.ts';
import { ChangeWatch } from './change-watch.ts';
import { groupKey, liveCaller } from './live-caller.ts';
import { type EndReason, eventOf, type Subscriber } from './live-event.ts';
import { LiveGroup, type LiveOperation, type RunOnce } from './live-group.ts';
import { describeGroups, isOf } from './live-operations.ts';
import { RelationsRead } from './relations-read.ts';
import { RunLine } from './run-line.ts';
import { type FindSessions, SessionWatch, sessionOf } from './session-watch.ts';

interface LiveOptions {
  readonly config: Pick<
    Config,
    'liveIntervalMs' | 'liveMinIntervalMs' | 'livePollMs' | 'liveClaims' | 'liveHeaders' | 'limits' | 'poolSize'
  >;
  readonly executor: Pick<Executor, 'execute' | 'busyMs'>;
  readonly systemPool: Pick<SystemPool, 'query'>;
  readonly replicas: Pick<Replicas, 'primaryPosition'> | null;
  /** Whether requests wait for a connection. */
  readonly isBusy: () => boolean;
  readonly observe: Observe;
  readonly tracer: Tracer;
}

/** The hold of a subscriber on its subscription. */
export interface Subscription {
  /** The subscriber can take an answer again, and has missed one: it gets the latest. */
  refresh(): void;
  /** It is over, from the side of the subscriber. @param reason Absent: its client has left. */
  leave(reason?: EndReason): void;
}

/** Subscriptions, and the length of their requests, which stay in memory. */
interface Held {
  readonly subscriptions: number;
  readonly length: number;
}

const nothing: Held = { subscriptions: 0, length: 0 };

/** Of the requests of all subscriptions, on average, at most. */
const meanLength = 16 * 1024;

function sum(one: Held, other: Held): Held {
  return { subscriptions: one.subscriptions + other.subscriptions, length: one.length + other.length };
}

const sessionEnded = new PublicError('UNAUTHENTICATED', 'The session has ended. Sign in again.');
const endedByOperator = new PublicError('UNAVAILABLE', 'An operator has ended this subscription.');
const noLongerServed = new PublicError('UNAVAILABLE', 'The gateway is stopping. Subscribe again.');

/** Beyond all positions, so that no replica has reached it. */
const primaryAlone = 2n ** 64n;

/** Asks for the position of now, once for all that ask at the same time. */
function askPosition(replicas: Pick<Replicas, 'primaryPosition'>): () => Promise<bigint> {
  return mergeCalls(async () => {
    const position = await replicas.primaryPosition().catch(() => null);
    return (position === null ? null : parsePosition(position)) ?? primaryAlone;
  });
}

/** All live queries of a process. */
export class LiveQueries {
  readonly #options: LiveOptions;
  readonly #groups = new Map<string, LiveGroup>();
  /** What callers hold. */
  readonly #callers = new Map<string, Held>();
  readonly #line: RunLine;
  readonly #watch: ChangeWatch;
  readonly #reads: RelationsRead<LiveGroup>;
  readonly #running = new Set<LiveGroup>();
  /** The primary's log position; null without replicas. */
  readonly #position: (() => Promise<bigint>) | null;
  /** Groups that have changed and may not run yet. */
  readonly #resting = new Set<LiveGroup>();
  #restTimer: NodeJS.Timeout | null = null;
  #sessions: SessionWatch | null = null;
  #held: Held = nothing;
  #isStopping = false;
  #past = { runs: 0, events: 0 };

  constructor(options: LiveOptions) {
    this.#options = options;
    const { config, executor, systemPool, replicas, isBusy, observe } = options;
    this.#position = replicas === null ? null : askPosition(replicas);
    this.#line = new RunLine({
      poolSize: config.poolSize,
      isBusy,
      busyMs: () => executor.busyMs(),
      run: (group) => this.#run(group),
    });
    this.#reads = new RelationsRead(systemPool);
    this.#watch = new ChangeWatch({
      systemPool,
      everyMs: config.livePollMs,
      onLook: (change) => this.#noteChange(change),
      onReset: (mode) => {
        this.#reads.reset(mode.isWatched);
        // What they read is to be known soon, but runs for each change of the catalog are many.
        for (const group of this.#groups.values())
          group.intervalMs = this.#intervalMs(mode.isExact && (mode.isNew || !group.isAsked));
      },
      hasOtherTables: () => this.#reads.hasChanged(),
      observe,
    });
  }

  /** Subscribes; the first answer follows. @throws PublicError `LIMIT_EXCEEDED`, `UNAVAILABLE` */
  subscribe(operation: LiveOperation, subscriber: Subscriber): Subscription {
    const { queuedAs } = operation.context;
    const { group, length } = this.#groupOf(operation);
    this.#refuseTooMany(this.#callers.get(queuedAs) ?? nothing, length);
    this.#groups.set(group.key, group);
    this.#reads.add(group);
    this.#hold(queuedAs, { subscriptions: 1, length });
    const since = { ms: performance.now(), runs: group.runs };
    let events = 0;
    let isOver = false;
    const leave = (reason: EndReason = 'client') => {
      if (isOver) return;
      isOver = true;
      forgetSession();
      this.#hold(queuedAs, { subscriptions: -1, length: -length });
      group.remove(own);
      if (group.size === 0) this.#forget(group);
      const totalMs = performance.now() - since.ms;
      this.#observeEnd(group, operation, { totalMs, events, runs: group.runs - since.runs, ended: reason });
    };
    const own: Subscriber = {
      get lastId() {
        return subscriber.lastId;
      },
      next: (event) => {
        events += 1;
        subscriber.next(event);
      },
      end: (last, reason) => {
        leave(reason);
        subscriber.end(last, reason);
      },
    };
    const session = sessionOf(operation.caller.claims);
    const signedOut = () => own.end(eventOf(errorAnswer(sessionEnded)), sessionEnded.code);
    const forgetSession = (session === null ? null : this.#sessions?.add(session, signedOut)) ?? (() => {});
    const refresh = () => {
      if (isOver) return;
      group.add(own);
      this.#changed(group);
    };
    this.#watch.start();
    refresh();
    return { refresh, leave };
  }

  /** From now on, a subscription ends with the session of its token. */
  watchSessions(find: FindSessions): void {
    this.#sessions = new SessionWatch(find);
  }

  /** What operators see: the live queries by operation and role. */
  operations(): readonly LiveOperationState[] {
    return describeGroups(this.#groups.values(), (group) => this.#isExact(group));
  }

  /** Ends subscriptions. @returns How many. */
  end(target: LiveTarget): number {
    const groups = [...this.#groups.values()].filter((group) => isOf(target, group));
    const count = groups.reduce((total, { size }) => total + size, 0);
    const { code, body } = errorAnswer(endedByOperator);
    for (const group of groups) group.endAll({ body, codes: [code] });
    return count;
  }

  state(): LiveState {
    const groups = [...this.#groups.values()];
    const oldest = groups.reduce((least, { changedAt }) => Math.min(least, changedAt ?? least), performance.now());
    return {
      subscriptions: this.#held.subscriptions,
      groups: groups.length,
      exactGroups: groups.filter((group) => this.#isExact(group)).length,
      isExact: groups.length > 0 && this.#watch.mode.isExact,
      runs: groups.reduce((sum, { runs }) => sum + runs, this.#past.runs),
      events: groups.reduce((sum, { events }) => sum + events, this.#past.events),
      lagMs: performance.now() - oldest,
    };
  }

  /** The schema is another one: everything runs again, and what it reads is looked up again. */
  schemaChanged(): void {
    this.#watch.lookAgain();
  }

  /** Nothing runs any more, and nobody may subscribe. Those who have are told by their connections. */
  stop(): void {
    this.#isStopping = true;
    this.#watch.stop();
  }

  #hold(queuedAs: string, more: Held): void {
    const held = sum(this.#callers.get(queuedAs) ?? nothing, more);
    if (held.subscriptions === 0) this.#callers.delete(queuedAs);
    else this.#callers.set(queuedAs, held);
    this.#held = sum(this.#held, more);
  }

  #observeEnd(
    { document }: LiveGroup,
    { caller, context }: LiveOperation,
    facts: Pick<SubscriptionObservation, 'totalMs' | 'events' | 'runs' | 'ended'>,
  ): void {
    const operationName = loggableName(document.operationName);
    const { documentHash } = document;
    const { requestId, span = null } = context;
    this.#options.observe({
      kind: 'subscription',
      requestId,
      span,
      role: caller.role,
      operationName,
      documentHash,
      ...facts,
    });
  }

  #refuseTooMany(held: Held, length: number): void {
    const { maxLive, maxLivePerCaller, maxBodyBytes } = this.#options.config.limits;
    if (this.#isStopping) throw noLongerServed;
    const isFull = this.#held.subscriptions > 0 && this.#held.length + length > maxLive * meanLength;
    if (this.#held.subscriptions >= maxLive || isFull) {
      throw new PublicError('UNAVAILABLE', 'The gateway has all the subscriptions that it may have (--max-live).');
    }
    if (held.subscriptions >= maxLivePerCaller) {
      const message = `A caller may have ${maxLivePerCaller} subscriptions at a time.`;
      throw new PublicError('LIMIT_EXCEEDED', message, { extensions: { limit: 'max-live-per-caller' } });
    }
    if (held.subscriptions > 0 && held.length + length > maxBodyBytes) {
      const message = `The subscriptions of a caller may have ${maxBodyBytes} bytes together.`;
      throw new PublicError('LIMIT_EXCEEDED', message, { extensions: { limit: 'max-body-bytes' } });
    }
  }

  /** The one that there is, or a new one. */
  #groupOf(operation: LiveOperation): { readonly group: LiveGroup; readonly length: number } {
    const { config } = this.#options;
    const caller = liveCaller(operation.caller, config);
    const { showHints, unlimited, anyDocument } = operation.context;
    const { key, length } = groupKey(caller, operation.request, `${showHints} ${unlimited} ${anyDocument}`);
    return { group: this.#groups.get(key) ?? new LiveGroup(key, { ...operation, caller }), length };
  }

  #forget(group: LiveGroup): void {
    if (this.#groups.get(group.key) !== group) return;
    this.#groups.delete(group.key);
    this.#resting.delete(group);
    this.#line.remove(group);
    this.#reads.forget(group);
    this.#past = { runs: this.#past.runs + group.runs, events: this.#past.events + group.events };
    if (this.#groups.size === 0) this.#watch.stop();
  }

  #isExact(group: LiveGroup): boolean {
    return this.#reads.of(group).kind === 'exact';
  }

  #intervalMs(isExact: boolean): number {
    const { liveIntervalMs, liveMinIntervalMs } = this.#options.config;
    return isExact ? Math.min(liveMinIntervalMs, liveIntervalMs) : liveIntervalMs;
  }

  #noteChange(change: LiveChange): void {
    // What they read is known when they have run.
    for (const group of this.#running) group.missed = joinChanges(group.missed ?? change, change);
    for (const reads of this.#reads.all) {
      if (!reads.isTouchedBy(change)) continue;
      for (const group of reads.groups) if (!group.isRunning) this.#changed(group);
    }
  }

  #changed(group: LiveGroup): void {
    group.changedAt ??= performance.now();
    this.#offer(group);
  }

  /** Puts it into the line, now or when it may run. */
  #offer(group: LiveGroup): void {
    if (group.changedAt === null || group.isRunning || group.size === 0) return;
    if (group.readyAt <= performance.now()) {
      this.#resting.delete(group);
      this.#line.add(group);
    } else {
      this.#resting.add(group);
      this.#restTimer ??= setTimeout(() => this.#wake(), this.#options.config.livePollMs).unref();
    }
  }

  #wake(): void {
    this.#restTimer = null;
    for (const group of [...this.#resting]) this.#offer(group);
  }

  async #run(group: LiveGroup): Promise<void> {
    this.#running.add(group);
    try {
      await group.run(this.#once);
    } catch (error) {
      // A fault of ours; the next change may be answered.
      const { requestId, span } = group.operation.context;
      this.#options.observe({ kind: 'masked_error', id: randomUUID(), requestId, span, error });
    }
    this.#running.delete(group);
    const reads = this.#reads.of(group);
    // One that was not asked what it has read is asked soon.
    group.intervalMs = this.#intervalMs(reads.kind === 'exact' || (this.#watch.mode.isExact && !group.isAsked));
    if (group.missed !== null && reads.isTouchedBy(group.missed)) group.changedAt ??= performance.now();
    if (this.#groups.get(group.key) !== group) this.#reads.forget(group);
    this.#offer(group);
  }

  readonly #once: RunOnce = async (group, signal) => {
    const { caller, request, context } = group.operation;
    const { executor, tracer } = this.#options;
    group.isAsked = this.#watch.mode.isExact;
    // Where each change of the schema is recorded, and makes everything run again.
    const isFixed = this.#watch.mode.isWatched && this.#reads.of(group).isFixed && !group.callsRoutines;
    const reads: RelationsOfRun | null = group.isAsked && !isFixed ? { relations: null, callsRoutines: true } : null;
    // Of now, and so behind the run before, whichever replica that was on.
    const minWalPosition = this.#position === null ? null : await this.#position();
    // A trace of its own: a subscription may last for days.
    const span = tracer.begin('live query', 'internal', { link: context.span?.outgoing ?? null });
    const run = { ...context, span, signal, isLive: true, minWalPosition, reads };
    const answer = await executor.execute(caller, request, run);
    span.end(endOfOperation(answer));
    // Before anybody has the answer: the next change must find the group.
    if (reads !== null || !group.isAsked) await this.#reads.note(group, reads?.relations ?? null);
    group.callsRoutines = reads?.callsRoutines ?? group.callsRoutines;
    return answer;
  };
}
