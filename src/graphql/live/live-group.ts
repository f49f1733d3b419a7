/**
 * Subscriptions with the same document, variables and caller: they share their runs, one at a time.
 *
 * Never an older state after a newer one, because a run begins after the one before has ended. A subscriber gets the
 * answer of a run that began after it came.
 */
import type { Caller } from '../../postgres/caller/caller.ts';
import type { Code } from '../../shared/errors.ts';
import type { Answer, GraphQLRequest, RequestContext } from '../execute/executor.ts';
import type { LiveChange } from './change.ts';
import { type EndReason, eventOf, type Subscriber } from './live-event.ts';

/** What a group runs. */
export interface LiveOperation {
  readonly caller: Caller;
  readonly request: GraphQLRequest;
  readonly context: Pick<RequestContext, 'requestId' | 'span' | 'queuedAs' | 'showHints' | 'unlimited' | 'anyDocument'>;
}

/** Runs an operation once. Rejects only for errors of ours. */
export type RunOnce = (group: LiveGroup, signal: GroupSignal) => Promise<Answer>;

/** Errors that pass by themselves: whoever has an answer keeps it, and a later run brings the next. */
const passing: ReadonlySet<Code> = new Set(['UNAVAILABLE', 'TIMEOUT', 'CONFLICT']);
/** Of an answer that was executed: the caller may no longer ask for this. */
const final: ReadonlySet<Code> = new Set([
  'PERMISSION_DENIED',
  'ROLE_NOT_ALLOWED',
  'UNAUTHENTICATED',
  'LIMIT_EXCEEDED',
]);

/** The pause after a run that could not be answered, in milliseconds. */
const retryMs = 1000;
/** A run takes at most this part of the time. */
const maxShare = 1 / 5;

/** Tells a run that nobody waits for it any more. */
export class GroupSignal {
  aborted = false;
  reason: EndReason = 'client';
  readonly #listeners = new Set<() => void>();

  abort(reason: EndReason = 'client'): void {
    if (!this.aborted) this.reason = reason;
    this.aborted = true;
    for (const listener of [...this.#listeners]) listener();
    this.#listeners.clear();
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.delete(listener);
  }
}

/** A group. */
export class LiveGroup {
  readonly key: string;
  readonly operation: LiveOperation;
  readonly #subscribers = new Set<Subscriber>();
  /** Those without an answer of this group. */
  readonly #newcomers = new Set<Subscriber>();
  readonly #signal = new GroupSignal();
  #lastId: string | null = null;
  /** Something may have changed since the last run began, at this time in terms of `performance.now()`; null: nothing. */
  changedAt: number | null = null;
  isRunning = false;
  /** The last run was asked what it reads, unless that is known. */
  isAsked = false;
  /** The last run that was asked has called functions, which may read something else the next time. */
  callsRoutines = true;
  /** What has changed during this run, or since the last one began; null: nothing. */
  missed: LiveChange | null = null;
  /** Between the beginnings of two runs. */
  intervalMs = 0;
  /** The last run. */
  #startedAt = Number.NEGATIVE_INFINITY;
  #restedAt = 0;
  /** After a run that could not be answered, whoever waits. */
  #heldUntil = 0;
  /** How long the last run took, in milliseconds. */
  tookMs = 0;
  /** It runs alone, because it took long. */
  isSlow = false;
  runs = 0;
  events = 0;
  /** What the last answer says of its document. */
  document: Pick<Answer, 'operationName' | 'documentHash'> = { operationName: null, documentHash: null };

  constructor(key: string, operation: LiveOperation) {
    this.key = key;
    this.operation = operation;
  }

  get size(): number {
    return this.#subscribers.size;
  }

  /** When it may run next, in terms of `performance.now()`: at once where somebody has no answer yet. */
  get readyAt(): number {
    const restedAt = Math.max(this.#startedAt + this.intervalMs, this.#restedAt);
    return Math.max(this.#heldUntil, this.#newcomers.size > 0 ? 0 : restedAt);
  }

  add(subscriber: Subscriber): void {
    this.#subscribers.add(subscriber);
    this.#newcomers.add(subscriber);
  }

  remove(subscriber: Subscriber): void {
    this.#subscribers.delete(subscriber);
    this.#newcomers.delete(subscriber);
    if (this.#subscribers.size === 0) this.#signal.abort();
  }

  /** Ends it for all. */
  endAll(answer: Pick<Answer, 'body' | 'codes'>): void {
    const last = eventOf(answer);
    for (const subscriber of [...this.#subscribers]) {
      this.remove(subscriber);
      subscriber.end(last, reasonOf(answer));
    }
  }

  /** Runs once, and passes the answer on if it is another one. */
  async run(once: RunOnce): Promise<void> {
    this.isRunning = true;
    this.changedAt = null;
    this.missed = null;
    this.runs += 1;
    const newcomers = new Set(this.#newcomers);
    const startedAt = performance.now();
    let isAway = false;
    try {
      const answer = await once(this, this.#signal);
      isAway = answer.codes.includes('UNAVAILABLE');
      this.#deliver(answer, newcomers);
    } finally {
      const endedAt = performance.now();
      this.isRunning = false;
      // The query took nothing of a database that was away, and needs no rest for that.
      this.tookMs = isAway ? 0 : endedAt - startedAt;
      this.#startedAt = startedAt;
      this.#restedAt = endedAt + this.tookMs * (1 / maxShare - 1);
      if (this.#newcomers.size > 0) this.changedAt ??= endedAt;
    }
  }

  #deliver(answer: Answer, newcomers: ReadonlySet<Subscriber>): void {
    const { codes, executed } = answer;
    if (executed) this.document = answer;
    const passes = codes.some((code) => passing.has(code));
    if (!passes && (!executed || codes.some((code) => final.has(code)))) {
      this.endAll(answer);
      return;
    }
    if (passes) {
      const now = performance.now();
      this.changedAt ??= now;
      this.#heldUntil = now + retryMs;
      // The query itself would have answered that.
      if (codes.includes('TIMEOUT')) for (const subscriber of newcomers) this.#end(subscriber, answer);
      return;
    }
    const event = eventOf(answer);
    const receivers = event.id === this.#lastId ? newcomers : this.#subscribers;
    this.#lastId = event.id;
    for (const subscriber of [...receivers]) {
      const isNew = this.#newcomers.has(subscriber);
      // Whoever came during the run gets the answer of the next one: a change may lie between.
      if (isNew && !newcomers.has(subscriber)) continue;
      if (!this.#subscribers.has(subscriber)) continue;
      this.#newcomers.delete(subscriber);
      if (isNew && subscriber.lastId === event.id) continue;
      this.events += 1;
      subscriber.next(event);
    }
  }

  #end(subscriber: Subscriber, answer: Answer): void {
    if (!this.#subscribers.has(subscriber)) return;
    this.remove(subscriber);
    subscriber.end(eventOf(answer), reasonOf(answer));
  }
}

function reasonOf({ codes }: Pick<Answer, 'codes'>): Code {
  return codes[0] ?? 'INTERNAL';
}
