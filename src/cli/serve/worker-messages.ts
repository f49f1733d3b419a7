/** Messages between the processes of `pgreflect serve --workers`. */
import cluster from 'node:cluster';
import type { Sources } from '../../config/load-options.ts';
import type { Wanted } from '../../reports.ts';

/** Environment variable with the number of a worker, from 1. */
export const workerVariable = 'PGREFLECT_WORKER_NUMBER';

/** The number; undefined in the process that supervises, and without workers. */
export function workerOf({ environment }: Pick<Sources, 'environment'>): number | undefined {
  const text = cluster.isWorker ? environment[workerVariable] : undefined;
  return text === undefined ? undefined : Number(text);
}

/** Messages to a worker. */
export type ToWorker =
  | { readonly kind: 'reload'; readonly reason: string }
  /** Read the configuration again. */
  | { readonly kind: 'hangup' }
  | { readonly kind: 'introduce' }
  | { readonly kind: 'report_wanted'; readonly id: number; readonly wanted: Wanted }
  | { readonly kind: 'all_reports'; readonly id: number; readonly processes: readonly unknown[] };

/** Messages from a worker. */
export type FromWorker =
  | { readonly kind: 'ready'; readonly url: string }
  | { readonly kind: 'report'; readonly id: number; readonly report: unknown }
  | { readonly kind: 'all_reports_wanted'; readonly id: number; readonly wanted: Wanted };

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
