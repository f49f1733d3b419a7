/** Messages between the processes of `pgreflect serve --workers`. */
import type { MetricSeries } from '../../server/metrics/metrics.ts';

/** Messages to a worker. */
export type ToWorker =
  | { readonly kind: 'reload'; readonly reason: string }
  /** Read the configuration again. */
  | { readonly kind: 'hangup' }
  | { readonly kind: 'introduce' }
  | { readonly kind: 'series_wanted'; readonly id: number }
  | { readonly kind: 'all_series'; readonly id: number; readonly processes: readonly MetricSeries[] };

/** Messages from a worker. */
export type FromWorker =
  | { readonly kind: 'ready'; readonly url: string }
  | { readonly kind: 'series'; readonly id: number; readonly series: MetricSeries }
  | { readonly kind: 'all_series_wanted'; readonly id: number };

/** Questions to another process, which may end before it answers. */
export class Questions<T> {
  readonly #open = new Map<number, (answer: T | null) => void>();
  #last = 0;

  /** @returns Null without an answer within `patienceMs`. */
  ask(send: (id: number) => void, patienceMs: number): Promise<T | null> {
    this.#last += 1;
    const id = this.#last;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.answer(id, null), patienceMs);
      this.#open.set(id, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      send(id);
    });
  }

  /** Delivers the answer to a question. */
  answer(id: number, answer: T | null): void {
    this.#open.get(id)?.(answer);
    this.#open.delete(id);
  }
}
