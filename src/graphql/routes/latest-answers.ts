/**
 * The answers of one operation over a WebSocket, pulled one by one: whoever reads slowly skips answers, and gets the
 * latest.
 */
import type { FormattedExecutionResult } from 'graphql';
import type { LiveEvent, Subscriber } from '../live/live-event.ts';
import type { GroupSignal } from '../live/live-group.ts';
import type { Subscription } from '../live/live-queries.ts';

/** Ends an operation with errors instead of an answer. */
export class AnswerProblem extends Error {
  readonly last: LiveEvent;

  constructor(last: LiveEvent) {
    super('The operation has ended with errors.');
    this.last = last;
  }
}

type Pulled = IteratorResult<FormattedExecutionResult, undefined>;

/** The answers of a subscription. */
export class LatestAnswers implements AsyncIterableIterator<FormattedExecutionResult, undefined> {
  readonly #subscription: Subscription;
  #lastId: string | null = null;
  /** Somebody waits for the next answer. */
  #pull: PromiseWithResolvers<Pulled> | null = null;
  #hasMissed = false;
  #end: AnswerProblem | 'left' | null = null;

  readonly #signal: GroupSignal;
  readonly #forget: () => void;

  /**
   * @param subscribe Makes the subscription of this subscriber.
   * @param signal Of the connection. The protocol's server forgets a subscription whose id is used again meanwhile.
   */
  constructor(subscribe: (subscriber: Subscriber) => Subscription, signal: GroupSignal) {
    this.#signal = signal;
    const leave = () => void this.return();
    this.#forget = () => signal.removeEventListener('abort', leave);
    const lastId = () => this.#lastId;
    this.#subscription = subscribe({
      get lastId() {
        return lastId();
      },
      next: (event) => this.#take(event),
      end: (last) => {
        this.#forget();
        this.#end = new AnswerProblem(last);
        this.#pull?.reject(this.#end);
      },
    });
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave);
  }

  next(): Promise<Pulled> {
    if (this.#end === 'left') return Promise.resolve({ done: true, value: undefined });
    if (this.#end !== null) return Promise.reject(this.#end);
    this.#pull = Promise.withResolvers();
    if (this.#hasMissed) {
      this.#hasMissed = false;
      this.#subscription.refresh();
    }
    return this.#pull.promise;
  }

  return(): Promise<IteratorReturnResult<undefined>> {
    this.#end ??= 'left';
    this.#forget();
    this.#subscription.leave(this.#signal.reason);
    this.#pull?.resolve({ done: true, value: undefined });
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #take(event: LiveEvent): void {
    if (this.#pull === null) {
      this.#hasMissed = true;
      return;
    }
    this.#lastId = event.id;
    this.#pull.resolve({ done: false, value: resultOf(event) });
    this.#pull = null;
  }
}

/** Of each event once, for all who get it. */
const results = new WeakMap<LiveEvent, FormattedExecutionResult>();

/** The answer as a value that is written as it came: numbers keep all of their digits. */
export function resultOf(event: LiveEvent): FormattedExecutionResult {
  const known = results.get(event);
  if (known !== undefined) return known;
  const result = JSON.parse(event.body.toString(), keepNumbers) as FormattedExecutionResult;
  results.set(event, result);
  return result;
}

/** The declarations of JavaScript lack it still. */
const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => unknown };

function keepNumbers(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === 'number' && context?.source !== undefined ? rawJSON(context.source) : value;
}
